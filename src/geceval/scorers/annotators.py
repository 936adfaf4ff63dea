"""Which annotator, or reference, each sentence is compared with, and the counts that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.inputs import Columns
from geceval.core.result import Counts

AVERAGES = ("corpus", "sentence")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A corpus of which each sentence has its annotator.

    Attributes:
        counts: Of all sentences.
        annotators: Who was taken for each sentence.
        scores: The best F of each sentence by itself, in [0, 1].
    """

    counts: Counts
    annotators: list[int]
    scores: list[float]

    def score(self, average: str, beta: float) -> float:
        """F of the counts (`"corpus"`) or the mean of the sentences' F (`"sentence"`)."""
        return self.counts.f(beta) if average == "corpus" else sum(self.scores) / len(self.scores)


def choose_annotators(
    rows: Iterable[Mapping[int, Counts]], beta: float, choose: Callable[[Mapping[int, Counts], Counts], int]
) -> Chosen:
    """Go through the sentences in order and add up the counts of the annotator chosen for each.

    Args:
        rows: Annotator to counts, one mapping a sentence.
        beta: Weight of recall.
        choose: From the counts of a sentence and those of all sentences before it to an annotator.
    """
    counts, annotators, scores = Counts(), [], []
    for options in rows:
        annotators.append(choose(options, counts))
        counts += options[annotators[-1]]
        scores.append(max(option.f(beta) for option in options.values()))
    return Chosen(counts, annotators, scores)


def best_of_references(columns: Columns, score: Callable[[Sequence[str], Sequence[str]], np.ndarray]) -> np.ndarray:
    """Score each prediction against each of its references and keep the best of each figure.

    Args:
        columns: Checked columns with references.
        score: From predictions and references, one text a pair on either side, to `[pairs]` or `[pairs][figures]`.

    Returns:
        `[sentences]` or `[sentences][figures]`.
    """
    references = columns.references or []
    pairs = [(p, text) for p, row in zip(columns.predictions, references, strict=True) for text in row]
    found = score([prediction for prediction, _ in pairs], [text for _, text in pairs])
    starts = np.cumsum([0, *map(len, references[:-1])])
    return np.maximum.reduceat(found, starts, axis=0)


def best_annotator(options: Mapping[int, Counts], beta: float, before: Counts | None = None) -> int:
    """The annotator to take for a sentence, as the official M2 scorer chooses.

    Args:
        options: Counts of the sentence for each annotator.
        beta: Weight of recall.
        before: Counts of the sentences before this one.

    Returns:
        The annotator with the highest F of all sentences up to this one, then the most matches, then the fewest
        proposed + beta² · gold edits, then the first in order.
    """
    weight = beta * beta

    def rank(annotator: int) -> tuple[float, float, float]:
        counts = (before or Counts()) + options[annotator]
        size = (counts.tp + counts.fp) + weight * (counts.tp + counts.fn)
        return ((1 + weight) * counts.tp / size if size else 1.0, counts.tp, -size)

    return max(options, key=rank)
