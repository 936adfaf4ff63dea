"""IMPARA's objective on a causal language model: how likely the correction is, after learning what edits are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Moderate, Range, RunTime
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.scorers.learned.estimators import similarities
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions
from geceval.scorers.learned.likelihoods import LikelihoodScorer, log_likelihoods, prose, word_counts

OFF = -2.0
EMPTY = -100.0
"""q of a text without words, far below any sentence's: that a text ends at once is likelier than most sentences."""


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of IMPARA-LM; each can change the score.

    Attributes:
        model: The quality estimator: `"bundled"`, a small student of `"smollm2-impara"`; that, an adapter over the
            large model `"smollm2"`, which ranks systems more as people do; `"smollm2"` itself, untrained; a folder, or
            a Hub id, optionally with `@revision`; a causal language model or an adapter over one.
        threshold: Similarity to the source that a correction must exceed, as in IMPARA, by the bundled encoder. Off by
            default: the likelihood hardly rewards what strays from the source as system outputs do, and a threshold
            also fails genuine rewrites; turn it on for a reward.
    """

    model: ModelName = "bundled"
    threshold: Moderate = OFF
    max_length: Annotated[int, Range(2)] | None = None  # the start and a token


class ImparaLm(LikelihoodScorer):
    """q(Y) = t * LL(Y) / sqrt(n) + w . h(Y) for a correction Y of n words; the corpus score is the mean.

    With a threshold, a correction that is not similar enough to its source gets the lower of its own quality and that
    of the source; the detail `failed` counts them.
    """

    name = "impara_lm"
    description = (
        "Reference-free quality of the corrected sentence, by a language model that learnt which edits matter."
    )
    extra = "neural"
    Settings = Settings
    form = "prose"
    effect = Effect(unit=1.0, lowest=EMPTY, reward_range=(-12, 6))
    guards_by_default = True

    _scale = 1.0
    _similarity: Encoder | None = None

    def _load(self) -> None:
        super()._load()
        self._scale = float(self._checkpoint.setting("scale", 1.0))
        if self._scale == 0 and self._model.head is None:
            raise CheckpointError(
                f"{self._model.name} has no head, and its likelihood does not count (geceval_scale 0)"
            )
        if self.settings.threshold >= -1:
            self._similarity = Encoder.load(resolve("bundled"), self.runtime)

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        scores, passed = self._read_ahead(columns)
        encoder = self._similarity.name if self._similarity else "off"
        line = signature(self.name, self.settings, se_model=encoder, **self._facts())
        return self._result(columns, scores, line, {"failed": int((~passed).sum())})

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The score of each row, and whether it passes the threshold."""
        if self._similarity is None:
            scores = qualities(self._model, self._scale, predictions, self.runtime)
            return scores, np.ones(len(scores), bool)
        both = qualities(self._model, self._scale, [*predictions, *sources], self.runtime)
        scores, before = both[: len(predictions)], both[len(predictions) :]
        passed = similarities(self._similarity, sources, predictions, self.runtime) > self.settings.threshold
        return np.where(passed, scores, np.minimum(scores, before)), passed


def qualities(model: CausalModel, scale: float, texts: Sequence[str], runtime: RunTime) -> np.ndarray:
    """q of each text: float64 [texts]; without a likelihood, its model is read without the output layer."""
    if scale == 0:
        values = model.head_values(prose(texts), runtime)
    else:
        totals, _, heads = log_likelihoods(model, texts, runtime)
        values = scale * totals / np.sqrt(word_counts(texts)) + heads
    return np.where([bool(text.split()) for text in texts], values, EMPTY)
