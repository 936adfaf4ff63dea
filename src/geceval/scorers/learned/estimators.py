"""Metrics whose networks read the texts of several systems in one go; quality and similarity estimators."""

import abc
import copy
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from geceval.core.errors import InputError, InputTypeError, NotFiniteError, named
from geceval.core.inputs import Columns, check_columns
from geceval.core.options import RunTime
from geceval.models.batched_model import BatchedModel, Text
from geceval.models.encoder import Encoder
from geceval.models.regressors import StateRegressor
from geceval.scorers.base import Scorer


class ReadAheadScorer(Scorer):
    """A metric whose first call of `score` reads the texts of all systems, for the next calls, too."""

    # Read one by one, systems would each have few new texts, of all lengths, and make small batches.

    network: ClassVar[type[BatchedModel]] = BatchedModel

    _systems: Sequence[Sequence[str]] = ()

    @abc.abstractmethod
    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> Any:
        """The answers of the networks to rows; a network remembers its answers to texts."""

    def _prepare(self, sources: Sequence[str], predictions: Sequence[str]) -> None:
        """Have the networks read rows and remember answers."""
        self._read(sources, predictions)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Scorer:
        """A copy of this scorer; its first call of `score` reads the rows of all systems."""
        scorer = copy.copy(self)
        scorer._systems = systems
        return scorer

    def _read_ahead(self, columns: Columns) -> Any:
        """The answers of the networks to these rows; the first call first reads those of all systems."""
        rows = self._rows_of_systems(columns.sources)
        if rows and 2 * len(rows) <= self.network.cached_texts:  # a row may be two texts
            sources, predictions = zip(*rows, strict=True)
            with suppress(NotFiniteError):  # raised again when it is the turn of that system
                self._prepare([*columns.sources, *sources], [*columns.predictions, *predictions])
        with named(self.name):
            return self._read(columns.sources, columns.predictions)

    def _rows_of_systems(self, sources: Sequence[str]) -> list[tuple[str, str]]:
        """The distinct rows of all systems; none after the first call."""
        systems, self._systems = self._systems, ()
        rows: dict[tuple[str, str], None] = {}
        for predictions in systems:
            with suppress(InputError, InputTypeError):  # likewise raised again
                checked, _ = self._read_texts(check_columns(self.name, sources, predictions, warn=False))
                rows.update(dict.fromkeys(zip(checked.sources, checked.predictions, strict=True)))
        return list(rows)


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
