"""GLEU for grammatical error correction (Napoles et al., 2015, 2016), not the GLEU of machine translation."""

import functools
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, Range
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.scorers.base import TextOptions
from geceval.scorers.ngram.ngrams import ORDER, Corpus, Ngrams, NgramScorer, Unit, reference_mask, sentence_rows
from geceval.scorers.references.gold import gold_facts

BLOCK = 4096  # sentences whose draws are applied at once


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of GLEU; each can change the score.

    Attributes:
        counting: `"released"`: as the authors' code counts, where an n-gram of the source is penalised only if the
            reference lacks it altogether, and a sentence never counts below 0. `"paper"`: the formula of the 2016
            paper, which penalises every surplus occurrence and lets a sentence's count fall below 0.
        sampler: How the corpus score deals with several references. `"python2"`: one reference per sentence is drawn in
            each iteration, as Python 2 drew them (the published numbers); `"expectation"`: no draws, every statistic
            is replaced by its expectation under a uniform draw.
        iterations: Draws; the corpus score is their mean. If no sentence has several references, only one is made.
        smoothing: Whether a sentence score replaces zero statistics by 1, as the authors' code does; if not, a
            sentence without a match of some order scores 0. The corpus score is never smoothed.
    """

    counting: Literal["released", "paper"] = "released"
    sampler: Literal["python2", "expectation"] = "python2"
    iterations: Annotated[int, Range(1, 100_000)] = 500
    smoothing: bool = True
    unit: Unit = "word"
    gold_m2: FilePath | None = None


class Gleu(NgramScorer):
    """GLEU+: n-grams shared with the reference, less those shared with the source alone; the card has the formula."""

    name = "gleu"
    description = "GLEU for grammatical error correction, not the GLEU of machine translation."
    Settings = Settings
    missing_reference = 0.0

    def _score(self, columns: Columns) -> Result:
        settings = self.settings
        exists = reference_mask(columns)
        refs = number_range(exists.sum(axis=0).tolist())
        count = functools.partial(sentence_statistics, settings=settings)
        statistics = sentence_rows(columns, settings.unit, count) * exists[..., None]
        rows = np.concatenate([statistics, exists[..., None]], axis=-1).swapaxes(0, 1)
        draws = self._draws(rows[None])[0]
        return Result(
            score=float(draws.mean()),
            scores=self._sentence_scores(statistics, exists),
            signature=signature(self.name, settings, refs=refs, **gold_facts(settings.gold_m2)),
            details={"sd": float(draws.std())},
            statistics=rows,
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """GLEU of each sample, `[samples]`."""
        return self._draws(rows).mean(axis=1)

    def _draws(self, rows: np.ndarray) -> np.ndarray:
        """GLEU of each sample in each iteration, `[samples][iterations]`."""
        settings = self.settings
        statistics, counts = np.moveaxis(rows[..., :-1], 2, 0), rows[..., -1].sum(axis=2).astype(np.int64)
        if settings.sampler == "expectation":
            return gleu((statistics.sum(axis=0) / counts[..., None]).sum(axis=1, keepdims=True))
        first = statistics[0].sum(axis=1, keepdims=True)
        if len(statistics) == 1:
            return gleu(first)
        totals = np.repeat(first, settings.iterations, axis=1)
        # Python 2 draws for each sentence independently of the others, so all sentences with the same number of
        # references can be handled together, whichever sample they belong to.
        for count in np.unique(counts).tolist():
            drawn = draw_references(settings.iterations, count, counts.shape[1])
            for r in range(1, count):
                differences = (statistics[r] - statistics[0]) * (counts == count)[..., None]
                totals += _apply_draws(drawn, r, differences)
        return gleu(totals)

    def _sentence_scores(self, statistics: np.ndarray, exists: np.ndarray) -> list[float]:
        """Mean over a sentence's references, `[sentences]`."""
        statistics = np.maximum(statistics, 0)
        if self.settings.smoothing:
            statistics = np.where(statistics == 0, 1, statistics)
        return ((gleu(statistics) * exists).sum(axis=0) / exists.sum(axis=0)).tolist()


def sentence_statistics(corpus: Corpus, settings: Settings) -> np.ndarray:
    """The sufficient statistics of each reference and sentence."""
    sentences, lengths = corpus.sentences, corpus.lengths[2:]
    statistics = np.zeros((len(lengths), sentences, 2 * ORDER + 2))
    for n, ngrams in enumerate(corpus.ngrams):
        for r, reference in enumerate(ngrams.references):
            counts = ngrams.sum(_matches(ngrams, reference, settings.counting), sentences)
            statistics[r, :, n] = np.maximum(counts, 0) if settings.counting == "released" else counts
        statistics[:, :, ORDER + n] = np.maximum(corpus.lengths[1] - n, 0)
    statistics[:, :, -2] = corpus.lengths[1]
    statistics[:, :, -1] = lengths
    return statistics


def gleu(statistics: np.ndarray) -> np.ndarray:
    """GLEU of sums of statistics, `[...][2·ORDER + 2]` to `[...]`; 0 wherever a statistic is not positive."""
    defined = (statistics > 0).all(axis=-1)
    safe = np.where(defined[..., None], statistics, 1.0)
    logs = np.log(safe[..., :ORDER]) - np.log(safe[..., ORDER : 2 * ORDER])
    brevity = np.minimum(0.0, 1.0 - safe[..., -1] / safe[..., -2])
    return np.where(defined, np.exp(brevity + logs.mean(axis=-1)), 0.0)


@lru_cache(maxsize=8)
def draw_references(iterations: int, references: int, sentences: int) -> np.ndarray:
    """The reference that each iteration draws for each sentence; iteration j is seeded with 101·j."""
    # Python 2 drew `int(random() * references)`. The seeding of `random` by an int is the `init_by_array` of the
    # Mersenne Twister, and also that of NumPy's frozen `RandomState` when it gets a list.
    drawn = np.empty((iterations, sentences), dtype=np.uint8 if references <= 256 else np.uint32)
    generator = np.random.RandomState(0)
    for j in range(iterations):
        generator.seed([101 * j])
        drawn[j] = generator.random_sample(sentences) * references
    return drawn


def _apply_draws(drawn: np.ndarray, reference: int, differences: np.ndarray) -> np.ndarray:
    """Sum the rows of each sample that draw a reference, `[samples][iterations][n]`, by products of two matrices."""
    samples, sentences, size = differences.shape
    wide = differences.swapaxes(0, 1).reshape(sentences, samples * size)
    totals = np.zeros((len(drawn), samples * size))
    for start in range(0, sentences, BLOCK):
        part = slice(start, start + BLOCK)
        totals += (drawn[:, part] == reference).astype(np.float64) @ wide[part]
    return totals.reshape(len(drawn), samples, size).swapaxes(0, 1)


def _matches(ngrams: Ngrams, reference: np.ndarray, counting: str) -> np.ndarray:
    """The contribution of each n-gram to the count of its sentence, `[G]`."""
    matched = np.minimum(ngrams.prediction, reference)
    unchanged = np.minimum(ngrams.prediction, ngrams.source)
    if counting == "released":
        return matched - np.where(reference == 0, unchanged, 0)
    return matched - np.maximum(unchanged - matched, 0)
