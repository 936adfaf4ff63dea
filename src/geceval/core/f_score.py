"""Precision, recall and F-beta of counts, for numbers and arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geceval.core.errors import InputError


def f_beta(precision: Any, recall: Any, beta: float = 0.5) -> Any:
    """F_beta = (1 + beta²)·P·R / (beta²·P + R); 0 where precision or recall is 0."""
    if not beta > 0:
        raise InputError(f"beta must be positive, got {beta!r}")
    weight = beta * beta
    undefined = 1 - ((precision > 0) & (recall > 0))  # 0 / 1 there
    return (1 + weight) * precision * recall / (weight * precision + recall + undefined)


def ratio(part: Any, whole: Any, empty: float = 1.0) -> Any:
    """`part / whole`, and `empty` where the whole is 0; numbers or arrays."""
    nothing = whole == 0
    return (part + empty * nothing) / (whole + nothing)


def rounded(values: np.ndarray) -> np.ndarray:
    """Python's `round(value, 4)`, which NumPy's differs from next to halves."""
    scaled = values * 1e4
    out = np.rint(scaled) / 1e4
    for index in zip(*np.nonzero(np.abs(scaled % 1 - 0.5) < 1e-6), strict=True):
        out[index] = round(float(values[index]), 4)
    return out


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives and false negatives: numbers, or arrays of one shape."""

    # They are floats because edits may carry weights. Precision is 1 when nothing was proposed and recall is 1 when
    # there was nothing to find: the convention of the M2 scorer and of ERRANT, under which an unchanged correct
    # sentence scores 1.

    tp: Any = 0.0
    fp: Any = 0.0
    fn: Any = 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @classmethod
    def of(cls, array: np.ndarray) -> Counts:
        """The columns of an array of counts, `[...][3]`, each `[...]`."""
        return cls(array[..., 0], array[..., 1], array[..., 2])

    @property
    def precision(self) -> Any:
        """TP / (TP + FP), or 1 when nothing was proposed."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Any:
        """TP / (TP + FN), or 1 when there was nothing to find."""
        return ratio(self.tp, self.tp + self.fn)

    def f(self, beta: float = 0.5) -> Any:
        """F_beta of these counts, in [0, 1]."""
        return f_beta(self.precision, self.recall, beta)

    def to_details(self, beta: float = 0.5) -> dict[str, float]:
        """The six numbers that every edit metric reports besides its score."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f(beta),
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
        }
