"""IMPARA: what a run depends on, its loss, and training from parallel text to a checkpoint with its card."""

import contextlib
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from safetensors.torch import load_file, save_file

from geceval.core.errors import InputError
from geceval.core.files import read_json
from geceval.core.options import Moderate
from geceval.core.progress import bar
from geceval.learning.cards import impara_card
from geceval.learning.loop import Collator, Objective
from geceval.learning.network import head_pooling, portable_name, save
from geceval.learning.ranked_pairs import RATED_PAIRS, PairJob, RankedPair, read_pairs, read_rated_pairs
from geceval.learning.recipe import Recipe
from geceval.learning.runs import Material, train_network
from geceval.models.checkpoints import BUNDLED, CheckpointError, is_bundled, resolve
from geceval.models.encoder import Encoder
from geceval.models.pooling import logits
from geceval.scorers.impara import THRESHOLD

logger = logging.getLogger("geceval")

# The recipe of the bundled IMPARA; its base, a sentence encoder, learns little at the paper's learning rate.
ADAPTER_RECIPE = Recipe(
    pooler="identity", head_deviation=0.2, lora_rank=16, learning_rate=1e-3, schedule="linear", warmup=0.06, epochs=3
)


@dataclass(frozen=True, slots=True)
class Job(PairJob):
    """Everything that a training run of IMPARA depends on."""

    parallel_only: bool = False
    threshold: Moderate | None = None
    log_odds: bool = False


def suited_recipe(base: str) -> tuple[Recipe, bool]:
    """The recipe for a base, and whether to scale the finished logit to log-odds."""
    checkpoint = resolve(base)
    if is_bundled(base) and checkpoint.base is None:
        return dataclasses.replace(ADAPTER_RECIPE, base=base), True
    return Recipe(base=base), False


