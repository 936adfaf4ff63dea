"""Joining steps of the MaxMatch lattice into arcs, and the cheapest path over them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from geceval.edits.maxmatch.lattice import EPSILON, Arc, Purge, Steps, relax, walk_back, weight

# The official program closes the lattice like Floyd and Warshall over the cells in sorted order: two arcs are joined if
# the way is strictly shorter than any known and holds no more unchanged words than allowed. Every step leads to a
# later cell, so the second half of such a join is always a single step and the first half is final: one sweep over the
# cells finds the same arcs in the same order. (They are not the shortest *allowed* arcs: of the ways from one cell to
# another only the first of the shortest is kept, with its count of unchanged words.) Its shortest path is that of
# Bellman and Ford over the list of arcs, steps first; of equal costs the one met first stays, so the order is kept.

DENSE_CELLS = 120  # from here on, numpy over all starts at once is faster than dictionaries

# A way from a start to a cell is one number: steps, unchanged words (12 bits), whether it begins with an insertion.
_STEP, _SAME, _INSERTS, _FAR = 1 << 13, 1 << 1, 1, 1 << 28
_WORDS = 0xFFF
# `last_steps` has one bit for each step with which a joined arc enters a cell: from the diagonal, above, the left.
_COUNT = np.array([0, 1, 1, 2, 1, 2, 2, 3], np.int8)
_FIRST = np.array([3, 0, 1, 0, 2, 0, 1, 0], np.int8)


class SparseArcs:
    """Arcs in dictionaries; for small lattices, as almost all sentences have."""

    def __init__(self, steps: Steps, max_unchanged_words: int) -> None:
        self.size = len(steps.rows)
        self.total = sum(arc[3] for arc in steps.arcs)
        self._arcs = {
            (v, w): Arc(1, 0 if unchanged else occurrences, steps.rows[v] == steps.rows[w])
            for v, w, unchanged, occurrences in steps.arcs
        }
        purge = Purge()
        for start, w, arc in self._sweep(steps, max_unchanged_words):
            if not purge.keeps(arc.penalties > 0):
                continue
            self.total += 1
            known = self._arcs.get((start, w))
            if known is not None:
                arc = arc._replace(penalties=known.penalties + 1)
            self._arcs[start, w] = arc
        self._weights = {pair: weight(arc.length, arc.penalties) for pair, arc in self._arcs.items()}

    def _sweep(self, steps: Steps, limit: int) -> list[tuple[int, int, Arc]]:
        following: list[list[tuple[int, int]]] = [[] for _ in range(self.size)]
        reached: list[dict[int, tuple[int, int, bool]]] = [{} for _ in range(self.size)]
        for v, w, same, _ in steps.arcs:
            following[v].append((w, same))
            reached[w][v] = (1, same, steps.rows[v] == steps.rows[w])
        joined: list[tuple[int, int]] = []
        for k in range(self.size):
            after = following[k]
            for start, (length, unchanged, inserts) in sorted(reached[k].items()):
                for w, same in after:
                    if unchanged + same > limit:
                        continue
                    known = reached[w].get(start)
                    if known is None or length + 1 < known[0]:
                        reached[w][start] = (length + 1, unchanged + same, inserts)
                        joined.append((start, w))
        arcs = []
        for start, w in joined:
            length, unchanged, inserts = reached[w][start]
            arcs.append((start, w, Arc(length, int(length > unchanged), inserts)))
        return arcs

    def find(self, start: int, end: int) -> Arc | None:
        """The arc from one cell to another, if there is one."""
        return self._arcs.get((start, end))

    def cheapest_path(self, weights: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
        """The cheapest path from the first to the last cell, as arcs; `weights` replaces the weight of some arcs."""
        arcs = [(v, w, cost) for (v, w), cost in ({**self._weights, **weights} if weights else self._weights).items()]
        costs = [float("inf")] * self.size
        before = [-1] * self.size
        costs[0] = 0.0
        while relax(arcs, costs, before):
            pass
        return walk_back(before)


@dataclass(frozen=True, slots=True)
class _Level:
    """The joined arcs into the cells of one anti-diagonal: one row per cell, one column per start."""

    cells: np.ndarray
    ways: np.ndarray
    last_steps: np.ndarray
    costs: np.ndarray


class DenseArcs:
    """The arcs of `SparseArcs` in matrices, in the same order; for lattices of at most 4,096 cells."""

    # Cells of one anti-diagonal do not depend on each other, so a whole *level* of them is swept at once, for all
    # starts.

    def __init__(self, steps: Steps, max_unchanged_words: int) -> None:
        self.size = len(steps.rows)
        self._limit = min(max_unchanged_words, _WORDS - 1)
        self._steps: dict[tuple[int, int], Arc] = {}
        self._before = np.full((self.size, 3), -1)  # the cells on the diagonal, above and to the left
        self._same = np.zeros(self.size, np.int32)
        for v, w, same, occurrences in steps.arcs:
            kind = 2 if steps.rows[v] == steps.rows[w] else 1 if steps.columns[v] == steps.columns[w] else 0
            self._steps[v, w] = Arc(1, 0 if same else occurrences, kind == 2)
            self._before[w, kind] = v
            if kind == 0:
                self._same[w] = same
        self._step_costs = [(v, w, weight(arc.length, arc.penalties)) for (v, w), arc in self._steps.items()]
        diagonals = np.array(steps.rows) + np.array(steps.columns)
        ordered = np.argsort(diagonals, kind="stable")
        groups = np.split(ordered, np.flatnonzero(np.diff(diagonals[ordered])) + 1)
        self._levels = list(self._sweep(groups))
        self._place = {int(w): (level, row) for level in self._levels for row, w in enumerate(level.cells)}
        self.total = sum(arc[3] for arc in steps.arcs)
        self.total += sum(int(_COUNT[level.last_steps].sum()) for level in self._levels) - self._purge()

    def _sweep(self, groups: list[np.ndarray]) -> Iterator[_Level]:
        far = np.full(self.size, _FAR, np.int32)
        ways: dict[int, np.ndarray] = {-1: far}
        for cells in groups:
            width = int(cells.max()) + 1
            before = self._before[cells]
            last_steps = np.zeros((cells.size, width), np.int8)
            best = np.full((cells.size, width), _FAR, np.int32)
            for kind in range(3):
                way = np.stack([ways[int(v)][:width] for v in before[:, kind]]) + _STEP
                if kind == 0:
                    same = self._same[cells, None]
                    way += same * _SAME
                    way[(way // _SAME & _WORDS > self._limit) & (same > 0)] = _FAR
                shorter = (way // _STEP < best // _STEP) & (way < _FAR)
                best[shorter] = way[shorter]
                last_steps |= (shorter << kind).astype(np.int8)
            self._set_steps(cells, before, best, last_steps)
            for row, w in enumerate(cells.tolist()):
                ways[w] = far.copy()
                ways[w][:width] = best[row]
            lengths, penalties = best // _STEP, _COUNT[last_steps]
            changing = lengths > best // _SAME & _WORDS
            costs = np.where(last_steps > 0, lengths, np.inf)
            for times in range(3):
                costs[(penalties > times) & changing] += EPSILON
            yield _Level(cells, best, last_steps, costs)

    def _set_steps(self, cells: np.ndarray, before: np.ndarray, ways: np.ndarray, last_steps: np.ndarray) -> None:
        """Set the single steps before anything is joined, even those that can never be part of a joined arc."""
        for kind in range(3):
            rows = np.flatnonzero(before[:, kind] >= 0)
            starts = before[rows, kind]
            last_steps[rows, starts] = 0
            ways[rows, starts] = _STEP + (_INSERTS if kind == 2 else 0)
            if kind == 0:
                same = self._same[cells[rows]]
                ways[rows, starts] = np.where(same > self._limit, _FAR, ways[rows, starts] + same * _SAME)
        ways[np.arange(cells.size), cells] = 0

    def _purge(self) -> int:
        """Take out joined arcs that change nothing, in the order of the list of arcs; returns how many."""
        idle: dict[int, set[tuple[int, int]]] = {}
        counts = np.zeros(self.size, int)  # of joined arcs whose last step starts at each cell
        for level in self._levels:
            for kind in range(3):
                rows = np.flatnonzero(self._before[level.cells, kind] >= 0)
                origins = self._before[level.cells[rows], kind]
                np.add.at(counts, origins, (level.last_steps[rows] >> kind & 1).sum(axis=1))
            unchanged = (level.last_steps > 0) & (level.ways // _STEP == level.ways // _SAME & _WORDS)
            for row, start in zip(*np.nonzero(unchanged), strict=True):
                w = int(level.cells[row])
                idle.setdefault(int(self._before[w, 0]), set()).add((int(start), w))
        purge, removed, seen = Purge(), 0, 0
        until = np.cumsum(counts)
        for k in sorted(idle):
            if until[k] - counts[k] > seen:
                purge.keeps(True)
            for start, w in self._joined_over(k):
                if not purge.keeps((start, w) not in idle[k]):
                    level, row = self._place[w]
                    level.last_steps[row, start], level.costs[row, start] = 0, np.inf
                    removed += 1
            seen = until[k]
        return removed

    def _joined_over(self, k: int) -> list[tuple[int, int]]:
        """The joined arcs (from, to) whose last step starts at cell k, in the order of the list of arcs."""
        entries = []
        for kind in range(3):
            for w in np.flatnonzero(self._before[:, kind] == k).tolist():
                level, row = self._place[w]
                entries += [(start, w) for start in np.flatnonzero(level.last_steps[row] >> kind & 1).tolist()]
        return sorted(entries)

    def find(self, start: int, end: int) -> Arc | None:
        """The arc from one cell to another, if there is one."""
        if (start, end) in self._steps:
            return self._steps[start, end]
        level, row = self._place[end]
        if start >= end or not level.last_steps[row, start]:
            return None
        way = int(level.ways[row, start])
        length, unchanged = way // _STEP, way // _SAME & _WORDS
        penalties = int(_COUNT[level.last_steps[row, start]]) if length > unchanged else 0
        return Arc(length, penalties, bool(way & _INSERTS))

    def cheapest_path(self, weights: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
        """The cheapest path from the first to the last cell, as arcs; `weights` replaces the weight of some arcs."""
        steps = [(v, w, weights.get((v, w), cost)) for v, w, cost in self._step_costs]
        levels = self._reweighted(weights)
        totals = [0.0] + [float("inf")] * (self.size - 1)
        before = [-1] * self.size
        changed = True
        while changed:
            changed = relax(steps, totals, before)
            # Joined arcs into a cell are listed before joined arcs that start there.
            current = np.array(totals)
            for level in levels:
                changed |= _relax_level(level, current, before)
            totals = current.tolist()
        return walk_back(before)

    def _reweighted(self, weights: Mapping[tuple[int, int], float]) -> list[_Level]:
        new: dict[int, list[tuple[int, int, float]]] = {}
        for (v, w), cost in weights.items():
            if (v, w) not in self._steps:
                level, row = self._place[w]
                new.setdefault(id(level), []).append((row, v, cost))
        levels = []
        for level in self._levels:
            entries = new.get(id(level), [])
            if entries:
                level = replace(level, costs=level.costs.copy())
            for row, v, cost in entries:
                level.costs[row, v] = cost
            levels.append(level)
        return levels


def _relax_level(level: _Level, totals: np.ndarray, before: list[int]) -> bool:
    """Let the joined arcs into the cells of one level shorten the paths to them."""
    candidates = totals[: level.costs.shape[1]] + level.costs
    best = candidates.min(axis=1)
    rows = np.flatnonzero(best < totals[level.cells])
    if not rows.size:
        return False
    equal = candidates[rows] == best[rows, None]
    # Of equal arcs the first in the list.
    starts = np.where(equal, _FIRST[level.last_steps[rows]], _FIRST[0]).argmin(axis=1)
    cells = level.cells[rows]
    totals[cells] = best[rows]
    for w, start in zip(cells.tolist(), starts.tolist(), strict=True):
        before[w] = start
    return True


def join(steps: Steps, max_unchanged_words: int) -> SparseArcs | DenseArcs:
    """Join the steps of a lattice into arcs of at most `max_unchanged_words` unchanged words; join none if negative."""
    dense = len(steps.rows) >= DENSE_CELLS and max_unchanged_words >= 0
    return (DenseArcs if dense else SparseArcs)(steps, max_unchanged_words)
