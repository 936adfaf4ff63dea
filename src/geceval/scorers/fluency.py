"""Fluency: how probable a causal language model finds a corrected sentence, by itself or beside its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.errors import InputError, named
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, ModelName, RunTime, check_choice, check_count, check_types
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.devices import network_facts
from geceval.scorers.learned.likelihoods import LikelihoodScorer, log_likelihoods, word_counts
from geceval.scorers.learned.unigrams import BUNDLED, Unigrams, load_unigrams

if TYPE_CHECKING:
    from geceval.models.causal import CausalModel

DEFAULT = "smollm2"
NORMALIZATIONS = ("sqrt", "mean", "sum", "ge2018", "slor")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a fluency.

    Attributes:
        model: The causal language model: `"smollm2"` or another name that `geceval models` lists, a folder, or a Hub
            id, optionally with `@revision`.
        normalization: What becomes of LL, the sum of log P(token | before) over a text of n words: `"sqrt"`,
            LL / sqrt(n); `"mean"`, LL / n; `"sum"`, LL; `"ge2018"`, 1 / (1 + H), H = -LL / tokens; `"slor"`,
            (LL - U) / n, U the sum of the unigram log-probabilities of its words.
        detokenize: Whether the model reads texts as prose, without the spaces of tokenisation; n counts the words of
            the text as given.
        start: The token that starts a text; `None` takes the checkpoint's own.
        relative: Whether the fluency of the source is subtracted.
        unigrams: Where the unigram log-probabilities of `"slor"` come from: `"bundled"`, `"wordfreq"` or a file, see
            `geceval.scorers.learned.unigrams.load_unigrams`.
        max_length: Tokens, including the one that starts the text, beyond which a text is cut: what lies beyond
            is taken to be as probable as what was read. `None` takes as many as the model reads.
    """

    model: ModelName = DEFAULT
    normalization: str = "sqrt"
    detokenize: bool = True
    start: str | None = None
    relative: bool = False
    unigrams: FilePath = BUNDLED
    max_length: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        if self.start == "":
            raise InputError("start must be a token of the model's vocabulary, or None for the checkpoint's own")
        if self.max_length is not None:
            check_count("max_length", self.max_length, least=2)  # the start and a token


class Fluency(LikelihoodScorer):
    """The log-likelihood of a correction under a causal language model, normalised by its length.

    The score is the mean of the sentence scores. A text without words is scored as one word, that the text ends at
    once: its log-likelihood is log P(end of text | start). With `relative`, the score of the source is subtracted, so
    that a source left alone has 0; otherwise the sources are checked but not used.
    """

    name = "fluency"
    description = "How probable a causal language model finds the corrected sentence, normalised by its length."
    extra = "lm"
    Settings = Settings
    bounds = (None, 0.0)
    reads_references = False

    _unigrams: Unigrams | None = None

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        super().__init__(settings, runtime)
        self.bounds = _bounds(self.settings.normalization, self.settings.relative)

    @named("fluency")
    def load(self) -> None:
        """Load the model and the unigram log-probabilities, or take the model from the cache of this process."""
        self._model()
        if self.settings.normalization == "slor" and self._unigrams is None:
            self._unigrams = load_unigrams(self.settings.unigrams)

    def _score(self, columns: Columns) -> Result:
        self.load()
        texts = self._texts(columns.sources, columns.predictions)
        found = self._fluency(self._and_ahead(texts, columns.sources, self._model()))[: len(texts)]
        if self.settings.relative:
            found = found[: len(columns.predictions)] - found[len(columns.predictions) :]
        return Result(float(found.mean()), found.tolist(), signature(self.name, self.settings, **self.facts()))

    def _texts(self, sources: Sequence[str], predictions: Sequence[str]) -> list[str]:
        return [*predictions, *(sources if self.settings.relative else ())]

    def _fluency(self, texts: Sequence[str]) -> np.ndarray:
        """Normalised log-likelihoods: float64 [texts]."""
        kind = self.settings.normalization
        totals, tokens, _ = log_likelihoods(self._model(), texts, self.runtime, self.settings.detokenize)
        words = word_counts(texts)
        if kind == "sqrt":
            return totals / np.sqrt(words)
        if kind == "sum":
            return totals
        if kind == "ge2018":
            return 1 / (1 - totals / tokens)
        if kind == "slor":
            totals = totals - [self._unigrams.log_probability(text) for text in texts]
        return totals / words

    @named("fluency")
    def _model(self) -> CausalModel:
        from geceval.models.causal import CausalModel
        from geceval.models.checkpoints import resolve

        checkpoint = resolve(self.settings.model, bundled=self.name)  # none is bundled, which the error says
        return CausalModel.load(checkpoint, self.runtime, self.settings.max_length, start=self.settings.start)

    def facts(self) -> dict[str, Any]:
        """What the signature says of the model and the unigrams, once they are loaded."""
        model = self._model()
        return {
            "model": model.name,
            "start": model.start_token,
            "unigrams": self._unigrams.name if self._unigrams else "unused",
            "max_length": model.max_length,
            **network_facts(self.runtime),
        }


def _bounds(normalization: str, relative: bool) -> tuple[float | None, float | None]:
    if normalization == "ge2018":
        return (-1.0, 1.0) if relative else (0.0, 1.0)
    return (None, None if relative or normalization == "slor" else 0.0)
