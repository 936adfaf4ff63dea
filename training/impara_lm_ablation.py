"""What else could teach IMPARA-LM: another seed, its own states for the impact of edits, detection as a second loss.

    python training/impara_lm_ablation.py --m2 A.train.m2 B.train.m2 --ratings tmu-gfm-dataset.csv --output ablation

All variants learn from the same number of ranked pairs with the recipe of `train_impara_lm.py`, without a head:

- `plain`: as that script does it; impacts are those by the bundled encoder;
- `own`: impacts by the mean of the language model's own token states;
- `detection`: a linear map of the normalised states after two thirds of the layers also learns which words of the worse
  text the better one does not have (binary cross-entropy, with `--weight`), as a detector would.

Prints a Markdown table of rated pairs in people's order. Killed and started again with the same arguments, it goes on
where it was.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset

from geceval.edits.ged_labels import changed_words
from geceval.learning.card_parts import table
from geceval.learning.causal_network import new_causal_network
from geceval.learning.impara.corpus_pairs import read_pairs
from geceval.learning.impara.ranked_pairs import RankedPair, read_rated_pairs
from geceval.learning.impara_lm.job import RECIPE, Job
from geceval.learning.impara_lm.objective import LikelihoodCollator, LikelihoodRanking, PairLikelihood
from geceval.learning.loop import fit
from geceval.learning.objective import IGNORED
from geceval.learning.recipe import Recipe
from geceval.learning.scripts import exit_code, script_parser
from geceval.models.causal import log_probs
from geceval.models.checkpoints import BUNDLED, Checkpoint, resolve
from geceval.models.tokenizers import NOTHING_SPECIAL, detokenize

VARIANTS = ("plain", "own", "detection")
MEASURED = ("accuracy", "loss")


class DetectingLikelihood(PairLikelihood):
    """A causal language model with t and a detector of errors, applied to pairs of texts."""

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        config = network.config.get_text_config()
        self.layer = round(config.num_hidden_layers * 2 / 3)
        norm = torch.nn.LayerNorm(config.hidden_size)  # single dimensions of the states are in the hundreds
        self.detector = torch.nn.Sequential(norm, torch.nn.Linear(config.hidden_size, 1))

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, words: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The margins q(S+) - q(S-), [pairs], and the logit of an error at each token, [pairs, 2, tokens]."""
        ids, mask = input_ids.flatten(0, 1), attention_mask.flatten(0, 1)
        found, states = log_probs(self.network.get_base_model(), ids, mask, self.head_alone, self.layer)
        quality = self.scale() * found.sum(dim=1).view(-1, 2) / words.sqrt()
        return quality[:, 1] - quality[:, 0], self.detector(states.float()).view(input_ids.shape)


class DetectionCollator(LikelihoodCollator):
    """Adds the labels of the tokens of both texts."""

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """As its parent, and `labels`, [pairs, 2, tokens]."""
        batch = super().__call__(rows)
        labels = [torch.tensor(row[f"{side}_labels"]) for row in rows for side in ("low", "high")]
        padded = torch.nn.utils.rnn.pad_sequence(labels, True, IGNORED)
        return batch | {"labels": padded.view(batch["input_ids"].shape)}


