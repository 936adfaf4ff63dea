"""Heat maps of agreement: how often metric and annotator agree on a pair of outputs, by the ranks of the two."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.options import check_choice
from geceval.meta.agreement import Pairs, check_finite, ranked_pairs, verdicts
from geceval.meta.judgments import Item


@dataclass(frozen=True, slots=True)
class PairMap:
    """Pairs of outputs that people ordered, by the ranks a < b of the two."""

    agree: np.ndarray
    pairs: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Share of pairs on which both agree, in [0, 1]; NaN in empty cells."""
        return np.divide(self.agree, self.pairs, out=np.full(self.pairs.shape, np.nan), where=self.pairs > 0)

    @property
    def kendall(self) -> np.ndarray:
        """The same as Kendall's tau, 2 · share - 1, in [-1, 1]; NaN in empty cells."""
        return 2 * self.share - 1


def by_metric_rank(pairs: Pairs, scores: np.ndarray) -> PairMap:
    """Share of pairs on which people prefer the output that the metric ranks a-th, of all systems, to the b-th."""
    # The pairwise analysis of Goto et al. (IMPARA-GED, Figure 2). Systems with equal scores on a sentence are ranked in
    # the order of the list; the paper leaves this open.
    check_finite(scores)
    ranks = np.argsort(np.argsort(-scores, axis=0, kind="stable"), axis=0, kind="stable")
    ordered = pairs.human != 0
    sentence = pairs.sentence[ordered]
    first, second = ranks[pairs.first[ordered], sentence], ranks[pairs.second[ordered], sentence]
    agree = (first < second) == (pairs.human[ordered] > 0)
    return _count(np.minimum(first, second), np.maximum(first, second), agree, len(scores))


def by_human_rank(
    items: Sequence[Item], systems: Sequence[str], scores: np.ndarray, ties: str = "order", *, expand: bool = True
) -> PairMap:
    """Share of pairs on which the metric prefers an output that people rank a-th to the b-th of the same item."""
    check_choice("tie rule of a heat map", ties, ("order", "zero", "drop"))
    pairs, ranks = ranked_pairs(items, systems, expand=expand)
    judged = verdicts(pairs, scores, ties)
    lower, upper = np.sort(ranks[:, judged.counted] - 1, axis=0)
    return _count(lower, upper, judged.agree[judged.counted], int(ranks.max()))


def _count(lower: np.ndarray, upper: np.ndarray, agree: np.ndarray, size: int) -> PairMap:
    cell = lower * size + upper
    counts = [np.bincount(cell, weights=weights, minlength=size * size) for weights in (agree, None)]
    agreed, pairs = (count.astype(int).reshape(size, size) for count in counts)
    return PairMap(agreed, pairs)
