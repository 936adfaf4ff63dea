"""The result of a metric for one system."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Result:
    """One metric on one system.

    Attributes:
        score: The corpus score.
        scores: One score per sentence, in input order.
        signature: What was computed, in one line (see `geceval.core.signature`).
        details: Further plain numbers, strings, lists and dicts, e.g. precision and recall of an edit metric.
        statistics: `[sentences][...]`, the data for the corpus score if that is not the mean of `scores`, e.g. counts;
            the metric's `Scorer.aggregate` turns any selection of these rows into a corpus score.
    """

    score: float
    scores: list[float]
    signature: str
    details: Mapping[str, Any] = field(default_factory=dict)
    statistics: np.ndarray | None = field(default=None, repr=False, compare=False)

    def rows(self) -> np.ndarray:
        """The data for the corpus score, `[sentences][...]`: the statistics, or else the sentence scores."""
        return np.array(self.scores, dtype=float) if self.statistics is None else self.statistics

    def to_dict(self) -> dict[str, Any]:
        """The flat dict that `compute` of an evaluate module returns."""
        return {"score": self.score, "scores": self.scores, **self.details, "signature": self.signature}


def stacked(rows: list[np.ndarray], missing_reference: float) -> np.ndarray:
    """Rows of several results in one array; for references that only others have stands `missing_reference`."""
    shape = np.max([row.shape[1:] for row in rows], axis=0).astype(int)
    padded = np.full((sum(map(len, rows)), *shape), missing_reference)
    start = 0
    for row in rows:
        padded[(slice(start, start + len(row)), *map(slice, row.shape[1:]))] = row
        start += len(row)
    return padded
