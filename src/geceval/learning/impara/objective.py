"""IMPARA's loss on ranked pairs (Maeda et al. 2022, section 2.2, Eq. 4).

The loss of a pair is sigmoid(q(S-) - q(S+)): the sigmoid itself, not its logarithm, so that a pair that cannot be
learnt has less and less influence. 0.5 is chance and 0 perfect.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.learning.network import head_pooling
from geceval.learning.objective import Collator, Objective
from geceval.learning.recipe import Recipe
from geceval.models.pooling import logits

logger = logging.getLogger("geceval")


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
