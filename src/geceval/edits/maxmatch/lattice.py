"""The lattice of MaxMatch: all short ways from a source to a target."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

EPSILON = 0.001
CELLS = 2**23
FILLED = 2**20
"""Two unrelated texts of 1,024 words; their tables and steps take seconds and half a gigabyte."""
_FAR = 1 << 20


class Steps(NamedTuple):
    """The steps of the lattice between its cells, which are numbered by row, then column."""

    # A cell (i, j) is reached after i tokens of the source and j tokens of the target; a step goes to the next row
    # (deletion), the next column (insertion) or both (substitution, or no change). `arcs`: from, to, unchanged, how
    # many of the two tables have it.

    rows: list[int]
    columns: list[int]
    arcs: list[tuple[int, int, int, int]]
    single_path: bool


class Arc(NamedTuple):
    """One step, or several joined ones."""

    length: int
    penalties: int
    inserts_first: bool


def weight(length: int, penalties: int) -> float:
    """Cost of an arc that no gold edit matches; added up one by one because the rounding can break ties."""
    cost: float = length
    for _ in range(penalties):
        cost += EPSILON
    return cost


class Purge:
    """Takes joined arcs without any change out of the list of arcs, as the official program does."""

    # It deletes from the list that it is iterating over, so whatever follows a deleted entry is never looked at and
    # stays.

    def __init__(self) -> None:
        self.skips = False

    def keeps(self, changes: bool) -> bool:
        """Whether the next entry of the list stays."""
        self.skips = not (changes or self.skips)
        return not self.skips


def relax(arcs: Iterable[tuple[int, int, float]], costs: list[float], before: list[int]) -> bool:
    """Let arcs (from, to, cost), in their order, shorten the paths to their ends; whether any path is shorter now."""
    changed = False
    for v, w, cost in arcs:
        cost += costs[v]
        if cost < costs[w]:
            costs[w], before[w], changed = cost, v, True
    return changed


def walk_back(before: list[int]) -> list[tuple[int, int]]:
    """The arcs of a path, given the cell before each cell (-1: none)."""
    path = []
    cell = len(before) - 1
    while before[cell] >= 0:
        path.append((before[cell], cell))
        cell = before[cell]
    return path[::-1]


def find_steps(source: Sequence[str], target: Sequence[str], max_cells: int) -> Steps:
    """The steps of all cheapest paths of two edit distances, with substitutions of cost 1 and 2 (the paper's §4)."""
    # For texts whose tables would be too large, only one cheapest path is kept, whatever `max_cells` is.
    if _is_too_long(source, target):
        return _number(source, target, dict.fromkeys(_one_path(source, target), 1), single_path=True)
    table, distance = _distances(source, target, 1, abs(len(source) - len(target)) + 2)
    occurrences = dict.fromkeys(_trace(source, target, 1, table), 1)
    other, _ = _distances(source, target, 2, max(2 * distance, 1))
    for step in _trace(source, target, 2, other):
        occurrences[step] = occurrences.get(step, 0) + 1
    single_path = len({0, *(to for _, to in occurrences)}) > max_cells
    if single_path:
        occurrences = dict.fromkeys(_trace(source, target, 1, table, only_one=True), 1)
    return _number(source, target, occurrences, single_path)


def _number(
    source: Sequence[str], target: Sequence[str], occurrences: dict[tuple[int, int], int], single_path: bool
) -> Steps:
    width = len(target) + 1
    cells = sorted({0, *(to for _, to in occurrences)})
    number = {cell: index for index, cell in enumerate(cells)}
    rows = [cell // width for cell in cells]
    columns = [cell % width for cell in cells]
    arcs = []
    for step in sorted(occurrences):
        v, w = number[step[0]], number[step[1]]
        diagonal = rows[v] < rows[w] and columns[v] < columns[w]
        unchanged = int(diagonal and source[rows[v]] == target[columns[v]])
        arcs.append((v, w, unchanged, occurrences[step]))
    return Steps(rows, columns, arcs, single_path)


def _is_too_long(source: Sequence[str], target: Sequence[str]) -> bool:
    """Whether the tables have more than `CELLS` cells, or their filled part more than `FILLED`."""
    rows, columns = sorted((len(source) + 1, len(target) + 1))
    if rows * columns <= FILLED:
        return False
    return rows * columns > CELLS or rows * min(columns, 2 * Levenshtein.distance(*_ids(source, target)) + 3) > FILLED


def _one_path(source: Sequence[str], target: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The steps of one cheapest path where substitutions cost 1, found without a table."""
    width = len(target) + 1
    for kind, i, i_end, j, j_end in Levenshtein.opcodes(*_ids(source, target)):
        down, right = int(kind != "insert"), int(kind != "delete")
        for step in range(max(i_end - i, j_end - j)):
            cell = (i + down * step) * width + j + right * step
            yield cell, cell + down * width + right


def _ids(source: Sequence[str], target: Sequence[str]) -> tuple[list[int], list[int]]:
    names: dict[str, int] = {}
    return [names.setdefault(t, len(names)) for t in source], [names.setdefault(t, len(names)) for t in target]


def _distances(
    source: Sequence[str], target: Sequence[str], substitution: int, bound: int
) -> tuple[list[list[int]], int]:
    """The table of edit distances, exact on every cell of a cheapest path, and the distance."""
    # Only the band of cells that a path of cost `bound` can reach is filled; the bound doubles until the distance fits.
    n, m = len(source), len(target)
    while True:
        below, above = (bound - (m - n)) // 2, (bound + (m - n)) // 2
        row = [j if j <= above else _FAR for j in range(m + 1)]
        table = [row]
        for i in range(1, n + 1):
            previous, row = row, [_FAR] * (m + 1)
            token = source[i - 1]
            first = i - below
            if first <= 0:
                first, row[0] = 1, i
            left = row[first - 1]
            for j in range(first, min(m, i + above) + 1):
                cost = previous[j - 1]
                if token != target[j - 1]:
                    cost += substitution
                if previous[j] < cost:
                    cost = min(cost, previous[j] + 1)
                if left < cost:
                    cost = min(cost, left + 1)
                row[j] = left = cost
            table.append(row)
        if row[m] <= bound:
            return table, row[m]
        bound *= 2


def _trace(
    source: Sequence[str], target: Sequence[str], substitution: int, table: list[list[int]], only_one: bool = False
) -> Iterator[tuple[int, int]]:
    """Every step (from, to) of the cheapest paths, backwards from the last cell; a cell is row * width + column."""
    width = len(target) + 1
    last = len(source) * width + len(target)
    seen, waiting = {last}, [last]
    while waiting:
        cell = waiting.pop()
        i, j = divmod(cell, width)
        cost = table[i][j]
        before = []
        if i and j and cost == table[i - 1][j - 1] + (source[i - 1] != target[j - 1]) * substitution:
            before.append(cell - width - 1)
        if i and cost == table[i - 1][j] + 1:
            before.append(cell - width)
        if j and cost == table[i][j - 1] + 1:
            before.append(cell - 1)
        for origin in before[:1] if only_one else before:
            yield origin, cell
            if origin not in seen:
                seen.add(origin)
                waiting.append(origin)