class PairModel(torch.nn.Module):
    """A sequence classifier with one output, applied to pairs of texts."""

    def __init__(self, network: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.pooling = network, pooling

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The margins q(S+) - q(S-): [pairs, 2, tokens] to [pairs]."""
        batch = {"input_ids": input_ids.flatten(0, 1), "attention_mask": attention_mask.flatten(0, 1)}
        scores = logits(self.network, batch, self.pooling).float().view(-1, 2)
        return scores[:, 1] - scores[:, 0]


class PairCollator(Collator):
    """Pads the texts of a batch of pairs to the longest."""

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids and mask of both texts of each row, each [pairs, 2, tokens]."""
        texts = super().__call__([{"input_ids": row[side]} for row in rows for side in ("low", "high")])
        return {name: values.view(len(rows), 2, -1) for name, values in texts.items()}


class PairRanking(Objective):
    """Minimises the pairwise loss; the best epoch has the lowest mean loss over the evaluation sets."""

    greater_is_better = False
    collator = PairCollator

    def model(self, network: Any, recipe: Recipe, rows: Sequence[RankedPair]) -> PairModel:
        """The network, applied to pairs."""
        return PairModel(network, head_pooling(recipe, network.config))

    def encode(self, rows: Sequence[RankedPair], tokenizer: Any, max_length: int) -> Dataset:
        """Token ids of both texts; a pair whose texts are equal to the network (cut, upper case) is dropped."""

        def ids(texts: list[str]) -> list[list[int]]:
            return tokenizer(texts, truncation=True, max_length=max_length)["input_ids"] if texts else []

        return distinct_pairs(ids([pair.low for pair in rows]), ids([pair.high for pair in rows]))

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Eq. 4 over a batch, margins, and ones: the second text of a pair is always the better."""
        # The sigmoid itself, not its logarithm: a pair that cannot be learnt has less and less influence.
        margins = model(**batch)
        return torch.sigmoid(-margins).mean(), margins, torch.ones_like(margins)

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Pair accuracy from margins; an equal pair counts as wrong."""
        return {"accuracy": float((np.asarray(answers) > 0).mean())}

    def selection(self, metrics: Mapping[str, float]) -> float:
        """The mean loss over the evaluation sets."""
        return float(np.mean([value for name, value in metrics.items() if name.endswith("_loss")]))


def distinct_pairs(low: list[list[int]], high: list[list[int]], **more: list[Any]) -> Dataset:
    """Rows for the collator from the token ids of worse and better texts and further columns."""
    table = [
        {"low": left, "high": right, "length": max(len(left), len(right)), **dict(zip(more, values, strict=True))}
        for left, right, *values in zip(low, high, *more.values(), strict=True)
        if left != right
    ]
    if len(table) < len(low):
        logger.info("%d of %d pairs look equal to the network and were dropped", len(low) - len(table), len(low))
    if not table:
        raise InputError("there is no pair of texts that the network can tell apart; give it more sentences")
    return Dataset.from_list(table)


def train_impara(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Make ranked pairs, fine-tune with each seed, and write the best as a checkpoint with results and card."""
    folder = Path(folder)

    def read(run: Path) -> Material:
        pairs, counts = read_pairs(job, run, job.recipe.base, job.parallel_only, progress)
        evaluation = {"dev": pairs["dev"]}
        if job.ratings is not None:
            evaluation["rated"] = read_rated_pairs(job.ratings, RATED_PAIRS)
        return Material(pairs["train"], evaluation, counts, pairs)

    def finish(material: Material, weights: Path) -> dict[str, Any]:
        # The similarity estimator is the encoder as it was before fine-tuning (section 2.5).
        similarity = {"threshold": _threshold(job), "se_model": portable_name(job.recipe.base, folder)}
        save(job.recipe, weights, folder, similarity)
        measured = {}
        if job.log_odds:
            scale, shift = log_odds(*_logits(folder, material.test["dev"], progress))
            rescale(folder, scale, shift)
            measured["log_odds"] = {"scale": scale, "shift": shift}
        return {**measured, "test": pair_scores(folder, material.test["test"], progress)}

    return train_network(job, folder, PairRanking(), read, finish, impara_card, progress)


def pair_scores(model: str | Path, pairs: Sequence[RankedPair], progress: bool = False) -> dict[str, Any]:
    """Loss (Eq. 4) and accuracy of a finished checkpoint on ranked pairs."""
    low, high = _logits(model, pairs, progress)
    return {
        "pairs": len(pairs),
        "loss": float(np.mean(1 / (1 + np.exp(high - low)))),
        "accuracy": float(np.mean(high > low)),
    }


def bundled_scores(folder: str | Path) -> dict[str, Any]:
    """Loss and accuracy of the bundled IMPARA on the held-out pairs of a run."""
    saved = read_json(Path(folder) / "run" / "pairs.json")
    return pair_scores(f"{BUNDLED}:impara", [RankedPair(*row) for row in saved["test"]])


def _logits(model: str | Path, pairs: Sequence[RankedPair], progress: bool) -> tuple[np.ndarray, np.ndarray]:
    """Logits of the worse and of the better text of each pair."""
    encoder = Encoder.load(resolve(str(model)), head=True)
    texts = [text for pair in pairs for text in (pair.low, pair.high)]
    with bar(progress, "scores of pairs"):
        low, high = encoder.logits(texts)[:, 0].reshape(-1, 2).T.astype(float)
    return low, high


def _threshold(job: Job) -> float:
    """The threshold of the similarity estimator."""
    if job.threshold is not None:
        return job.threshold
    if job.recipe.base == BUNDLED:
        with contextlib.suppress(CheckpointError):  # while the bundled IMPARA itself is trained
            return resolve(BUNDLED, bundled="impara").setting("threshold", THRESHOLD)
    return THRESHOLD


def log_odds(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Scale and shift under which differences of logits are log-odds, and logits are 0 on average."""
    # The loss of IMPARA does not fix the scale of q: it only falls as q grows, until sigmoids reach 0 or 1 and
    # sentences tie.
    scale = likeliest_scale(high - low)
    return scale, -scale * float(np.concatenate([low, high]).mean())


def likeliest_scale(margins: np.ndarray) -> float:
    """The factor under which outcomes of the log-odds `margins` are likeliest (temperature scaling)."""
    from scipy.optimize import minimize_scalar

    unit = max(float(np.abs(margins).mean()), 1e-12)  # the search is for margins of any size
    margins = margins / unit
    fitted = minimize_scalar(lambda x: np.logaddexp(0, -np.exp(x) * margins).mean(), bounds=(-5, 5), method="bounded")
    return float(np.exp(fitted.x)) / unit


def rescale(folder: Path, scale: float, shift: float) -> None:
    """Make a saved checkpoint give `scale` times its logit plus `shift`, by changing its output layer."""
    files = [folder / name for name in ("adapter_model.safetensors", "model.safetensors") if (folder / name).is_file()]
    tensors = load_file(files[0]) if files else {}
    layers = [name for name in tensors if name.endswith(("classifier.weight", "classifier.out_proj.weight"))]
    if len(layers) != 1:
        raise InputError(f"{folder}: expected one output layer, found {len(layers)}")
    for name, offset in ((layers[0], 0.0), (layers[0].removesuffix("weight") + "bias", shift)):
        tensors[name] = (tensors[name].double() * scale + offset).to(tensors[name].dtype)
    save_file(tensors, files[0], {"format": "pt"})
    files[0].chmod(0o644)
