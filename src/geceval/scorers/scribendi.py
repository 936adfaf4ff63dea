"""Scribendi Score (Islam and Magnani, 2021): does a language model like the correction better than the source?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from rapidfuzz.distance import Indel

from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Range, Share
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions
from geceval.scorers.learned.likelihoods import LikelihoodScorer

EQUAL = 1e-5  # relative; closer perplexities differ by the rounding of a batch, not by the model

_LATIN_1 = dict.fromkeys(range(0x80, 0x100))


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of Scribendi Score; each can change the score.

    Attributes:
        model: The causal language model: `"gpt2"`, the published one, from the Hub or its local cache; a name that
            `geceval models` lists, a folder, or another Hub id, optionally with `@revision`. None is bundled.
        threshold: Similarity to the source, in [0, 1], that a correction must reach.
    """

    model: ModelName = "gpt2"
    threshold: Share = 0.8
    max_length: Annotated[int, Range(2)] | None = None  # the start and a token


class Scribendi(LikelihoodScorer):
    """0 for an unchanged source, 1 for a less perplexing correction similar enough, else -1; the corpus has the sum."""

    name = "scribendi"
    description = (
        "Scribendi Score: whether a language model likes a correction better than its source, summed over sentences."
    )
    extra = "neural"
    Settings = Settings
    effect = Effect(unit=1 / 6, lowest=-1.0)

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        perplexities = self._read_ahead(columns)
        changed = _changed(columns.sources, columns.predictions)
        verdicts = dict(zip(changed, map(self._verdict, changed, perplexities), strict=True))
        scores = [verdicts.get(pair, 0.0) for pair in zip(columns.sources, columns.predictions, strict=True)]
        details = {"positive": scores.count(1.0), "unchanged": scores.count(0.0), "negative": scores.count(-1.0)}
        line = signature(self.name, self.settings, **self._facts())
        return self._result(columns, np.array(scores), line, details)

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> np.ndarray:
        """The perplexities of each changed source and its correction: [pairs, 2]."""
        texts = [text for pair in _changed(sources, predictions) for text in pair]
        return self._model.perplexities(texts, self.runtime).reshape(-1, 2)

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The sum of each sample: `[samples][sentences]` to `[samples]`."""
        return rows.sum(axis=-1)

    def _verdict(self, pair: tuple[str, str], perplexities: np.ndarray) -> float:
        before, after = perplexities
        better = before > after * (1 + EQUAL)
        return 1.0 if better and similarity(*pair) >= self.settings.threshold else -1.0


def _changed(sources: Sequence[str], predictions: Sequence[str]) -> list[tuple[str, str]]:
    """The sources that were changed, each with its correction."""
    return [pair for pair in zip(sources, predictions, strict=True) if pair[0] != pair[1]]


def similarity(source: str, prediction: str) -> float:
    """The larger of the token sort ratio and the Levenshtein distance ratio of two texts, in [0, 1]."""
    # The ratio is 1 - d / (|left| + |right|), where d counts an insertion or deletion as 1, a replacement as 2.
    return max(token_sort_ratio(source, prediction) / 100, Indel.normalized_similarity(source, prediction))


def token_sort_ratio(left: str, right: str) -> int:
    """The ratio of two texts with their words sorted, as a percentage."""
    # The published score takes this from fuzzywuzzy (0.18 with python-Levenshtein), and so do we: characters of Latin-1
    # beyond ASCII are dropped, all but letters, digits and underscores become spaces, case is ignored, and the
    # percentage is rounded to a whole number. rapidfuzz's function of that name does none of these by itself.
    return round(100 * Indel.normalized_similarity(_sorted_words(left), _sorted_words(right)))


def _sorted_words(text: str) -> str:
    return " ".join(sorted(re.sub(r"\W", " ", text.translate(_LATIN_1)).lower().split()))
