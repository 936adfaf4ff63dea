"""IMPARA's objective on a causal language model: how likely the correction is, after learning what edits are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError, named
from geceval.core.inputs import Columns
from geceval.core.options import ModelName, RunTime, check_count, check_types
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.devices import network_facts
from geceval.scorers.learned.likelihoods import LikelihoodScorer, log_likelihoods, prose, word_counts
from geceval.scorers.learned.similarity import similar_enough

if TYPE_CHECKING:
    from geceval.models.causal import CausalModel
    from geceval.models.encoder import Encoder

OFF = -2.0
EMPTY = -100.0
"""q of a text without words, far below any sentence's: that a text ends at once is likelier than most sentences."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a score of IMPARA-LM.

    Attributes:
        model: The quality estimator: `"bundled"`, a small student of `"smollm2-impara"`; that, an adapter over the
            large model `"smollm2"`, which ranks systems more as people do; `"smollm2"` itself, untrained; a folder, or
            a Hub id, optionally with `@revision`; a causal language model or an adapter over one.
        relative: Whether the quality of the source is subtracted: the log-odds that the correction is the better of the
            two, 0 for a source left alone.
        se_model: The similarity estimator of IMPARA, an encoder without fine-tuning; used if there is a threshold.
        threshold: Similarity to the source that a correction must exceed, as in IMPARA. Off by default: the likelihood
            hardly rewards what strays from the source as system outputs do, and a threshold also fails genuine
            rewrites.
        max_length: Tokens, including the one that starts the text, beyond which a text is cut; `None` takes as many as
            the model reads.
    """

    model: ModelName = "bundled"
    relative: bool = False
    se_model: ModelName = "bundled"
    threshold: float = OFF
    max_length: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if math.isnan(self.threshold):
            raise InputError("threshold must be a number, got nan")
        if self.max_length is not None:
            check_count("max_length", self.max_length, least=2)  # the start and a token


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: CausalModel
    scale: float
    similarity: Encoder | None


class ImparaLm(LikelihoodScorer):
    """q(Y) = t * LL(Y) / sqrt(n) + w . h(Y) for a correction Y of n words; the corpus score is the mean.

    LL is the log-likelihood under a language model that learnt, on IMPARA's ranked pairs, to prefer the correction
    whose edits have more impact (Maeda et al. 2022, section 2.4); h is the mean of its token states after one of its
    layers, attention sinks left out, if the checkpoint has a head that reads them; t and w were learnt. The bundled
    student learnt its w from a large model, and has no likelihood: t = 0. The difference of two corrections of one
    source is the log-odds that the first is better; q by itself depends on the source.

    With a threshold, a correction that is not similar enough to its source gets the lower of its own quality and that
    of the source; the detail `failed` counts them. A text without words has q = -100, far below any sentence.
    """

    name = "impara_lm"
    description = (
        "Reference-free quality of the corrected sentence, by a language model that learnt which edits matter."
    )
    extra = "neural"
    Settings = Settings
    bounds = (None, None)
    reads_references = False

    _loaded: _Loaded | None = None

    @named("impara_lm")
    def load(self) -> None:
        """Load the language model and, if there is a threshold, the similarity estimator."""
        from geceval.models.causal import CausalModel
        from geceval.models.checkpoints import CheckpointError, resolve
        from geceval.models.encoder import Encoder

        if self._loaded is not None:
            return
        checkpoint = resolve(self.settings.model, bundled=self.name)
        model = CausalModel.load(checkpoint, self.runtime, self.settings.max_length)
        scale = float(checkpoint.setting("scale", 1.0))
        if scale == 0 and model.head is None:
            raise CheckpointError(
                f"{model.name}: its likelihood does not count (geceval_scale is 0) and it has no head"
            )
        similarity = None
        if self.settings.threshold >= -1:
            similarity = Encoder.load(resolve(self.settings.se_model), self.runtime)
        self._loaded = _Loaded(model, scale, similarity)

    def _score(self, columns: Columns) -> Result:
        self.load()
        loaded, texts = self._loaded, columns.predictions
        wanted = self._texts(columns.sources, texts)
        read = self._and_ahead(wanted, columns.sources, loaded.model)
        found = qualities(loaded.model, loaded.scale, read, self.runtime)[: len(wanted)]
        scores, before = found[: len(texts)], found[len(texts) :]
        passed = similar_enough(loaded.similarity, columns.sources, texts, self.settings.threshold, self.runtime)
        if before.size:
            scores = np.where(passed, scores, np.minimum(scores, before))
        if self.settings.relative:
            scores = scores - before
        details = {"failed": int((~passed).sum())}
        return Result(float(scores.mean()), scores.tolist(), self._signature(), details)

    def _texts(self, sources: Sequence[str], predictions: Sequence[str]) -> list[str]:
        needs_sources = self.settings.relative or self._loaded.similarity is not None
        return [*predictions, *(sources if needs_sources else ())]

    def _signature(self) -> str:
        loaded = self._loaded
        return signature(
            self.name,
            self.settings,
            model=loaded.model.name,
            start=loaded.model.start_token,
            se_model=loaded.similarity.name if loaded.similarity else "off",
            max_length=loaded.model.max_length,
            **network_facts(self.runtime),
        )


def qualities(model: CausalModel, scale: float, texts: Sequence[str], runtime: RunTime) -> np.ndarray:
    """q of each text: float64 [texts]; without a likelihood, its model is read without the output layer."""
    if scale == 0:
        found = model.head_values(prose(texts), runtime)
    else:
        totals, _, heads = log_likelihoods(model, texts, runtime)
        found = scale * totals / np.sqrt(word_counts(texts)) + heads
    return np.where([bool(text.split()) for text in texts], found, EMPTY)
