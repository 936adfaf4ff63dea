"""The texts of a group as one tree of prefixes, in arrays; see `geceval.models.prefix_trees`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from geceval.models.prefix_trees import one_tree


class PrefixTree(NamedTuple):
    """Token sequences that begin with the same token; right after a node come all that are below it."""

    ids: np.ndarray
    parents: np.ndarray
    depths: np.ndarray
    ends: np.ndarray
    last: np.ndarray

    def paths(self) -> np.ndarray:
        """Which nodes each sequence is made of: bool [sequences, nodes]."""
        last = self.last[:, None]
        return (np.arange(len(self.ids)) <= last) & (last < self.ends)


def prefix_tree(rows: Sequence[Sequence[int]]) -> PrefixTree:
    """The tree of token sequences that all begin with the same token."""
    tree = one_tree(rows)
    size = len(tree.row["input_ids"])
    plain = {"parents": [0, *range(size - 1)], "position_ids": [*range(size)], "ends": [size] * size}
    row = plain | tree.row
    last = np.zeros(len(rows), np.int64)
    last[tree.texts] = [path[-1] for path in tree.paths]
    return PrefixTree(*(np.array(row[name]) for name in ("input_ids", "parents", "position_ids", "ends")), last)


def pad(trees: Sequence[PrefixTree]) -> dict[str, torch.Tensor]:
    """Trees as a batch of `geceval.models.prefix_trees`, filled up with zeros, each int64 [trees, nodes]."""
    columns = {"input_ids": "ids", "position_ids": "depths", "parents": "parents", "ends": "ends"}
    return {
        name: torch.nn.utils.rnn.pad_sequence([torch.from_numpy(getattr(tree, own)) for tree in trees], True)
        for name, own in columns.items()
    }
