"""The similarity estimator of IMPARA: does a correction still mean what its source means?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.options import RunTime

if TYPE_CHECKING:
    from geceval.models.encoder import Encoder

RULES = ("paper", "gec-metrics")


def similar_enough(
    encoder: Encoder | None,
    sources: Sequence[str],
    predictions: Sequence[str],
    threshold: float,
    runtime: RunTime,
    rule: str = "paper",
) -> np.ndarray:
    """Which predictions pass the threshold (Maeda et al. 2022, Eq. 1 and 10)."""
    # The similarity is the cosine between the mean token states of source and prediction, 1 by definition where they
    # are equal.
    similarity = np.ones(len(sources))
    if encoder is None:
        return similarity > 0
    changed = [row for row, source in enumerate(sources) if source != predictions[row]]
    if changed:
        texts = [sources[row] for row in changed] + [predictions[row] for row in changed]
        vectors = encoder.embed(texts, runtime)
        similarity[changed] = cosine(vectors[: len(changed)], vectors[len(changed) :])
    return similarity > threshold if rule == "paper" else ~(similarity < threshold)


def cosine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cosine of each pair of rows, NaN where a row is all zeros: [rows, dimensions] twice to [rows]."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (left * right).sum(axis=1) / (np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1))
