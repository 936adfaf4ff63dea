"""What a network learns: how rows become batches, the loss of a batch, and what chooses the best epoch.

`impara/`, `ged/` and `some/` have one objective each; `geceval.learning.loop` minimises any.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from datasets import Dataset

from geceval.learning.network import new_network
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import Checkpoint

IGNORED = -100
"""The label of tokens that the loss leaves out."""


class Collator:
    """Pads the rows of a batch to the longest of them."""

    def __init__(self, padding: int) -> None:
        self.values = {"input_ids": padding, "token_type_ids": 0, "labels": IGNORED}

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids, their mask and, where rows have them, token types and labels of tokens, each [rows, tokens]."""
        # Labels of whole rows, which are numbers, become [rows].
        batch = {}
        for name in self.values.keys() & rows[0].keys():
            column = [torch.tensor(row[name]) for row in rows]
            if column[0].ndim:
                batch[name] = torch.nn.utils.rnn.pad_sequence(column, True, self.values[name])
            else:
                batch[name] = torch.stack(column).float()
        lengths = torch.tensor([len(row["input_ids"]) for row in rows])
        batch["attention_mask"] = (torch.arange(batch["input_ids"].shape[1]) < lengths[:, None]).long()
        return batch


class Objective(ABC):
    """What a network learns, and how the best epoch is chosen."""

    labels: Sequence[str] = ()
    greater_is_better = True
    collator: Any = Collator

    def network(self, recipe: Recipe, base: Checkpoint) -> Any:
        """The new network that `loop.fit` tunes: by default an encoder under a new head."""
        return new_network(recipe, base, self.labels)

    @abstractmethod
    def encode(self, rows: Sequence[Any], tokenizer: Any, max_length: int) -> Dataset:
        """Rows for the collator; the column `length` holds their numbers of tokens."""

    def model(self, network: Any, recipe: Recipe, rows: Sequence[Any]) -> Any:
        """What `cost` calls: the network itself, or a wrapper around it."""
        return network

    @abstractmethod
    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The loss of a batch, the model's answers, and the expected answers."""

    @abstractmethod
    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Scores of the answers to one evaluation set, besides the loss."""

    @abstractmethod
    def selection(self, metrics: Mapping[str, float]) -> float:
        """The number that chooses the epoch, from all metrics after it."""
