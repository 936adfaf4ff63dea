"""Fine-tuning of a regressor on human ratings of texts, or of pairs of texts (SOME; Yoshimura et al. 2020, section 4).

The loss is the squared error on the scale of the ratings, so that what the network answers is a rating. The best epoch
is the one with the highest Pearson correlation on the dev fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.learning.loop import SELECTION, LossTrainer, arguments, finished, fit, start
from geceval.learning.network import head_pooling
from geceval.learning.recipe import Recipe
from geceval.models import heads
from geceval.models.checkpoints import resolve
from geceval.models.reader import Text

Rated = tuple[Text, float]
"""A text, or a pair that the network reads together, and its rating."""


class TextModel(torch.nn.Module):
    """A sequence classifier with one output, pooled as its checkpoint will say."""

    def __init__(self, network: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.pooling = network, pooling

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """What the network answers: each input [texts, tokens], to [texts]."""
        return heads.logits(self.network, batch, self.pooling)[:, 0].float()


class RegressionTrainer(LossTrainer):
    """Minimises the mean squared error."""

    def cost(self, model: Any, inputs: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The mean squared error of one batch; answers and ratings, [texts]."""
        inputs = dict(inputs)
        ratings = inputs.pop("labels")
        answers = model(**inputs)
        return torch.nn.functional.mse_loss(answers, ratings), answers, ratings


class TextCollator:
    """Pads the texts of a batch to the longest."""

    def __init__(self, padding: int) -> None:
        self.padding = padding

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids, mask and, for pairs, token types, each [texts, tokens]; ratings [texts]."""

        def pad(name: str, value: int) -> torch.Tensor:
            return torch.nn.utils.rnn.pad_sequence([torch.tensor(row[name]) for row in rows], True, value)

        batch = {"input_ids": pad("input_ids", self.padding)}
        lengths = torch.tensor([row["length"] for row in rows])
        batch["attention_mask"] = (torch.arange(batch["input_ids"].shape[1]) < lengths[:, None]).long()
        if "token_type_ids" in rows[0]:
            batch["token_type_ids"] = pad("token_type_ids", 0)
        batch["labels"] = torch.tensor([row["labels"] for row in rows], dtype=torch.float32)
        return batch


def encode_rated(rows: Sequence[Rated], tokenizer: Any, max_length: int) -> Dataset:
    """Token ids, and token types of pairs where the tokenizer has them, beside the ratings; cut at `max_length`.

    Raises:
        ValueError: If there is nothing.
    """
    if not rows:
        raise InputError("there is no rated text to learn from")
    paired = isinstance(rows[0][0], tuple)
    columns = (
        [list(column) for column in zip(*(text for text, _ in rows), strict=True)]
        if paired
        else [[text for text, _ in rows]]
    )
    encoded = tokenizer(*columns, truncation=True, max_length=max_length, return_attention_mask=False)
    names = [name for name in ("input_ids", *(["token_type_ids"] if paired else [])) if name in encoded]
    return Dataset.from_list(
        [
            {**{name: encoded[name][row] for name in names}, "labels": rating, "length": len(encoded["input_ids"][row])}
            for row, (_, rating) in enumerate(rows)
        ]
    )


def correlations(answers: Sequence[float], ratings: Sequence[float]) -> dict[str, float]:
    """Pearson, Spearman (average ranks) and the mean squared error; correlations are 0 where all answers are equal."""
    from scipy.stats import rankdata

    def pearson(left: np.ndarray, right: np.ndarray) -> float:
        left, right = left - left.mean(), right - right.mean()
        scale = float(np.sqrt((left @ left) * (right @ right)))
        return float(left @ right) / scale if scale else 0.0

    answers, ratings = np.asarray(answers, dtype=float), np.asarray(ratings, dtype=float)
    return {
        "pearson": pearson(answers, ratings),
        "spearman": pearson(rankdata(answers), rankdata(ratings)),
        "mse": float(np.mean((answers - ratings) ** 2)),
    }


def train(
    recipe: Recipe, rows: Sequence[Rated], dev: Sequence[Rated], folder: Path, progress: bool = True
) -> dict[str, Any]:
    """Fine-tune a regressor with one seed, see `geceval.learning.loop.fit`.

    The bias of the new output layer starts at the mean rating: the first steps need not find it.

    Args:
        recipe: How.
        rows: What to learn from, all texts or all pairs.
        dev: What chooses the epoch.
        folder: Of this run.
        progress: Show a bar on standard error.

    Returns:
        What `fit` returns; `history` has `pearson`, `spearman` and `mse` on the dev fold after each epoch.

    Raises:
        CheckpointError: If the base cannot be used.
        ValueError: If there is nothing to learn from, or `max_length` is beyond what the network can read.
    """
    if (result := finished(folder)) is not None:
        return result
    network, tokenizer = start(recipe, resolve(recipe.base))
    train_set, dev_set = (encode_rated(some, tokenizer, recipe.max_length) for some in (rows, dev))
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, torch.nn.Linear) and module.out_features == 1 and module.bias is not None:
                module.bias.fill_(float(np.mean([rating for _, rating in rows])))

    def metrics(output: Any) -> dict[str, float]:
        found = correlations(output.predictions, output.label_ids)
        return {**found, SELECTION: found["pearson"]}

    trainer = RegressionTrainer(
        model=TextModel(network, head_pooling(recipe, network.config)),
        args=arguments(recipe, folder, progress, greater_is_better=True),
        data_collator=TextCollator(tokenizer.pad_token_id or 0),
        train_dataset=train_set,
        eval_dataset=dev_set,
        compute_metrics=metrics,
        processing_class=tokenizer,
    )
    return fit(trainer, network, recipe.seed, lambda scores: scores["pearson"])
