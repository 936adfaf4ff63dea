"""Counts of n-grams, aligned over source, prediction and references: what GLEU and GREEN share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from geceval.core.inputs import Columns

UNITS = ("word", "char")
MAX_ORDER = 100


@dataclass(frozen=True, slots=True)
class Ngrams:
    """How often each n-gram of one order occurs; G counts the distinct n-grams of all sentences, one sentence apart.

    Attributes:
        sentence: The sentence that the n-gram stands in, `[G]`, ascending.
        source: Occurrences in the source, `[G]`.
        prediction: Occurrences in the prediction, `[G]`.
        references: Occurrences in each reference, `[R][G]`, R the largest number of references of a sentence;
            zeros where a sentence has fewer.
    """

    sentence: np.ndarray
    source: np.ndarray
    prediction: np.ndarray
    references: np.ndarray

    def sum(self, values: np.ndarray, sentences: int) -> np.ndarray:
        """Add up `values`, one for each n-gram, sentence by sentence: `[G]` to `[sentences]`."""
        return np.bincount(self.sentence, weights=values, minlength=sentences)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The units (words or characters) of all columns as numbers, in one row.

    Attributes:
        lengths: Units of each text, `[2 + R][sentences]`: sources, predictions, then the references; 0 where a
            sentence has fewer than R references.
        reference_counts: References of each sentence, `[sentences]`.
        units: Number of each unit, `[total]`, texts in the order of `lengths`.
        vocabulary: How many distinct units there are.
    """

    lengths: np.ndarray
    reference_counts: np.ndarray
    units: np.ndarray
    vocabulary: int

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return self.lengths.shape[1]

    def ngrams(self, max_order: int) -> Iterator[Ngrams]:
        """Count the n-grams of order 1, 2, ... `max_order`, one order at a time.

        An n-gram is named by the number of its first n - 1 units and its last unit, so that one sort an order is
        enough; the numbers of different sentences differ.
        """
        texts, sentences = self.lengths.shape
        lengths = self.lengths.ravel()
        text = np.repeat(np.arange(texts * sentences), lengths)
        column, sentence = text // sentences, text % sentences
        start = np.arange(len(self.units))
        last = np.cumsum(lengths)[text] - 1
        number = sentence
        for order in range(1, max_order + 1):
            fits = start + order - 1 <= last[start]
            start, number = start[fits], number[fits]
            keys = number * self.vocabulary + self.units[start + order - 1]
            distinct, number = np.unique(keys, return_inverse=True)
            size = len(distinct)
            owner = np.empty(size, dtype=np.int64)
            owner[number] = sentence[start]
            counts = np.bincount(column[start] * size + number, minlength=texts * size).reshape(texts, size)
            yield Ngrams(owner, counts[0], counts[1], counts[2:])


def number_units(columns: Columns, unit: str) -> Corpus:
    """Split every text into units and number them.

    Args:
        columns: Checked columns with references.
        unit: `"word"` for the tokens of `str.split()`, `"char"` for their characters and one space between tokens.
    """
    references = columns.references or []
    most = max(len(row) for row in references)
    texts = [columns.sources, columns.predictions]
    texts += [[row[r] if r < len(row) else "" for row in references] for r in range(most)]
    numbers: dict[str, int] = {}
    units: list[int] = []
    lengths: list[int] = []
    for text in texts:
        for line in text:
            parts = line.split()
            items = parts if unit == "word" else list(" ".join(parts))
            units += [numbers.setdefault(item, len(numbers)) for item in items]
            lengths.append(len(items))
    return Corpus(
        lengths=np.array(lengths, dtype=np.int64).reshape(len(texts), -1),
        reference_counts=np.array([len(row) for row in references], dtype=np.int64),
        units=np.array(units, dtype=np.int64),
        vocabulary=len(numbers),
    )
