"""GLEU for grammatical error correction (Napoles et al. 2015; "GLEU Without Tuning", Napoles et al. 2016).

Not to be confused with Google's GLEU for machine translation: n-grams that the prediction shares with the source but
not with the reference count against it.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.inputs import Columns, References
from geceval.core.options import FilePath, check_choice, check_count, check_types
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.scorers.base import Scorer
from geceval.scorers.ngram.ngrams import MAX_ORDER, UNITS, Corpus, Ngrams, reference_mask, sentence_rows
from geceval.scorers.references.gold import columns_with_references, gold_facts

COUNTINGS = ("released", "paper")
SAMPLERS = ("python2", "python3", "expectation")
BLOCK = 4096  # sentences whose draws are applied at once


@dataclass(frozen=True, slots=True)
class Settings:
    """What the number depends on.

    Attributes:
        counting: `"released"`: as the authors' code counts, where an n-gram of the source is penalised only if the
            reference lacks it altogether, and a sentence never counts below 0. `"paper"`: the formula of the 2016
            paper, which penalises every surplus occurrence and lets a sentence's count fall below 0.
        sampler: How the corpus score deals with several references. `"python2"`: one reference per sentence is drawn in
            each iteration, as Python 2 drew them (the published numbers); `"python3"`: as Python 3's `randint` draws
            them; `"expectation"`: no draws, every statistic is replaced by its expectation under a uniform draw.
        iterations: Draws of the two samplers, at most 100,000; the corpus score is their mean. If no sentence has
            several references, only one is made.
        smoothing: Whether a sentence score replaces zero statistics by 1, as the authors' code does; if not, a
            sentence without a match of some order scores 0. The corpus score is never smoothed.
        order: Longest n-grams, at most 100.
        unit: `"word"` or `"char"`.
        gold_m2: M2 file from which the references are made; `references` are then not needed.
    """

    counting: str = "released"
    sampler: str = "python2"
    iterations: int = 500
    smoothing: bool = True
    order: int = 4
    unit: str = "word"
    gold_m2: FilePath | None = None

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("counting", self.counting, COUNTINGS)
        check_choice("sampler", self.sampler, SAMPLERS)
        check_choice("unit", self.unit, UNITS)
        check_count("iterations", self.iterations, most=100_000)
        check_count("order", self.order, most=MAX_ORDER)


class Gleu(Scorer):
    """GLEU+, corpus and sentences; both lie in [0, 1], higher is better.

    For a reference R of source S and prediction H, the count of order n is the number of n-grams that H shares with R
    minus those that it shares with S but not with R, out of the len(H) + 1 - n n-grams of H. A corpus sums counts and
    lengths; GLEU is the geometric mean of the precisions times the brevity penalty exp(min(0, 1 - |R|/|H|)), and 0 if
    any sum is 0. A sentence score is the mean over its references.

    `details["sd"]` is the standard deviation over the iterations, 0 without draws.
    """

    name = "gleu"
    description = "GLEU for grammatical error correction, not the GLEU of machine translation."
    Settings = Settings
    missing_reference = 0.0

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        return columns_with_references(self.name, sources, predictions, references, self.settings.gold_m2)

    def _score(self, columns: Columns) -> Result:
        settings = self.settings
        exists = reference_mask(columns)
        refs = number_range(exists.sum(axis=0).tolist())
        count = functools.partial(sentence_statistics, settings=settings)
        statistics = sentence_rows(columns, settings.unit, settings.order, count) * exists[..., None]
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
        # This takes long for `"python3"` where sentences differ in their number of references: Python 3 does not draw
        # for one sentence independently of those before it, so every sample needs its own draws.
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
        if settings.sampler == "python3" and (counts != counts[0]).any():
            return np.concatenate([self._draws(row[None]) for row in rows])
        totals = np.repeat(first, settings.iterations, axis=1)
        for owners, drawn in self._drawn(counts):
            for r in range(1, int(drawn.max()) + 1):
                differences = (statistics[r] - statistics[0]) * owners[..., None]
                totals += _apply_draws(drawn, r, differences)
        return gleu(totals)

    def _drawn(self, counts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Masks of sentences, `[samples][sentences]`, each with the references that they draw,
        `[iterations][sentences]`."""
        # Python 2 draws for each sentence independently of the others, so all sentences with the same number of
        # references can be handled together, whichever sample they belong to.
        settings, size = self.settings, counts.shape[1]
        if settings.sampler == "python3":
            yield np.ones_like(counts), draw_references("python3", settings.iterations, tuple(counts[0].tolist()))
            return
        for count in np.unique(counts).tolist():
            yield counts == count, draw_references("python2", settings.iterations, (count,) * size)

    def _sentence_scores(self, statistics: np.ndarray, exists: np.ndarray) -> list[float]:
        """Mean over a sentence's references, `[sentences]`."""
        statistics = np.maximum(statistics, 0)
        if self.settings.smoothing:
            statistics = np.where(statistics == 0, 1, statistics)
        return ((gleu(statistics) * exists).sum(axis=0) / exists.sum(axis=0)).tolist()


