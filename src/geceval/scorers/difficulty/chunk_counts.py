"""Weighted counts of GoToScorer: what a system did with each chunk of the reference, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.core.f_score import f_beta, ratio
from geceval.edits.gotoscorer_chunks import Chunk, judge


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """Summed weights of the chunks of one sentence, or of a corpus."""

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0
    total: float = 0.0

    def __add__(self, other: ChunkCounts) -> ChunkCounts:
        return ChunkCounts(
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.tn + other.tn,
            self.total + other.total,
        )

    def precision(self, empty: float) -> float:
        """TP / (TP + FP), or `empty` on 0/0."""
        return ratio(self.tp, self.tp + self.fp, empty)

    def recall(self, empty: float) -> float:
        """TP / (TP + FN), or `empty` on 0/0."""
        return ratio(self.tp, self.tp + self.fn, empty)

    def f(self, beta: float, empty: float) -> float:
        """F_beta, in [0, 1]."""
        return f_beta(self.precision(empty), self.recall(empty), beta)

    def accuracy(self, empty: float) -> float:
        """(TP + TN) / weight of all chunks, or `empty` on 0/0."""
        return ratio(self.tp + self.tn, self.total, empty)


def count_chunks(
    reference: Sequence[Chunk],
    system: Sequence[Chunk],
    weights: Sequence[float] | None = None,
    covered_insertion: str = "wrong",
) -> ChunkCounts:
    """Weigh what a system did with each chunk of a sentence."""
    # A chunk counts as TP if the system modified it and is right, as FP if it modified it and is wrong, as TN if it
    # left it alone and is right, as FN if it left it alone and is wrong; an edit of the reference that was modified
    # wrongly is FP and FN. So one long wrong edit counts once for each chunk of the reference that it touches.
    tp = fp = fn = tn = 0.0
    numbers = [1.0] * len(reference) if weights is None else weights
    judgments = judge(reference, system, covered_insertion=covered_insertion)
    for chunk, judgment, weight in zip(reference, judgments, numbers, strict=True):
        if judgment.correct:
            if judgment.modified:
                tp += weight
            else:
                tn += weight
            continue
        if judgment.modified:
            fp += weight
        if chunk.is_edit or not judgment.modified:
            fn += weight
    return ChunkCounts(tp, fp, fn, tn, sum(numbers))
