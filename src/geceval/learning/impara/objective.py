"""Fine-tuning of IMPARA's quality estimator on ranked pairs (Maeda et al. 2022, section 2.2, Eq. 4).

The loss of a pair is sigmoid(q(S-) - q(S+)): the sigmoid itself, not its logarithm, so that a pair that cannot be
learnt pulls less and less. 0.5 is chance and 0 perfect.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.learning.loop import LossTrainer, arguments, finished, fit, mean_loss, start
from geceval.learning.network import head_pooling
from geceval.learning.recipe import Recipe
from geceval.models import heads
from geceval.models.checkpoints import resolve

logger = logging.getLogger("geceval")


class PairModel(torch.nn.Module):
    """A sequence classifier with one output, seen through pairs of texts."""

    def __init__(self, network: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.pooling = network, pooling

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The margins q(S+) - q(S-): [pairs, 2, tokens] to [pairs]."""
        batch = {"input_ids": input_ids.flatten(0, 1), "attention_mask": attention_mask.flatten(0, 1)}
        scores = heads.logits(self.network, batch, self.pooling).float().view(-1, 2)
        return scores[:, 1] - scores[:, 0]


class RankingTrainer(LossTrainer):
    """Minimises the pairwise loss; the best epoch is the one with the lowest mean loss over the evaluation sets."""

    def cost(self, model: Any, inputs: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Eq. 4 over one batch, margins, and ones: the second text of a pair is always the better."""
        margins = model(**inputs)
        return torch.sigmoid(-margins).mean(), margins, torch.ones_like(margins)

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """Loss and accuracy on each evaluation set, and `eval_selection`, the mean loss over them."""
        metrics = super().evaluate(eval_dataset, ignore_keys, metric_key_prefix)
        if metric_key_prefix == "eval" and any(name.endswith("_loss") for name in metrics):
            metrics["eval_selection"] = mean_loss(metrics)
        return metrics


def pair_metrics(prediction: Any) -> dict[str, float]:
    """Pair accuracy from margins; an equal pair counts as wrong."""
    return {"accuracy": float((np.asarray(prediction.predictions) > 0).mean())}


class PairCollator:
    """Pads the texts of a batch to the longest: lists of token ids to [pairs, 2, tokens]."""

    def __init__(self, padding: int) -> None:
        self.padding = padding

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids and mask of both texts of each row."""
        texts = [torch.tensor(row[side]) for row in rows for side in ("low", "high")]
        ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=self.padding)
        lengths = torch.tensor([len(text) for text in texts])
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        return {"input_ids": ids.view(len(rows), 2, -1), "attention_mask": mask.view(len(rows), 2, -1)}


def encode_pairs(pairs: Sequence[RankedPair], tokenizer: Any, max_length: int) -> Dataset:
    """Token ids of both texts; a pair whose texts are equal to the network (cut, upper case) is dropped."""

    def ids(texts: list[str]) -> list[list[int]]:
        return tokenizer(texts, truncation=True, max_length=max_length)["input_ids"] if texts else []

    sides = zip(ids([pair.low for pair in pairs]), ids([pair.high for pair in pairs]), strict=True)
    rows = [{"low": low, "high": high, "length": max(len(low), len(high))} for low, high in sides if low != high]
    if len(rows) < len(pairs):
        logger.info("%d of %d pairs look equal to the network and were dropped", len(pairs) - len(rows), len(pairs))
    if not rows:
        raise InputError("there is no pair of texts that the network can tell apart; give it more sentences")
    return Dataset.from_list(rows)


def train(
    recipe: Recipe,
    pairs: Sequence[RankedPair],
    evaluation: Mapping[str, Sequence[RankedPair]],
    folder: Path,
    progress: bool = True,
) -> dict[str, Any]:
    """Fine-tune with one seed, see `geceval.learning.loop.fit`.

    Args:
        recipe: How.
        pairs: What to learn from.
        evaluation: Name to pairs; their mean loss chooses the epoch.
        folder: Of this run.
        progress: Show a bar on standard error.

    Returns:
        What `fit` returns; `history` has the loss and accuracy on every evaluation set.

    Raises:
        CheckpointError: If the base cannot be used.
        ValueError: If there are no usable pairs, or `max_length` is beyond what the network can read.
    """
    if (result := finished(folder)) is not None:
        return result
    network, tokenizer = start(recipe, resolve(recipe.base))
    trainer = RankingTrainer(
        model=PairModel(network, head_pooling(recipe, network.config)),
        args=arguments(recipe, folder, progress, greater_is_better=False),
        data_collator=PairCollator(tokenizer.pad_token_id or 0),
        train_dataset=encode_pairs(pairs, tokenizer, recipe.max_length),
        eval_dataset={name: encode_pairs(some, tokenizer, recipe.max_length) for name, some in evaluation.items()},
        compute_metrics=pair_metrics,
        processing_class=tokenizer,
    )
    return fit(trainer, network, recipe.seed, mean_loss)
