"""Cheapest alignments as ERRANT and ChERRANT have them, in which spans may be transpositions of each other."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Tokens = Sequence[Hashable]


class Step(NamedTuple):
    """An operation (M, S, I, D or T) and the spans that it concerns."""

    operation: str
    start: int
    end: int
    new_start: int
    new_end: int


class Table:
    """The least costs of aligning each two beginnings of two texts; transpositions compare the `folded` tokens."""

    def __init__(
        self, source: Tokens, corrected: Tokens, substitutions: np.ndarray, folded: tuple[Tokens, Tokens]
    ) -> None:
        self._source, self._corrected, self._substitutions = source, corrected, substitutions
        self._moved: dict[tuple[int, int], int] = {}
        far = len(source) + len(corrected)
        in_corrected, in_source = _first_indices(*folded, far), _first_indices(*folded[::-1], far)
        above = [float(j) for j in range(len(corrected) + 1)]
        self.costs = costs = [above]
        for i, old in enumerate(source):
            row, first, replacing = [i + 1.0], in_corrected[i], substitutions[i].tolist()
            diagonal, left = above[0], i + 1.0
            for j, new in enumerate(corrected):
                up = above[j + 1]
                if old == new:
                    best = diagonal
                else:
                    best = diagonal + replacing[j]
                    if left + 1 < best:
                        best = left + 1
                    if up + 1 < best:
                        best = up + 1
                    if j >= first and i >= in_source[j] and i and j and diagonal != costs[i - 1][j - 1]:
                        k = _transposed(i, j, costs, *folded)
                        if k and costs[i - k][j - k] + k <= best:
                            best, self._moved[i + 1, j + 1] = costs[i - k][j - k] + k, k + 1
                row.append(best)
                diagonal, left = up, best
            costs.append(row)
            above = row

    def last_steps(self, i: int, j: int) -> list[Step]:
        """The cheapest last operations on the first `i` and `j` tokens: M, or some of T, S, I and D, in this order."""
        best, costs = self.costs[i][j], self.costs
        if i and j and self._source[i - 1] == self._corrected[j - 1]:
            return [Step("M", i - 1, i, j - 1, j)]
        size = self._moved.get((i, j), 0)
        steps = [Step("T", i - size, i, j - size, j)] if size else []
        if i and j and costs[i - 1][j - 1] + self._substitutions[i - 1][j - 1] == best:
            steps.append(Step("S", i - 1, i, j - 1, j))
        if j and costs[i][j - 1] + 1 == best:
            steps.append(Step("I", i, i, j - 1, j))
        if i and costs[i - 1][j] + 1 == best:
            steps.append(Step("D", i - 1, i, j, j))
        return steps

    def count(self) -> int:
        """The number of cheapest alignments."""
        counts = [[0] * len(row) for row in self.costs]
        counts[-1][-1] = 1
        for i, row in reversed(list(enumerate(counts))):
            for j in reversed(range(len(row))):
                for step in self.last_steps(i, j) if row[j] else ():
                    counts[step.start][step.new_start] += row[j]
        return counts[0][0]

    def paths(self, one: bool) -> Iterator[list[Step]]:
        """The cheapest alignments, depth first from the end, or only the first."""
        waiting: list[tuple[int, int, tuple[Any, ...]]] = [(len(self._source), len(self._corrected), ())]
        while waiting:
            i, j, later = waiting.pop()
            if not (i or j):
                yield list(_unrolled(later))
                continue
            steps = self.last_steps(i, j)
            waiting += [(step.start, step.new_start, (step, later)) for step in reversed(steps[:1] if one else steps)]


def _unrolled(later: tuple[Any, ...]) -> Iterator[Step]:
    while later:
        step, later = later
        yield step


def common_ending(left: Tokens, right: Tokens) -> int:
    """The number of items that two lists share at their end."""
    size = 0
    for a, b in zip(reversed(left), reversed(right), strict=False):
        if a != b:
            break
        size += 1
    return size


def _first_indices(tokens: Tokens, text: Tokens, absent: int) -> list[int]:
    """The index of each token's first occurrence in a text, or `absent`."""
    first = {token: index for index, token in reversed(list(enumerate(text)))}
    return [first.get(token, absent) for token in tokens]


def _transposed(i: int, j: int, cost_rows: list[list[float]], source: Tokens, corrected: Tokens) -> int:
    """Size, less one, of the smallest transposition that ends in source token `i` and corrected token `j`, or 0."""
    # The walk up the diagonal stops at a step that costs nothing, as ERRANT's does.
    balance: dict[Hashable, int] = {}
    for k in range(min(i, j) + 1):
        if k and cost_rows[i - k + 1][j - k + 1] == cost_rows[i - k][j - k]:
            return 0
        for token, step in ((source[i - k], 1), (corrected[j - k], -1)):
            balance[token] = balance.get(token, 0) + step
            if not balance[token]:
                del balance[token]
        if k and not balance:
            return k
    return 0
