"""Networks with one output that rate a text; their answers are checked to be finite numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import RunTime

if TYPE_CHECKING:
    from geceval.models.batched_model import Text
    from geceval.models.encoder import Encoder


def estimate(
    metric: str, estimator: Encoder, texts: Sequence[Text], runtime: RunTime, what: str = "the quality estimator"
) -> np.ndarray:
    """What the network answers for each prediction: float64 [texts].

    Args:
        metric: Name of the metric, for the message.
        estimator: An encoder with its head.
        texts: Predictions, or pairs of source and prediction.
        runtime: Batch size, progress, cache.
        what: What to call the network in the message.

    Raises:
        ValueError: If an answer is not a finite number.
    """
    answers = estimator.logits(texts, runtime)[:, 0]
    bad = np.flatnonzero(~np.isfinite(answers))
    if bad.size:
        raise InputError(
            f"{metric}: {what} gives {answers[bad[0]]} for predictions[{bad[0]}]; "
            f"use dtype='float32', or another checkpoint"
        )
    return answers.astype(np.float64)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), 0 far below zero."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logits))
