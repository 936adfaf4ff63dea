"""The choice of an annotator, or reference, for each sentence, and the counts that follow."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geceval.core.f_score import Counts, ratio
from geceval.core.inputs import Columns

Average: TypeAlias = Literal["corpus", "sentence"]

Order: TypeAlias = Callable[[Counts, Counts], tuple[np.ndarray, ...]]
"""How annotators are ranked: maps the counts of all sentences before, `[...][1]` (or plain zeros), and those of this
sentence for each annotator, `[...][annotators]`, to sort keys of the latter shape; see `best_annotator`."""


def m2_order(beta: float) -> Order:
    """The order of the official M2 scorer."""
    # The best is the annotator with the highest F of all sentences up to this one, then the most matches, then the
    # fewest proposed + beta² · gold edits.
    weight = beta * beta

    def keys(before: Counts, options: Counts) -> tuple[np.ndarray, ...]:
        total = before + options
        size = (total.tp + total.fp) + weight * (total.tp + total.fn)
        return ratio((1 + weight) * total.tp, size), total.tp, -size

    return keys


def best_annotator(keys: Sequence[np.ndarray]) -> np.ndarray:
    """The index of the best annotator, `[...]`."""
    return np.lexsort([-key for key in reversed(keys)], axis=-1)[..., 0]


def choose(rows: np.ndarray, order: Order) -> tuple[np.ndarray, np.ndarray]:
    """Choose an annotator for each sentence by counts of true and false positives and false negatives."""
    return choose_by(rows, lambda before, options: order(Counts.of(before), Counts.of(options)))


def choose_by(
    rows: np.ndarray, keys: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]
) -> tuple[np.ndarray, np.ndarray]:
    """Choose an annotator for each sentence, in the order of the sentences, for many samples side by side."""
    # A choice depends on the choices before it. All sentences choose at once, repeatedly, until their choices no longer
    # change; the result is the same as that of choosing one sentence at a time. Each round settles at least one more
    # sentence; in practice three to six rounds settle all.
    chosen = np.zeros(rows.shape[:2], dtype=int)
    before = np.zeros((len(rows), rows.shape[1] + 1, 1, rows.shape[-1]))
    while True:
        taken = np.take_along_axis(rows, chosen[..., None, None], axis=2)
        np.cumsum(taken, axis=1, out=before[:, 1:])
        better = best_annotator(keys(before[:, :-1], rows))
        if (better == chosen).all():
            return chosen, before[:, -1, 0]
        chosen = better


def counts_array(rows: Sequence[Mapping[int, Counts]]) -> np.ndarray:
    """The counts of each sentence for each of its annotators, in their order."""
    counts = np.full((len(rows), max(map(len, rows)), 3), np.nan)
    for row, options in enumerate(rows):
        counts[row, : len(options)] = [(option.tp, option.fp, option.fn) for option in options.values()]
    return counts


@dataclass(frozen=True, slots=True)
class Chosen:
    """A corpus with the annotator chosen for each sentence."""

    counts: Counts
    annotators: list[int]
    scores: list[float]
    statistics: np.ndarray


def choose_annotators(rows: Sequence[Mapping[int, Counts]], beta: float, order: Order) -> Chosen:
    """Choose an annotator for each sentence of one corpus; see `choose`."""
    statistics = counts_array(rows)
    chosen, totals = choose(statistics[None], order)
    annotators = [list(options)[index] for options, index in zip(rows, chosen[0].tolist(), strict=True)]
    scores = np.fmax.reduce(Counts.of(statistics).f(beta), axis=1)
    return Chosen(Counts(*totals[0].tolist()), annotators, scores.tolist(), statistics)


def best_of_references(columns: Columns, score: Callable[[Sequence[str], Sequence[str]], np.ndarray]) -> np.ndarray:
    """Score each prediction against each of its references and keep the best of each figure."""
    references = columns.references or []
    pairs = [(p, text) for p, row in zip(columns.predictions, references, strict=True) for text in row]
    figures = score([prediction for prediction, _ in pairs], [text for _, text in pairs])
    starts = np.cumsum([0, *map(len, references[:-1])])
    return np.maximum.reduceat(figures, starts, axis=0)
