"""Networks with one output that rate a text, their answers checked to be finite numbers; and metrics of encoders."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import Columns, check_columns
from geceval.core.options import RunTime
from geceval.models.batched_model import BatchedModel
from geceval.scorers.base import Scorer

if TYPE_CHECKING:
    from typing_extensions import Self

    from geceval.models.batched_model import Text
    from geceval.models.encoder import Encoder
    from geceval.models.regressors import StateRegressor


class EncoderScorer(Scorer):
    """A metric of rows by encoders, which read those of several systems together: batches are full, with less padding.

    One system after the other, each leaves a few texts of all lengths that no system before it had.
    """

    _systems: Sequence[Sequence[str]] = ()

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Self:
        """This scorer; the first call of `score` reads the rows of all systems, so that the others find them read."""
        scorer = copy.copy(self)
        scorer._systems = systems
        return scorer

    def _rows_ahead(self, columns: Columns) -> tuple[list[str], list[str]]:
        """Sources and predictions that the next calls will ask for, the first time; none if they cannot be remembered.

        Returns:
            Sources and predictions of the distinct rows of all systems.
        """
        systems, self._systems = self._systems, ()
        rows: dict[tuple[str, str], None] = {}
        for predictions in systems:
            with suppress(InputError, InputTypeError):  # raised again when it is the turn of this system
                checked = check_columns(self.name, columns.sources, predictions, warn=False)
                rows.update(dict.fromkeys(zip(checked.sources, checked.predictions, strict=True)))
        distinct = list(rows)
        if 2 * len(distinct) > BatchedModel.cached_texts:  # sources may be read, too
            distinct = []
        return [source for source, _ in distinct], [prediction for _, prediction in distinct]


def estimate(
    metric: str,
    estimator: Encoder | StateRegressor,
    texts: Sequence[Text],
    runtime: RunTime,
    what: str = "the quality estimator",
    ahead: Sequence[Text] = (),
) -> np.ndarray:
    """What the network answers for each prediction: float64 [texts].

    Args:
        metric: Name of the metric, for the message.
        estimator: An encoder with its head, or a head over a language model.
        texts: Predictions, or pairs of source and prediction.
        runtime: Batch size, progress, cache.
        what: What to call the network in the message.
        ahead: Further texts, which are read too and remembered for later calls.

    Raises:
        ValueError: If an answer is not a finite number.
    """
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
