"""IMPARA beside a plain loop and beside gec-metrics 0.1.1, in one run: same checkpoints, same scores, interleaved.

    cd ../shared/data/seeda/outputs/subset
    python BENCHMARKS/impara.py --source INPUT.txt *.txt

Both networks are made here from the bundled encoder (the quality estimator with a random head), as folders that every
side loads. Each round scores all systems, starting without any remembered result. Printed are the medians over the
rounds of wall-clock and of processor time, and their ratios; on a busy machine the processor time is the one to read.
gec-metrics takes part if it is installed: `pip install gec-metrics==0.1.1`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers
from timing import interleaved, print_medians

from geceval.core.inputs import read_lines
from geceval.core.options import RunTime
from geceval.models import encoder
from geceval.models.checkpoints import ASSETS, quiet
from geceval.scorers.impara import Impara, Settings

THRESHOLD = 0.9
Scores = list[list[float]]


def make_checkpoints(folder: Path) -> tuple[str, str]:
    """A quality estimator and a similarity estimator in the form of published checkpoints."""
    torch.manual_seed(0)
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(ASSETS / "encoder")
        similarity = transformers.AutoModel.from_pretrained(ASSETS / "encoder").float()
        quality = transformers.AutoModelForSequenceClassification.from_pretrained(
            ASSETS / "encoder", num_labels=1
        ).float()
        quality.classifier.weight.data.normal_(0, 0.5)
        for name, model in (("quality", quality), ("similarity", similarity)):
            model.save_pretrained(folder / name)
            tokenizer.save_pretrained(folder / name)
    return str(folder / "quality"), str(folder / "similarity")


def ours(quality: str, similarity: str) -> Callable[[list[str], list[list[str]]], Scores]:
    scorer = Impara(Settings(model=quality, se_model=similarity, threshold=THRESHOLD), RunTime(device="cpu"))
    scorer.load()

    def score(sources: list[str], systems: list[list[str]]) -> Scores:
        for network in (scorer._loaded.quality, scorer._loaded.similarity):
            network._recent = encoder.Recent(encoder.KEPT_TEXTS)
        return [scorer.score(sources, predictions).scores for predictions in systems]

    return score


def plain_loop(quality: str, similarity: str) -> Callable[[list[str], list[list[str]]], Scores]:
    with quiet():
        estimator = transformers.AutoModelForSequenceClassification.from_pretrained(quality).eval()
        network = transformers.AutoModel.from_pretrained(similarity).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(quality)

    def encode(texts: list[str]) -> dict[str, torch.Tensor]:
        return dict(tokenizer(texts, padding="max_length", max_length=128, truncation=True, return_tensors="pt"))

    def embed(texts: list[str]) -> torch.Tensor:
        batch = encode(texts)
        mask = batch["attention_mask"].unsqueeze(-1)
        return (network(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)

    @torch.inference_mode()
    def score(sources: list[str], systems: list[list[str]]) -> Scores:
        found = []
        for predictions in systems:
            scores: list[float] = []
            for start in range(0, len(sources), 32):
                rows = slice(start, start + 32)
                values = torch.sigmoid(estimator(**encode(predictions[rows])).logits[:, 0])
                similar = torch.cosine_similarity(embed(sources[rows]), embed(predictions[rows]))
                scores += torch.where(similar > THRESHOLD, values, 0.0).tolist()
            found.append(scores)
        return found

    return score


def gec_metrics(quality: str, similarity: str) -> Callable[[list[str], list[list[str]]], Scores]:
    from gec_metrics.metrics import IMPARA

    settings = IMPARA.Config(model_qe=quality, model_se=similarity, threshold=THRESHOLD, no_cuda=True)
    metric = IMPARA(settings)

    def score(sources: list[str], systems: list[list[str]]) -> Scores:
        return [metric.score_sentence(sources=sources, hypotheses=predictions) for predictions in systems]

    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("systems", type=Path, nargs="+", help="outputs of the systems, one sentence a line")
    parser.add_argument("--source", type=Path, required=True, help="what the systems corrected")
    parser.add_argument("--sentences", type=int, help="take only so many sentences")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    sources = read_lines(arguments.source)[: arguments.sentences]
    systems = [read_lines(path)[: arguments.sentences] for path in arguments.systems]
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = make_checkpoints(Path(folder))
        makers = {"geceval": ours, "plain loop": plain_loop, "gec-metrics": gec_metrics}
        sides: dict[str, Callable[[], Scores]] = {}
        for name, make in makers.items():
            try:
                side = make(*checkpoints)
            except ImportError as error:
                print(f"{name}: left out ({error})")
                continue
            sides[name] = lambda side=side: side(sources, systems)
    scores = {name: np.array(run()) for name, run in sides.items()}  # also the warm-up
    for name, found in scores.items():
        worst = np.abs(found - scores["geceval"]).max()
        print(f"{name}: largest difference of a score {worst:.1e}")
        if worst > 1e-5:
            raise SystemExit(f"{name} gives other scores; times would not be comparable")
    size = f"{len(systems)} systems, {len(sources)} sentences"
    print(f"{size}, {torch.get_num_threads()} threads, {arguments.rounds} rounds")
    print_medians(interleaved(sides, arguments.rounds))


if __name__ == "__main__":
    main()
