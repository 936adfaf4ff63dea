"""IMPARA-GED (Sakai et al., 2025): quality of a correction, by a network that first learnt to find errors."""

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
from geceval.scorers.learned.estimators import estimate, sigmoid
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions, GuardedReader, is_ours


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of IMPARA-GED; each can change the score.

    Attributes:
        model: The quality estimator: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a sequence
            classifier with one output, such as `naist-nlp/IMPARA-GED`. How it pools the tokens is set in its
            `config.json`: `classifier_pooling` of ModernBERT, `geceval_pooling` of any other.
    """

    model: ModelName = "bundled"
    max_length: Annotated[int, Range(3)] | None = None  # [CLS], [SEP] and a token


class ImparaGed(GuardedReader):
    """Score(O) = sigmoid(R(O)) (Eq. 3), R(O) from the mean of O's token states; the corpus score is the mean."""

    name = "impara_ged"
    description = "Reference-free quality of the corrected sentence, by an encoder that learnt to find errors first."
    extra = "neural"
    Settings = Settings
    effect = Effect(unit=1.0, lowest=0.0, on_logit=True)

    _estimator: Encoder | None = None

    def _load(self) -> None:
        if self._estimator is None:
            checkpoint = resolve(self.settings.model, bundled=self.name)
            self.guards_by_default = is_ours(checkpoint)
            self._estimator = Encoder.load(checkpoint, self.runtime, self.settings.max_length, head=True)

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        scores = self._read_ahead(columns)
        facts = network_facts(self.runtime, self._estimator)
        return self._result(columns, scores, signature(self.name, self.settings, guard=self._guard_facts(), **facts))

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> np.ndarray:
        return sigmoid(estimate(self.name, self._estimator, predictions, self.runtime))
