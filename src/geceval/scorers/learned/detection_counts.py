"""Counts of error detection, one row per sentence, and the figures that follow from sums of rows.

A row holds the true positives, false positives and false negatives of errors against correct tokens, whatever their
class, and then, for each class, the number of tokens that have it in both labellings, in the predicted one and in the
gold one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from geceval.core.f_score import Counts, f_beta

BETA = 0.5
MACRO = ("macro_precision", "macro_recall", "macro_f")


def count(predicted: Sequence[int], gold: Sequence[int], classes: int) -> np.ndarray:
    """The row of one sentence."""
    left, right = np.array(predicted, int), np.array(gold, int)
    binary = [((left > 0) & (right > 0)).sum(), ((left > 0) & (right == 0)).sum(), ((left == 0) & (right > 0)).sum()]
    by_class = [np.bincount(ids, minlength=classes) for ids in (left[left == right], left, right)]
    return np.concatenate([binary, *by_class]).astype(float)


def macro_scores(sums: np.ndarray, beta: float) -> np.ndarray:
    """Macro precision, recall and F: F of the means of P and R over classes (Yuan et al. 2021's public scorer)."""
    hits, proposed, present = np.moveaxis(sums[..., 3:].reshape(*sums.shape[:-1], 3, -1), -2, 0)
    seen = (proposed + present) > 0
    classes = np.maximum(seen.sum(axis=-1), 1)
    precision = (hits / np.maximum(proposed, 1)).sum(axis=-1) / classes
    recall = (hits / np.maximum(present, 1)).sum(axis=-1) / classes
    return np.stack([precision, recall, f_beta(precision, recall, beta)], axis=-1)


def details(sums: np.ndarray, beta: float, labels: Sequence[str]) -> dict[str, Any]:
    """The contents of `Result.details`: the binary and the macro figures, and those of each class that occurs."""
    by_class = {
        name: {**figures, "tp": hits, "fp": proposed - hits, "fn": present - hits}
        for name, figures, (hits, proposed, present) in _by_class(sums, beta, labels)
    }
    macro = dict(zip(MACRO, macro_scores(sums, beta).tolist(), strict=True))
    return {**Counts(*sums[:3].tolist()).to_details(beta), **macro, "by_class": by_class}


def detection_scores(predicted: np.ndarray, gold: np.ndarray, classes: int) -> dict[str, float]:
    """Token-level precision, recall and F0.5."""
    row = count(predicted, gold, classes)
    hits, needless, missed = row[:3].tolist()
    precision, recall = hits / max(hits + needless, 1), hits / max(hits + missed, 1)
    macro = dict(zip(MACRO, macro_scores(row, BETA).tolist(), strict=True))
    return {"precision": precision, "recall": recall, "f": f_beta(precision, recall, BETA), **macro}


def class_scores(predicted: np.ndarray, gold: np.ndarray, labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """Precision, recall and F0.5 of each class against all others."""
    row = count(predicted, gold, len(labels))
    return {name: {**figures, "tokens": int(found[2])} for name, figures, found in _by_class(row, BETA, labels)}


def _by_class(
    sums: np.ndarray, beta: float, labels: Sequence[str]
) -> Iterator[tuple[str, dict[str, float], tuple[float, ...]]]:
    """Each class that occurs: its name, precision, recall and F, and its tokens in both, predicted and gold."""
    for name, hits, proposed, present in zip(labels, *sums[3:].reshape(3, -1).tolist(), strict=True):
        if proposed or present:
            precision, recall = hits / max(proposed, 1), hits / max(present, 1)
            figures = {"precision": precision, "recall": recall, "f": f_beta(precision, recall, beta)}
            yield name, figures, (hits, proposed, present)
