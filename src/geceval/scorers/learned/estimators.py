"""Networks with one output that rate a text, their answers checked to be finite numbers; and metrics of encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError
from geceval.core.inputs import Columns
from geceval.core.options import RunTime
from geceval.models.batched_model import BatchedModel
from geceval.scorers.learned.read_ahead import ReadAheadScorer

if TYPE_CHECKING:
    from geceval.models.batched_model import Text
    from geceval.models.encoder import Encoder
    from geceval.models.regressors import StateRegressor


class EncoderScorer(ReadAheadScorer):
    """A metric of rows by encoders, which read those of several systems together."""

    # One system after the other, each leaves a few texts of all lengths that no system before it had.

    def _rows_ahead(self, columns: Columns) -> tuple[list[str], list[str]]:
        """Sources and predictions that the next calls will ask for, the first time."""
        sources, predictions = self._rows_of_systems(columns.sources)
        if 2 * len(sources) > BatchedModel.cached_texts:  # sources may be read, too
            return [], []
        return sources, predictions


def estimate(
    metric: str,
    estimator: Encoder | StateRegressor,
    texts: Sequence[Text],
    runtime: RunTime,
    what: str = "the quality estimator",
    ahead: Sequence[Text] = (),
) -> np.ndarray:
    """What the network answers for each prediction: float64 [texts]."""
    answers = estimator.logits([*texts, *ahead], runtime)[: len(texts), 0]
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
