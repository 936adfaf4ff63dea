"""Scribendi Score (Islam and Magnani, 2021): does a language model like the correction better than the source?"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, named
from geceval.core.inputs import Columns
from geceval.core.options import ModelName, check_count, check_types
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.devices import network_facts
from geceval.scorers.learned.likelihoods import LikelihoodScorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from geceval.models.causal import CausalModel
    from geceval.models.checkpoints import Checkpoint

logger = logging.getLogger("geceval")

PUBLISHED, SUBSTITUTE = "gpt2", "smollm2"
THRESHOLD = 0.8
EQUAL = 1e-5  # relative; closer perplexities differ by the rounding of a batch, not by the model

_LATIN_1 = dict.fromkeys(range(0x80, 0x100))


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a Scribendi Score.

    Attributes:
        model: The causal language model: a name that `geceval models` lists, a folder, or a Hub id, optionally with
            `@revision`. None is bundled. `None` takes `"gpt2"`, the published one, from the Hub or its local cache; if
            it cannot be had, `"smollm2"`, with a warning. The signature names the one that was taken.
        threshold: Similarity to the source, in [0, 1], that a correction must reach.
        max_length: Tokens, including the one that starts the text, beyond which a text is cut; `None` takes as many as
            the model reads.
    """

    model: ModelName | None = None
    threshold: float = THRESHOLD
    max_length: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold must lie between 0 and 1, got {self.threshold!r}")
        if self.max_length is not None:
            check_count("max_length", self.max_length, least=2)  # the start and a token


class Scribendi(LikelihoodScorer):
    """0 for a source left alone; 1 if the correction is less perplexing and similar enough; else -1.

    The corpus score is the sum over the sentences, as published.

    Each sentence score is -1, 0 or 1; the details `positive`, `unchanged` and `negative` count them. A correction from
    or to an empty text is worth -1.
    """

    name = "scribendi"
    description = (
        "Scribendi Score: whether a language model likes a correction better than its source, summed over sentences."
    )
    extra = "neural"
    Settings = Settings
    bounds = (None, None)
    reads_references = False
    default_model = PUBLISHED

    def load(self) -> None:
        """Load the model, or take it from the cache of this process."""
        self._model()

    def _score(self, columns: Columns) -> Result:
        model = self._model()
        texts = self._texts(columns.sources, columns.predictions)
        read = self._and_ahead(texts, columns.sources, model)
        perplexities = model.perplexities(read, self.runtime)[: len(texts)].reshape(-1, 2)
        changed = list(zip(texts[::2], texts[1::2], strict=True))
        verdicts = dict(zip(changed, map(self._verdict, changed, perplexities), strict=True))
        scores = [verdicts.get(pair, 0.0) for pair in zip(columns.sources, columns.predictions, strict=True)]
        details = {
            "positive": scores.count(1.0),
            "unchanged": scores.count(0.0),
            "negative": scores.count(-1.0),
        }
        return Result(float(sum(scores)), scores, self._signature(model), details)

    def _texts(self, sources: Sequence[str], predictions: Sequence[str]) -> list[str]:
        """Each source that was changed, and its correction."""
        pairs = zip(sources, predictions, strict=True)
        return [text for pair in pairs if pair[0] != pair[1] for text in pair]

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The sum of each sample: `[samples][sentences]` to `[samples]`."""
        return rows.sum(axis=-1)

    def _verdict(self, pair: tuple[str, str], perplexities: np.ndarray) -> float:
        before, after = perplexities
        better = before > after * (1 + EQUAL)
        return 1.0 if better and similarity(*pair) >= self.settings.threshold else -1.0

    @named("scribendi")
    def _model(self) -> CausalModel:
        from geceval.models.causal import CausalModel
        from geceval.models.checkpoints import resolve

        model = self.settings.model
        # none is bundled, which the error says
        checkpoint = _default_checkpoint() if model is None else resolve(model, bundled=self.name)
        return CausalModel.load(checkpoint, self.runtime, self.settings.max_length)

    def _signature(self, model: CausalModel) -> str:
        return signature(
            self.name,
            self.settings,
            model=model.name,
            max_length=model.max_length,
            **network_facts(self.runtime),
        )


@lru_cache(maxsize=None)
def _default_checkpoint() -> Checkpoint:
    """The published model; where it cannot be had its substitute, with a warning."""
    from geceval.models.checkpoints import CheckpointError, resolve

    try:
        return resolve(PUBLISHED)
    except CheckpointError as error:
        try:
            checkpoint = resolve(SUBSTITUTE)
        except CheckpointError as other:
            raise CheckpointError(f"{error}; or use its substitute: {other}") from other
        logger.warning("scribendi: %s is used in place of %s; pass model= to choose (%s)", SUBSTITUTE, PUBLISHED, error)
        return checkpoint


def similarity(source: str, prediction: str) -> float:
    """The larger of the token sort ratio and the Levenshtein distance ratio of two texts, in [0, 1]."""
    return max(token_sort_ratio(source, prediction) / 100, distance_ratio(source, prediction))


def distance_ratio(left: str, right: str) -> float:
    """1 - d / (|left| + |right|) over characters, where d counts an insertion or deletion as 1, a replacement as 2."""
    # 1 for two empty texts.
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(left, right)


def token_sort_ratio(left: str, right: str) -> int:
    """The `distance_ratio` of two texts with their words sorted, as a percentage."""
    # The published score takes this from fuzzywuzzy (0.18 with python-Levenshtein), and so do we: characters of Latin-1
    # beyond ASCII are dropped, all but letters, digits and underscores become spaces, case is ignored, and the
    # percentage is rounded to a whole number. rapidfuzz's function of that name does none of these by itself.
    return round(100 * distance_ratio(_sorted_words(left), _sorted_words(right)))


def _sorted_words(text: str) -> str:
    return " ".join(sorted(re.sub(r"\W", " ", text.translate(_LATIN_1)).lower().split()))
