"""Fluency: how probable a causal language model finds a corrected sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Range, RunTime
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions
from geceval.scorers.learned.likelihoods import LikelihoodScorer, load_unigrams, log_likelihoods, slor, word_counts

EFFECTS = {
    "sqrt": Effect(unit=1.775, lowest=-100.0, reward_range=(-60, 0)),
    "ge2018": Effect(unit=0.1, lowest=0.0, on_logit=True),
    "slor": Effect(unit=0.3, lowest=-100.0, reward_range=(-5, 10)),
}
"""By normalisation: the spread of its gains beside that of `impara_lm`'s."""


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of the fluency; each can change the score.

    Attributes:
        model: The causal language model: `"smollm2"` or another name that `geceval models` lists, a folder, or a Hub
            id, optionally with `@revision`.
        normalization: What becomes of LL, the sum of log P(token | before) over a text of n words: `"sqrt"`,
            LL / sqrt(n); `"ge2018"`, 1 / (1 + H), H = -LL / tokens; `"slor"`, (LL - U) / n, U the sum of the unigram
            log-probabilities of its words.
        detokenize: Whether the model reads texts as prose, without the spaces of tokenisation; n counts the words of
            the text as given.
        max_length: Tokens, including the one that starts the text, beyond which a text is cut: what lies beyond
            is taken to be as probable as what was read. `None` takes as many as the model reads.
    """

    model: ModelName = "smollm2"
    normalization: Literal["sqrt", "ge2018", "slor"] = "sqrt"
    detokenize: bool = True
    max_length: Annotated[int, Range(2)] | None = None  # the start and a token


class Fluency(LikelihoodScorer):
    """The log-likelihood of a correction under a causal language model, normalised by its length."""

    name = "fluency"
    description = "How probable a causal language model finds the corrected sentence, normalised by its length."
    extra = "lm"
    Settings = Settings
    bounds = (None, 0.0)
    guards_by_default = True

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        super().__init__(settings, runtime)
        self.bounds = {"sqrt": (None, 0.0), "ge2018": (0.0, 1.0), "slor": (None, None)}[self.settings.normalization]
        self.effect = EFFECTS[self.settings.normalization]

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        scores = self._read_ahead(columns)
        unigrams = load_unigrams().name if self.settings.normalization == "slor" else "unused"
        line = signature(self.name, self.settings, unigrams=unigrams, **self._facts())
        return self._result(columns, scores, line)

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> np.ndarray:
        """Normalised log-likelihoods: float64 [texts]."""
        if self.settings.normalization == "slor":
            return slor(self._model, predictions, self.runtime, self.settings.detokenize)
        totals, tokens, _ = log_likelihoods(self._model, predictions, self.runtime, self.settings.detokenize)
        if self.settings.normalization == "ge2018":
            return 1 / (1 - totals / tokens)
        return totals / np.sqrt(word_counts(predictions))
