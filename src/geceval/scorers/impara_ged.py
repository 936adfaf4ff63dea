"""IMPARA-GED (Sakai et al., 2025): quality of a correction, by a network that has learnt to find errors first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from geceval.core.checks import check_choice, check_count, check_moderate
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import Columns
from geceval.core.result import Result
from geceval.core.signature import package_version, signature
from geceval.models.encoder import pick_dtype
from geceval.scorers.base import Scorer
from geceval.scorers.learned.detection import REDUCTIONS, load_detector, log_correct
from geceval.scorers.learned.estimators import estimate, get_estimator, sigmoid

if TYPE_CHECKING:
    from geceval.models.detector import Detector
    from geceval.models.encoder import Encoder


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a score of IMPARA-GED.

    Attributes:
        model: The quality estimator: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a sequence
            classifier with one output, such as `naist-nlp/IMPARA-GED`. How it pools the tokens stands in its
            `config.json`: `classifier_pooling` of ModernBERT, `geceval_pooling` of any other.
        max_length: Tokens, special ones included, beyond which a sentence is cut, for both networks. `None` takes
            `geceval_max_length` of the quality estimator's `config.json`, else 128.
        detector_weight: What an error detector's log P(correct) of the sentence counts beside the quality estimator's
            logit, not negative. 0, as published, does not even load the detector.
        detector: That detector: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a token classifier.
        detector_reduction: `"mean"` or `"sum"` of log P(correct) over the words of the sentence.
    """

    model: str = "bundled"
    max_length: int | None = None
    detector_weight: float = 0.0
    detector: str = "bundled"
    detector_reduction: str = "mean"

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not isinstance(self.detector, str):
            raise InputTypeError("impara_ged: model and detector must be strings: 'bundled', a folder or a Hub id")
        if self.max_length is not None:
            check_count("impara_ged: max_length", self.max_length, least=3)
        check_moderate("impara_ged: detector_weight", self.detector_weight)
        if self.detector_weight < 0:
            raise InputError(f"impara_ged: detector_weight must not be negative, got {self.detector_weight!r}")
        check_choice("impara_ged: detector_reduction", self.detector_reduction, REDUCTIONS)


class ImparaGed(Scorer):
    """Score(O) = sigmoid(R(O)) (Eq. 3), R(O) from the mean of O's token states; the corpus score is the mean.

    The source does not enter the number: there is no similarity estimator. With a detector the score is
    sigmoid(R(O) + weight · log P(correct | O)), the latter averaged or summed over the words.

    The score is the mean of the sentence scores, each in [0, 1]; the sources are checked but not used. An empty
    prediction is scored like any other: the quality estimator reads its special tokens only, and the detector finds no
    error.
    """

    name = "impara_ged"
    description = "Reference-free quality of the corrected sentence, by an encoder that learnt to find errors first."
    extra = "neural"
    Settings = Settings
    bounds = (0.0, 1.0)
    reads_references = False

    _loaded: tuple[Encoder, Detector | None] | None = None

    def load(self) -> None:
        """Load the networks, or take them from the cache of this process.

        Raises:
            CheckpointError: If a checkpoint cannot be used (a ValueError).
            ValueError: If the device or the maximum length is impossible.
        """
        from geceval.models.checkpoints import resolve

        if self._loaded is not None:
            return
        settings = self.settings
        checkpoint = resolve(settings.model, bundled=self.name)
        quality = get_estimator(checkpoint, self.runtime, settings.max_length)
        detector = None
        if settings.detector_weight:
            detector = load_detector(settings.detector, self.runtime, quality.max_length)
        self._loaded = quality, detector

    def _score(self, columns: Columns) -> Result:
        self.load()
        quality, detector = self._loaded
        logits = estimate(self.name, quality, columns.predictions, self.runtime)
        if detector is not None:
            found = log_correct(detector, columns.predictions, self.settings.detector_reduction, self.runtime)
            logits = logits + self.settings.detector_weight * found
        scores = sigmoid(logits)
        return Result(float(scores.mean()), scores.tolist(), self._signature())

    def _signature(self) -> str:
        quality, detector = self._loaded
        return signature(
            self.name,
            self.settings,
            model=quality.name,
            max_length=quality.max_length,
            detector=detector.name if detector else "off",
            dtype=pick_dtype(self.runtime),
            transformers=package_version("transformers"),
        )
