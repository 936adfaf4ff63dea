"""The reference-free metric of Asano et al. (2017): grammaticality, fluency and meaning in a weighted sum."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.errors import naming_the_extra
from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Range
from geceval.core.result import Result
from geceval.core.signature import package_version, signature
from geceval.models.detector import Detector
from geceval.scorers.learned.detection import load_detector
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions
from geceval.scorers.learned.likelihoods import LikelihoodScorer, load_unigrams, slor
from geceval.scorers.some import Weights, weighted_sum, weights_of

WEIGHTS = {"some-system": (0.07, 0.83, 0.10), "some-sentence": (0.02, 0.82, 0.16)}
"""Tuned by Yoshimura et al. (2020) for this metric, on systems and on sentences."""
ALPHA = 0.85


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of the metric of Asano et al.; each can change the score.

    Attributes:
        weights: Weights of grammaticality, fluency and meaning: `"some-system"` (.07, .83, .10), `"some-sentence"`
            (.02, .82, .16), or three non-negative numbers. The score is their weighted sum.
        grammar_model: The error detector, whose share of correct words is the grammaticality: `"bundled"`, a folder, or
            a Hub id, optionally with `@revision`.
        model: The causal language model of the fluency, which is `fluency` with `normalization="slor"`.
        max_length: Tokens beyond which the language model does not read, as of `fluency`. The detector's own limit is
            stored in its checkpoint.
    """

    weights: Literal["some-system", "some-sentence"] | Weights = "some-sentence"
    grammar_model: ModelName = "bundled"
    model: ModelName = "smollm2"
    max_length: Annotated[int, Range(2)] | None = None  # the start and a token

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        weights_of(self.weights, WEIGHTS)


class Asano2017(LikelihoodScorer):
    """w_g·G(Y) + w_f·F(Y) + w_m·M(X, Y): the detector's share of correct words, SLOR and METEOR; the card says more."""

    name = "asano2017"
    description = "Grammaticality, fluency by a language model and METEOR against the source, reference-free."
    extra = "lm,meteor"
    Settings = Settings
    effect = Effect(unit=0.25, lowest=-100.0, reward_range=(-5, 10))

    _detector: Detector | None = None

    def _load(self) -> None:
        stemmer_version()  # an error where the stemmer is missing
        super()._load()
        if self._detector is None:
            self._detector = load_detector(self.settings.grammar_model, self.runtime)

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        pairs = zip(columns.predictions, columns.sources, strict=True)
        parts = {
            "grammaticality": self._grammaticality(columns.predictions),
            "fluency": self._read_ahead(columns),
            "meaning": np.array([meteor(*pair) for pair in pairs]),
        }
        scores, details = weighted_sum(parts, weights_of(self.settings.weights, WEIGHTS))
        return self._result(columns, scores, self._signature(), details)

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> np.ndarray:
        """F of each prediction: [sentences]."""
        return slor(self._model, predictions, self.runtime)

    def _grammaticality(self, texts: list[str]) -> np.ndarray:
        """G of each text: [texts]."""
        correct = self._detector.correct
        labels = self._detector.label_ids(texts, runtime=self.runtime)
        return np.array([np.mean([label == correct for label in row]) if row else 1.0 for row in labels])

    def _signature(self) -> str:
        return signature(
            self.name,
            self.settings,
            weights=weights_of(self.settings.weights, WEIGHTS),
            grammar_model=self._detector.name,
            grammar_max_length=self._detector.max_length,
            unigrams=load_unigrams().name,
            snowballstemmer=stemmer_version(),
            **self._facts(),
        )


def meteor(prediction: str, source: str) -> float:
    """METEOR (Banerjee and Lavie 2005) without its penalty: PR / (.85 P + .15 R), P, R the shares of words matched."""
    # Words are separated by white space and compared in lower case. METEOR matches equal words, then words of one stem
    # (Snowball's English stemmer), one to one; as equal words have equal stems, counting stems finds as many.
    left, right = prediction.lower().split(), source.lower().split()
    if not left or not right:
        return float(left == right)
    matched = (Counter(map(_stem, left)) & Counter(map(_stem, right))).total()
    precision, recall = matched / len(left), matched / len(right)
    return precision * recall / (ALPHA * precision + (1 - ALPHA) * recall) if matched else 0.0


def stemmer_version() -> str:
    """The version of the stemmer, for the signature."""
    _stem("words")  # raises if the package is missing
    return package_version("snowballstemmer")


@lru_cache(100_000)
def _stem(word: str) -> str:
    with naming_the_extra("METEOR"):
        import snowballstemmer

    return snowballstemmer.stemmer("english").stemWord(word)  # a stemmer has a state, which threads must not share
