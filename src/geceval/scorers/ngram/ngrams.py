"""N-gram counts of source, prediction and references, for GLEU and GREEN."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.inputs import Columns, References, check_columns
from geceval.scorers.base import Scorer
from geceval.scorers.references.gold import m2_references

Unit: TypeAlias = Literal["word", "char"]
ORDER = 4  # of the longest n-grams
BLOCK_NGRAMS = 500_000
"""How many n-grams of sources and references are counted at a time, roughly."""
CACHED_BLOCKS = 8
"""Blocks that are cached for the next system: 160 MB with two references per sentence."""

_UNIT_BITS = 32
_WORD = 5  # characters, roughly


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Counts of each n-gram of one order; G is the number of distinct n-grams, summed over the sentences."""

    sentence: np.ndarray
    source: np.ndarray
    prediction: np.ndarray
    references: np.ndarray

    def sum(self, values: np.ndarray, sentences: int) -> np.ndarray:
        """Add up `values`, one for each n-gram, sentence by sentence: `[G]` to `[sentences]`."""
        return np.bincount(self.sentence, weights=values, minlength=sentences)


@dataclass(frozen=True, slots=True)
class Units:
    """Texts cut into units (words or characters), one after the other in one array."""

    numbers: np.ndarray
    lengths: np.ndarray

    def text(self) -> np.ndarray:
        """The text of each unit, `[total]`."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


@dataclass(frozen=True, slots=True)
class Table:
    """The n-grams of one order in sources and references."""

    keys: np.ndarray
    sentence: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, slots=True)
class TextTables:
    """The n-grams of sources and references, which are the same for all systems."""

    vocabulary: dict[str, int]
    lengths: np.ndarray
    tables: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Corpus:
    """All columns in units."""

    lengths: np.ndarray
    ngrams: Iterator[Ngrams]

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return self.lengths.shape[1]


class NgramScorer(Scorer):
    """A metric of n-grams, for which an M2 file holds references."""

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        if self.settings.gold_m2 is not None:
            references = m2_references(self.name, self.settings.gold_m2, sources)
        return check_columns(self.name, sources, predictions, references, needs_references=True)


def reference_mask(columns: Columns) -> np.ndarray:
    """Whether a sentence has reference number r, `[R][sentences]`, R the largest number of references of a sentence."""
    counts = np.array([len(row) for row in columns.references or []], dtype=np.int64)
    return np.arange(counts.max())[:, None] < counts


def sentence_rows(columns: Columns, unit: Unit, count: Callable[[Corpus], np.ndarray]) -> np.ndarray:
    """Cut every text into units, count their n-grams and make numbers of each sentence."""
    references = columns.references or []
    per_character = ORDER / (_WORD if unit == "word" else 1)
    sizes = np.array([len(text) for text in columns.sources], dtype=np.int64) * per_character
    sizes += np.array([sum(map(len, row)) for row in references], dtype=np.int64) * per_character
    starts = np.unique(sizes.cumsum() // BLOCK_NGRAMS, return_index=True)[1].tolist()
    # A larger corpus would push its first blocks out before the next system asks for them.
    count_texts = _count_texts if len(starts) <= CACHED_BLOCKS else _count_texts.__wrapped__
    blocks = []
    for start, end in itertools.pairwise([*starts, len(sizes)]):
        texts = count_texts(tuple(columns.sources[start:end]), tuple(map(tuple, references[start:end])), unit)
        predictions = _number_units(columns.predictions[start:end], unit, dict(texts.vocabulary))
        lengths = np.insert(texts.lengths, 1, predictions.lengths, axis=0)
        blocks.append(count(Corpus(lengths, _join(texts.tables, predictions))))
    rows = np.zeros((max(map(len, blocks)), len(sizes), *blocks[0].shape[2:]))
    for start, numbers in zip(starts, blocks, strict=True):
        rows[: len(numbers), start : start + numbers.shape[1]] = numbers
    return rows


@lru_cache(maxsize=CACHED_BLOCKS)
def _count_texts(sources: tuple[str, ...], references: tuple[tuple[str, ...], ...], unit: Unit) -> TextTables:
    """The n-grams of sources and references."""
    most = max(map(len, references))
    columns = [sources, *([row[r] if r < len(row) else "" for row in references] for r in range(most))]
    vocabulary: dict[str, int] = {}
    units = _number_units([text for column in columns for text in column], unit, vocabulary)
    return TextTables(vocabulary, units.lengths.reshape(len(columns), -1), tuple(_tables(units, len(columns))))


def _number_units(texts: Sequence[str], unit: Unit, vocabulary: dict[str, int]) -> Units:
    """Cut texts into units and number them; units that are not in the vocabulary are added to it."""
    numbers: list[int] = []
    lengths: list[int] = []
    for text in texts:
        parts = text.split()
        items = parts if unit == "word" else " ".join(parts)
        numbers += [vocabulary.setdefault(item, len(vocabulary)) for item in items]
        lengths.append(len(items))
    return Units(np.array(numbers, dtype=np.int64), np.array(lengths, dtype=np.int64))


def _tables(units: Units, columns: int) -> Iterator[Table]:
    """Count the n-grams of texts that are in order column by column; one sort per order."""
    sentences = len(units.lengths) // columns
    text = units.text()
    start, number = np.arange(len(text)), text % sentences
    for n in range(ORDER):
        start, keys = _lengthen(units, start, number, n)
        distinct, number = np.unique(keys, return_inverse=True)
        column, sentence = np.divmod(text[start], sentences)
        size = len(distinct)
        owner = np.empty(size, dtype=np.int64)
        owner[number] = sentence
        counts = np.bincount(column * size + number, minlength=columns * size)
        yield Table(distinct, owner, counts.reshape(columns, size))


def _join(tables: Iterable[Table], units: Units) -> Iterator[Ngrams]:
    """Add the n-grams of the predictions, one per sentence, to those of sources and references."""
    text = units.text()
    start, number = np.arange(len(text)), text
    for n, table in enumerate(tables):
        start, keys = _lengthen(units, start, number, n)
        number, size = _find(table.keys, keys)
        sentence = np.empty(size, dtype=np.int64)
        sentence[: len(table.keys)] = table.sentence
        sentence[number] = text[start]
        counts = np.zeros((len(table.counts), size), dtype=np.int64)
        counts[:, : len(table.keys)] = table.counts
        yield Ngrams(sentence, counts[0], np.bincount(number, minlength=size), counts[1:])


def _lengthen(units: Units, start: np.ndarray, number: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The starts of the n-grams that are one unit longer, and their keys."""
    ends = np.repeat(np.cumsum(units.lengths), units.lengths)
    fits = start + length < ends[start]
    start = start[fits]
    return start, number[fits] << _UNIT_BITS | units.numbers[start + length]


def _find(known: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, int]:
    """The index of each key among the known, ascending ones, or after them if it is new; and how many there are."""
    indices = np.searchsorted(known, keys)
    is_known = indices < len(known)
    is_known[is_known] = known[indices[is_known]] == keys[is_known]
    new, number = np.unique(keys[~is_known], return_inverse=True)
    indices[~is_known] = len(known) + number
    return indices, len(known) + len(new)
