"""The loss and the scores of a regressor on human ratings of texts, or of pairs of texts (SOME).

The loss is the squared error on the scale of the ratings, so that the network's answer is a rating. The best epoch is
the one with the highest Pearson correlation on the dev fold (Yoshimura et al. 2020, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.learning.network import head_pooling
from geceval.learning.objective import Objective
from geceval.learning.recipe import Recipe
from geceval.models.batched_model import Text
from geceval.models.pooling import logits

Rated = tuple[Text, float]
"""A text, or a pair that the network reads together, and its rating."""


class TextModel(torch.nn.Module):
    """A sequence classifier with one output and the pooling that its checkpoint will state."""

    def __init__(self, network: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.pooling = network, pooling

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """The network's answers: inputs [texts, tokens] to [texts]."""
        return logits(self.network, batch, self.pooling)[:, 0].float()


class Regression(Objective):
    """Minimises the mean squared error; rows are all texts or all pairs."""

    def model(self, network: Any, recipe: Recipe, rows: Sequence[Rated]) -> TextModel:
        """The network with the bias of its output layer set to the mean rating, so that it need not be learnt first."""
        with torch.no_grad():
            for module in network.modules():
                if isinstance(module, torch.nn.Linear) and module.out_features == 1 and module.bias is not None:
                    module.bias.fill_(float(np.mean([rating for _, rating in rows])))
        return TextModel(network, head_pooling(recipe, network.config))

    def encode(self, rows: Sequence[Rated], tokenizer: Any, max_length: int) -> Dataset:
        """Token ids and ratings, with token types of pairs if the tokenizer has them; cut at `max_length`."""
        if not rows:
            raise InputError("there is no rated text to learn from")
        texts, ratings = zip(*rows, strict=True)
        paired = isinstance(texts[0], tuple)
        columns = [list(column) for column in zip(*texts, strict=True)] if paired else [list(texts)]
        encoded = tokenizer(*columns, truncation=True, max_length=max_length, return_attention_mask=False)
        names = [name for name in ("input_ids", *(["token_type_ids"] if paired else [])) if name in encoded]
        lengths = [len(ids) for ids in encoded["input_ids"]]
        return Dataset.from_dict(
            {**{name: encoded[name] for name in names}, "labels": list(ratings), "length": lengths}
        )

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The mean squared error of a batch; answers and ratings, [texts]."""
        batch = dict(batch)
        ratings = batch.pop("labels")
        answers = model(**batch)
        return torch.nn.functional.mse_loss(answers, ratings), answers, ratings

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """See `correlations`."""
        return correlations(answers, expected)

    def selection(self, metrics: Mapping[str, float]) -> float:
        """Pearson's r."""
        return metrics["pearson"]


def correlations(answers: Sequence[float], ratings: Sequence[float]) -> dict[str, float]:
    """Pearson, Spearman (average ranks) and the mean squared error; correlations are 0 where one side is constant."""
    from scipy.stats import pearsonr, spearmanr

    answers, ratings = np.asarray(answers, dtype=float), np.asarray(ratings, dtype=float)
    constant = not (np.ptp(answers) and np.ptp(ratings))
    return {
        "pearson": 0.0 if constant else float(pearsonr(answers, ratings).statistic),
        "spearman": 0.0 if constant else float(spearmanr(answers, ratings).statistic),
        "mse": float(np.mean((answers - ratings) ** 2)),
    }
