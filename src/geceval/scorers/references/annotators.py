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
        return self.counts.f(beta) if average == "corpus" else float(np.mean(self.scores))


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


def counts_array(rows: Sequence[Mapping[int, Counts]]) -> np.ndarray:
    """The counts of each sentence for each of its annotators, in their order.

    Args:
        rows: Annotator to counts, one mapping a sentence.

    Returns:
        `[sentences][annotators][3]`: tp, fp, fn; NaN where a sentence has fewer annotators than another.
    """
    counts = np.full((len(rows), max(map(len, rows)), 3), np.nan)
    for sentence, options in enumerate(rows):
        for place, option in enumerate(options.values()):
            counts[sentence, place] = option.tp, option.fp, option.fn
    return counts


def choose_in_order(rows: np.ndarray, rank: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]) -> np.ndarray:
    """What `choose_annotators` does, for many samples of sentences side by side.

    Args:
        rows: `[samples][sentences][annotators][3]`, see `counts_array`.
        rank: From the counts before a sentence, `[samples][1][3]`, and those of its options,
            `[samples][annotators][3]`, to keys, each `[samples][annotators]`; the highest first key is taken, if equal
            the highest second, and so on, then the annotator that comes first.

    Returns:
        Counts of each sample, `[samples][3]`.
    """
    total = np.zeros((len(rows), 1, 3))
    samples = np.arange(len(rows))
    for sentence in range(rows.shape[1]):
        options = rows[:, sentence]
        if options.shape[1] == 1:
            total += options
            continue
        open_to = ~np.isnan(options[..., 0])
        options = np.where(open_to[..., None], options, 0.0)
        for key in rank(total, options):
            values = np.where(open_to, key, -np.inf)
            open_to &= values == values.max(axis=1, keepdims=True)
        total += options[samples, open_to.argmax(axis=1)][:, None]
    return total[:, 0]


def best_annotators(beta: float) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]:
    """The keys by which `best_annotator` chooses, for `choose_in_order`."""
    weight = beta * beta

    def rank(before: np.ndarray, options: np.ndarray) -> tuple[np.ndarray, ...]:
        tp, fp, fn = np.moveaxis(before + options, -1, 0)
        size = (tp + fp) + weight * (tp + fn)
        return np.where(size > 0, (1 + weight) * tp / np.where(size > 0, size, 1), 1.0), tp, -size

    return rank


def f_scores(counts: np.ndarray, beta: float) -> np.ndarray:
    """F_beta of counts by the rules of `Counts`: `[...][3]` to `[...]`."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    precision = np.where(tp + fp > 0, tp / np.where(tp + fp > 0, tp + fp, 1), 1.0)
    recall = np.where(tp + fn > 0, tp / np.where(tp + fn > 0, tp + fn, 1), 1.0)
    weight = beta * beta
    below = weight * precision + recall
    return np.where(
        (precision > 0) & (recall > 0), (1 + weight) * precision * recall / np.where(below > 0, below, 1), 0
    )