def sentence_statistics(corpus: Corpus, settings: Settings) -> np.ndarray:
    """The sufficient statistics of each reference and sentence."""
    order, sentences = settings.order, corpus.sentences
    lengths = corpus.lengths[2:]
    statistics = np.zeros((len(lengths), sentences, 2 * order + 2))
    for n, ngrams in enumerate(corpus.ngrams):
        for r, reference in enumerate(ngrams.references):
            counts = ngrams.sum(_matches(ngrams, reference, settings.counting), sentences)
            statistics[r, :, n] = np.maximum(counts, 0) if settings.counting == "released" else counts
        statistics[:, :, order + n] = np.maximum(corpus.lengths[1] - n, 0)
    statistics[:, :, -2] = corpus.lengths[1]
    statistics[:, :, -1] = lengths
    return statistics


def gleu(statistics: np.ndarray) -> np.ndarray:
    """GLEU of sums of statistics, `[...][2·order + 2]` to `[...]`; 0 wherever a statistic is not positive."""
    order = statistics.shape[-1] // 2 - 1
    defined = (statistics > 0).all(axis=-1)
    safe = np.where(defined[..., None], statistics, 1.0)
    logs = np.log(safe[..., :order]) - np.log(safe[..., order : 2 * order])
    brevity = np.minimum(0.0, 1.0 - safe[..., -1] / safe[..., -2])
    return np.where(defined, np.exp(brevity + logs.mean(axis=-1)), 0.0)


@lru_cache(maxsize=8)
def draw_references(sampler: str, iterations: int, counts: tuple[int, ...]) -> np.ndarray:
    """Which reference each iteration draws for each sentence; iteration j is seeded with 101·j."""
    # Python 2 drew `int(random() * count)`. The seeding of `random` by an int is the `init_by_array` of the Mersenne
    # Twister in Python 2 and 3, and also in NumPy's frozen `RandomState` when it gets a list.
    drawn = np.empty((iterations, len(counts)), dtype=np.uint8 if max(counts) <= 256 else np.uint32)
    same, numbers = len(set(counts)) == 1, np.array(counts)
    generator, python3 = np.random.RandomState(0), random.Random(0)
    for j in range(iterations):
        generator.seed([101 * j])
        if sampler == "python2":
            drawn[j] = generator.random_sample(len(counts)) * numbers
        elif same:
            drawn[j] = _equal_draws(generator, counts[0], len(counts))
        else:
            python3.seed(101 * j)
            drawn[j] = [python3.randint(0, count - 1) for count in counts]
    return drawn


def _equal_draws(generator: np.random.RandomState, count: int, size: int) -> np.ndarray:
    """What `randint(0, count - 1)` of Python 3 draws `size` times: the top bits of 32-bit words that are below it."""
    bits = count.bit_length()
    drawn = np.empty(0, dtype=np.uint32)
    while len(drawn) < size:
        words = generator.randint(0, 1 << 32, size=2 * (size - len(drawn)) + 64, dtype=np.uint32) >> (32 - bits)
        drawn = np.concatenate([drawn, words[words < count]])
    return drawn[:size]


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
    """What each n-gram adds to the count of its sentence, `[G]`."""
    matched = np.minimum(ngrams.prediction, reference)
    unchanged = np.minimum(ngrams.prediction, ngrams.source)
    if counting == "released":
        return matched - np.where(reference == 0, unchanged, 0)
    return matched - np.maximum(unchanged - matched, 0)
