"""IMPARA (Maeda et al., 2022): quality of a correction as estimated by a network, 0 where the meaning is lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Moderate, Range
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.checkpoints import BUNDLED, CheckpointError, resolve
from geceval.models.devices import network_facts
from geceval.models.encoder import Encoder
from geceval.models.tokenizers import PUBLISHED_BASE
from geceval.scorers.learned.estimators import estimate, sigmoid, similarities
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions, GuardedReader, is_ours

THRESHOLD = 0.9  # section 3.1.1, for bert-base-cased


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of IMPARA; each can change the score.

    Attributes:
        model: The quality estimator: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a sequence
            classifier with one output, such as `gotutiyan/IMPARA-QE`.
        se_model: The similarity estimator, an encoder without fine-tuning. `None` takes what the quality estimator's
            `config.json` names as `geceval_se_model`; else the bundled encoder for the bundled model and
            `bert-base-cased` for any other.
        threshold: Similarity that a correction must exceed; one that is not a number does not. `None` takes
            `geceval_threshold` of the quality estimator's `config.json`, else 0.9. Below -1 the similarity
            estimator is switched off and not even loaded.
    """

    model: ModelName = "bundled"
    se_model: ModelName | None = None
    threshold: Moderate | None = None
    max_length: Annotated[int, Range(3)] | None = None  # [CLS], [SEP] and a token


@dataclass(frozen=True, slots=True)
class _Loaded:
    quality: Encoder
    similarity: Encoder | None
    threshold: float


class Impara(GuardedReader):
    """Score(X, Y) = QE(Y) if SE(X, Y) passes the threshold, else 0 (Eq. 1); the corpus score is the mean.

    QE(Y) is the sigmoid of the quality estimator's logit for the prediction alone (Eq. 3). SE(X, Y) is the cosine
    between the mean token states of source and prediction (Eq. 10).
    """

    name = "impara"
    description = "Reference-free quality of the corrected sentence, 0 where the meaning is lost."
    extra = "neural"
    Settings = Settings
    effect = Effect(unit=1.0, lowest=0.0, on_logit=True)

    _loaded: _Loaded | None = None

    def _load(self) -> None:
        if self._loaded is not None:
            return
        settings = self.settings
        checkpoint = resolve(settings.model, bundled=self.name)
        quality = Encoder.load(checkpoint, self.runtime, settings.max_length, head=True)
        threshold = settings.threshold if settings.threshold is not None else checkpoint.setting("threshold", THRESHOLD)
        similarity = None
        if threshold >= -1:
            default = BUNDLED if settings.model == BUNDLED else PUBLISHED_BASE
            name = settings.se_model or checkpoint.setting("se_model", default)
            try:
                similarity = Encoder.load(resolve(name), self.runtime, quality.max_length)
            except CheckpointError as error:
                raise CheckpointError(f"similarity estimator (se_model): {error}") from error
        self.guards_by_default = is_ours(checkpoint)
        self._loaded = _Loaded(quality, similarity, float(threshold))

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        quality, passed = self._read_ahead(columns)
        scores = np.where(passed, quality, 0.0)
        loaded, details = self._loaded, {"zeroed": int((~passed).sum())}
        facts = {"se_model": loaded.similarity.name if loaded.similarity else "off", "threshold": loaded.threshold}
        facts |= {"guard": self._guard_facts(), **network_facts(self.runtime, loaded.quality)}
        return self._result(columns, scores, signature(self.name, self.settings, **facts), details)

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The quality of each prediction, and whether it passes the threshold."""
        loaded = self._loaded
        quality = sigmoid(estimate(self.name, loaded.quality, predictions, self.runtime))
        if loaded.similarity is None:
            return quality, np.ones(len(sources), bool)
        return quality, similarities(loaded.similarity, sources, predictions, self.runtime) > loaded.threshold
