"""Whether a correction says what its source says, by an encoder that reads both at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Range
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.checkpoints import resolve
from geceval.models.devices import network_facts
from geceval.models.encoder import Encoder
from geceval.models.regressors import StateRegressor, load_regressor
from geceval.scorers.base import TextOptions
from geceval.scorers.learned.estimators import ReadAheadScorer, estimate, sigmoid


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of the metric; each can change the score.

    Attributes:
        model: The estimator: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a sequence classifier
            with one output that reads source and prediction as a pair.
        max_length: Tokens of source and prediction together, special ones included, beyond which the longer one is
            cut; by default as of other metrics.
    """

    model: ModelName = "bundled"
    max_length: Annotated[int, Range(4)] | None = None  # a pair has three special tokens


class Meaning(ReadAheadScorer):
    """The probability that the prediction says what the source says, 1 where they are equal; a corpus has the mean."""

    name = "meaning"
    description = "Probability that a correction, even a free rewrite, says what its source says, reference-free."
    extra = "neural"
    Settings = Settings
    form = "prose"
    reads_references = False

    _estimator: Encoder | StateRegressor | None = None

    def _load(self) -> None:
        if self._estimator is None:
            checkpoint = resolve(self.settings.model, bundled=self.name)
            self._estimator = load_regressor(checkpoint, self.runtime, self.settings.max_length)

    def _score(self, columns: Columns) -> Result:
        self.load()
        scores = self._read_ahead(columns)
        facts = network_facts(self.runtime, self._estimator)
        return Result(float(scores.mean()), scores.tolist(), signature(self.name, self.settings, **facts))

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> np.ndarray:
        """The score of each row: float64 [rows]."""
        rows = list(zip(sources, predictions, strict=True))
        scores = np.array([float(source.split() == prediction.split()) for source, prediction in rows])
        read = [row for row, (one, other) in enumerate(rows) if not scores[row] and one.split() and other.split()]
        if read:
            pairs = [rows[row] for row in read]
            scores[read] = sigmoid(estimate(self.name, self._estimator, pairs, self.runtime, "the estimator"))
        return scores