class DetectingRanking(LikelihoodRanking):
    """The cost of pairs, and the cross-entropy of their errors.

    Args:
        start: The token that starts a text.
        weight: Of the second loss.
    """

    collator = DetectionCollator

    def __init__(self, start: str | None, weight: float) -> None:
        super().__init__(start)
        self.weight = weight

    def network(self, recipe: Recipe, base: Checkpoint) -> DetectingLikelihood:
        """The language model with its adapter and detector."""
        return DetectingLikelihood(new_causal_network(recipe, base))

    def encode(self, rows: Sequence[RankedPair], tokenizer: Any, max_length: int) -> Dataset:
        """As its parent, and the labels of tokens: 1 where a word of the worse text is not in the better one."""
        encoded = super().encode(rows, tokenizer, max_length)
        if len(encoded) != len(rows):
            raise ValueError("pairs that look equal to the network have no labels")
        low = [_labels(tokenizer, detokenize(pair.low), detokenize(pair.high), max_length) for pair in rows]
        high = [[0] * len(ids) for ids in encoded["high"]]
        return encoded.add_column("low_labels", low).add_column("high_labels", high)

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The weighted sum of both, margins, and ones; in evaluations, the cost of pairs alone."""
        batch = dict(batch)
        labels = batch.pop("labels")
        margins, logits = model(**batch)
        loss = torch.nn.functional.softplus(-margins).mean()
        if model.training:
            known = labels != IGNORED
            wrong = labels[known].float()
            loss = loss + self.weight * torch.nn.functional.binary_cross_entropy_with_logits(logits[known], wrong)
        return loss, margins, torch.ones_like(margins)


def _labels(tokenizer: Any, low: str, high: str, max_length: int) -> list[int]:
    """1 for tokens that end within a changed word of `low`; the first label is that of the start token."""
    words, start, wrong = low.split(), 0, set()
    changed = changed_words(words, high.split())
    for number, word in enumerate(words):
        start = low.index(word, start) + len(word)
        if number in changed:
            wrong.update(range(start - len(word) + 1, start + 1))
    offsets = tokenizer(
        low, **NOTHING_SPECIAL, return_offsets_mapping=True, truncation=True, max_length=max_length - 1
    )["offset_mapping"]
    return [0, *(int(end in wrong) for _, end in offsets)]


def ablate(options: argparse.Namespace) -> str:
    """Train every variant with every seed and make the table."""
    recipe = dataclasses.replace(
        RECIPE, base=options.init_from, evaluations=1, batch_size=options.batch_size, dtype=options.dtype
    )
    start = resolve(recipe.base).setting("start_token")
    rated = read_rated_pairs(options.ratings, options.rated, gap=0.4)
    rows = []
    for seed in options.seeds:
        for variant in options.variants:
            impacts = recipe.base if variant == "own" else BUNDLED
            job = Job(m2=tuple(options.m2), recipe=recipe, pairs=options.pairs, impacts_by=impacts)
            folder = options.output / ("own" if variant == "own" else "bundled")
            folder.mkdir(parents=True, exist_ok=True)
            pairs, _ = read_pairs(job, folder, progress=True)
            detecting = variant == "detection"
            objective = DetectingRanking(start, options.weight) if detecting else LikelihoodRanking(start)
            run = fit(
                objective,
                dataclasses.replace(recipe, seed=seed),
                pairs["train"],
                {"rated": rated},
                options.output / f"{variant}-{seed}",
                progress=True,
            )
            print(json.dumps({"variant": variant, **run}), flush=True)
            last = run["history"][-1]
            rows.append([variant, seed, len(pairs["train"]), *(f"{last[f'rated_{name}']:.3f}" for name in MEASURED)])
    return table(("variant", "seed", "pairs", "rated pairs", "their loss"), rows)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, train and print; the exit code."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--m2", type=Path, nargs="+", required=True, help="ERRANT-typed edits")
    add("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    add("--output", type=Path, required=True, help="folder of all runs")
    add("--init-from", default=RECIPE.base, help="the causal language model")
    add("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    add("--seeds", type=int, nargs="+", default=[1, 2])
    add("--pairs", type=int, default=160, help="pairs of each file, of which 8 in 10 are learnt from")
    add("--rated", type=int, default=600, help="rated pairs to measure on")
    add("--batch-size", type=int, default=16)
    add("--weight", type=float, default=1.0, help="of the loss of detection")
    add("--dtype", choices=("float32", "bfloat16"), default="float32")
    options = parser.parse_args(arguments)
    return exit_code("impara_lm_ablation", lambda: print(ablate(options)))


if __name__ == "__main__":
    sys.exit(main())
