"""The reference-free metric of Asano et al. (2017): grammaticality, fluency and meaning in a weighted sum."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import named
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, ModelName, RunTime, check_choice, check_types
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.scorers import fluency
from geceval.scorers.base import Scorer
from geceval.scorers.learned.detection import load_detector
from geceval.scorers.learned.estimators import estimate
from geceval.scorers.learned.submetric_weights import SUBMETRICS, check_weights
from geceval.scorers.learned.unigrams import BUNDLED
from geceval.scorers.ngram.meteor import meteor, versions

if TYPE_CHECKING:
    from geceval.models.detector import Detector
    from geceval.models.encoder import Encoder
    from geceval.models.regressors import StateRegressor

WEIGHTS = {"some-system": (0.07, 0.83, 0.10), "some-sentence": (0.02, 0.82, 0.16)}
"""What Yoshimura et al. (2020) tuned for this metric, on systems and on sentences."""
GRAMMARS = ("detector", "regressor")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a score.

    Attributes:
        weights: Weights of grammaticality, fluency and meaning: `"some-system"` (.07, .83, .10), `"some-sentence"`
            (.02, .82, .16), or three non-negative numbers. The score is their weighted sum.
        grammar: What grammaticality is: `"detector"`, 1 - errors / words by an error detector; `"regressor"`,
            (rating - 1) / 3 by the first of the regressors of SOME.
        grammar_model: The detector, or a folder of SOME's form with the regressor in its sub-folder `grammer` (sic):
            `"bundled"`, `"smollm2-some"`, a folder, or a Hub id, optionally with `@revision`.
        model: The causal language model of the fluency, which is `fluency` with `normalization="slor"`.
        start, detokenize, unigrams, max_length: As of `fluency`. What grammar_model reads of a text is stored with it.
        synonyms: `"wordnet"` lets METEOR match synonyms too, for which nltk and its WordNet must be installed.
    """

    weights: str | tuple[float, float, float] = "some-sentence"
    grammar: str = "detector"
    grammar_model: ModelName = BUNDLED
    model: ModelName = fluency.DEFAULT
    start: str | None = None
    detokenize: bool = True
    unigrams: FilePath = BUNDLED
    max_length: int | None = None
    synonyms: str | None = None

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("grammar", self.grammar, GRAMMARS)
        if self.synonyms is not None:
            check_choice("synonyms", self.synonyms, ("wordnet",))
        object.__setattr__(self, "weights", check_weights(self.weights, WEIGHTS))
        self.of_fluency()  # checks what it takes over

    @property
    def triple(self) -> tuple[float, float, float]:
        """The weights of grammaticality, fluency and meaning as numbers."""
        return WEIGHTS[self.weights] if isinstance(self.weights, str) else self.weights

    def of_fluency(self) -> fluency.Settings:
        """The settings of `fluency` that give F."""
        names = ("model", "start", "detokenize", "unigrams", "max_length")
        return fluency.Settings(normalization="slor", **{name: getattr(self, name) for name in names})


class Asano2017(Scorer):
    """Score(X, Y) = w_g·G(Y) + w_f·F(Y) + w_m·M(X, Y); the corpus score is the mean.

    G is what `Settings.grammar` says; F = (log P_m(Y) - log P_u(Y)) / |Y|, SLOR, the log-probability of Y under a
    language model less that of its words, per word; M is METEOR of Y against X. G and M of the default settings lie in
    [0, 1], F has no bounds. Nothing is scaled or clipped.

    The details hold for each of `grammaticality`, `fluency` and `meaning` the mean sub-score under that name and one
    sub-score per sentence under `<name>_scores`. A prediction without words has no errors, and a METEOR of 0 unless its
    source has no words either.
    """

    name = "asano2017"
    description = "Grammaticality, fluency by a language model and METEOR against the source, reference-free."
    extra = "lm,meteor"
    Settings = Settings
    bounds = (None, None)
    reads_references = False

    _grammar: Detector | Encoder | StateRegressor | None = None

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        super().__init__(settings, runtime)
        self._fluency = fluency.Fluency(self.settings.of_fluency(), self.runtime)

    @named("asano2017")
    def load(self) -> None:
        """Load both networks, or take them from the cache of this process."""
        versions(self.settings.synonyms is not None)
        self._fluency.load()
        if self._grammar is None:
            self._grammar = self._load_grammar()

    def _load_grammar(self) -> Detector | Encoder | StateRegressor:
        from geceval.models.checkpoints import resolve
        from geceval.models.regressors import load_regressor

        if self.settings.grammar == "detector":
            return load_detector(self.settings.grammar_model, self.runtime)
        checkpoint = resolve(self.settings.grammar_model, bundled="some", part="grammer")
        return load_regressor(checkpoint, self.runtime)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Asano2017:
        """This scorer, with a fluency that reads the texts of all systems together."""
        scorer = copy.copy(self)
        scorer._fluency = self._fluency.with_systems(systems)
        return scorer

    def _score(self, columns: Columns) -> Result:
        self.load()
        synonyms = self.settings.synonyms is not None
        pairs = zip(columns.predictions, columns.sources, strict=True)
        parts = {
            "grammaticality": self._grammaticality(columns.predictions),
            "fluency": np.array(self._fluency.score(columns.sources, columns.predictions).scores),
            "meaning": np.array([meteor(*pair, synonyms) for pair in pairs]),
        }
        scores = sum(weight * parts[part] for part, weight in zip(SUBMETRICS, self.settings.triple, strict=True))
        details = {part: float(values.mean()) for part, values in parts.items()}
        details |= {f"{part}_scores": values.tolist() for part, values in parts.items()}
        return Result(float(scores.mean()), scores.tolist(), self._signature(), details)

    def _grammaticality(self, texts: list[str]) -> np.ndarray:
        """G of each text: [texts]."""
        if self.settings.grammar == "regressor":
            return (estimate(self.name, self._grammar, texts, self.runtime, "the regressor of grammaticality") - 1) / 3
        correct = self._grammar.correct
        labels = self._grammar.label_ids(texts, runtime=self.runtime)
        return np.array([np.mean([label == correct for label in row]) if row else 1.0 for row in labels])

    def _signature(self) -> str:
        return signature(
            self.name,
            self.settings,
            weights=self.settings.triple,
            grammar_model=self._grammar.name,
            grammar_max_length=self._grammar.max_length,
            **versions(self.settings.synonyms is not None),
            **self._fluency.facts(),
        )
