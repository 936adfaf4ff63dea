"""Counts of error detection, one row a sentence, and the figures that follow from sums of rows.

A row holds the true positives, false positives and false negatives of errors against correct tokens, whatever their
class, and then, for each class, the tokens that have it in both labellings, in the predicted and in the gold one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from geceval.core.result import Counts, f_beta


def count(predicted: Sequence[int], gold: Sequence[int], classes: int) -> np.ndarray:
    """The row of one sentence.

    Args:
        predicted: Ids of labels, one a token; 0 is CORRECT.
        gold: Likewise.
        classes: How many labels there are.

    Returns:
        Whole numbers as float64 [3 + 3 · classes].
    """
    left, right = np.array(predicted, int), np.array(gold, int)
    binary = [((left > 0) & (right > 0)).sum(), ((left > 0) & (right == 0)).sum(), ((left == 0) & (right > 0)).sum()]
    by_class = [np.bincount(ids, minlength=classes) for ids in (left[left == right], left, right)]
    return np.concatenate([binary, *by_class]).astype(float)


def binary_counts(row: np.ndarray) -> Counts:
    """Errors against correct tokens."""
    return Counts(*row[:3].tolist())


def macro_scores(sums: np.ndarray, beta: float) -> np.ndarray:
    """Macro precision, recall and F: F of the means of P and R over classes (Yuan et al. 2021's public scorer).

    Args:
        sums: Sums of rows, [...][3 + 3 · classes].
        beta: Weight of recall.

    Returns:
        [...][3]. The classes are those that occur in either labelling, CORRECT included; the precision of one that was
        never predicted is 0, and so is the recall of one that is nowhere in the gold.
    """
    hits, proposed, present = np.moveaxis(sums[..., 3:].reshape(*sums.shape[:-1], 3, -1), -2, 0)
    seen = (proposed + present) > 0
    classes = np.maximum(seen.sum(axis=-1), 1)
    precision = (hits / np.maximum(proposed, 1)).sum(axis=-1) / classes
    recall = (hits / np.maximum(present, 1)).sum(axis=-1) / classes
    weight = beta * beta
    below = weight * precision + recall
    f = np.where(below > 0, (1 + weight) * precision * recall / np.where(below > 0, below, 1), 0.0)
    return np.stack([precision, recall, f], axis=-1)


def details(sums: np.ndarray, beta: float, labels: Sequence[str]) -> dict[str, Any]:
    """What `Result.details` says: the binary and the macro figures, and those of each class that occurs."""
    by_class = {}
    for name, hits, proposed, present in zip(labels, *sums[3:].reshape(3, -1).tolist(), strict=True):
        if proposed or present:
            precision, recall = hits / max(proposed, 1), hits / max(present, 1)
            f = f_beta(precision, recall, beta)
            counts = {"tp": hits, "fp": proposed - hits, "fn": present - hits}
            by_class[name] = {"precision": precision, "recall": recall, "f": f, **counts}
    macro = dict(zip(("macro_precision", "macro_recall", "macro_f"), macro_scores(sums, beta).tolist(), strict=True))
    return {**binary_counts(sums).to_details(beta), **macro, "by_class": by_class}
