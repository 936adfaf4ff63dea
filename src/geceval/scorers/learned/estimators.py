"""Quality and similarity estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import NotFiniteError
from geceval.core.options import RunTime

if TYPE_CHECKING:
    from geceval.models.batched_model import Text
    from geceval.models.encoder import Encoder
    from geceval.models.regressors import StateRegressor


def estimate(
    metric: str,
    estimator: Encoder | StateRegressor,
    texts: Sequence[Text],
    runtime: RunTime,
    what: str = "the quality estimator",
) -> np.ndarray:
    """The answer of a network with one output to each prediction: float64 [texts]."""
    answers = estimator.logits(texts, runtime)[:, 0]
    bad = np.flatnonzero(~np.isfinite(answers))
    if bad.size:
        raise NotFiniteError(
            f"{metric}: {what} gives {answers[bad[0]]} for predictions[{bad[0]}]; "
            f"use dtype='float32', or another checkpoint"
        )
    return answers.astype(np.float64)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), 0 far below zero."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logits))


def similarities(encoder: Encoder, sources: Sequence[str], predictions: Sequence[str], runtime: RunTime) -> np.ndarray:
    """Cosine of the mean token states of source and prediction, 1 where they are equal (Maeda et al. 2022, Eq. 10)."""
    similarity = np.ones(len(sources))
    changed = [row for row, source in enumerate(sources) if source != predictions[row]]
    if changed:
        texts = [sources[row] for row in changed] + [predictions[row] for row in changed]
        vectors = encoder.embed(texts, runtime)
        similarity[changed] = cosine(vectors[: len(changed)], vectors[len(changed) :])
    return similarity


def cosine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cosine of each pair of rows, NaN where a row is all zeros: [rows, dimensions] twice to [rows]."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (left * right).sum(axis=1) / (np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1))
