"""Alignment of source, prediction and reference, token by token, by the sum of pairs (Felice and Briscoe, 2015)."""

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from geceval.core.errors import counted

logger = logging.getLogger("geceval")

MISMATCH, GAP = 3, 2
EMPTY = -1
KINDS = ("kept", "missed", "needless", "right", "other")

# int16 costs: 128 MiB for one alignment (three texts of 400 tokens), 8 MiB for a batch.
MAX_CELLS = 2**26
BATCH_CELLS = 2**22

# A column costs, for each of its three pairs, 0 if equal (also two gaps), 3 if different, 2 for token and gap. Of
# equally good alignments, read from the end, a column without a gap comes first, then those with one, then two.
_MOVES = ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
_PAIR_MOVES = ((1, 1), (1, 0), (0, 1))

Triple = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Numbers = list[list[int]]
Columns = list[np.ndarray]


def count_columns(triples: Sequence[Triple]) -> np.ndarray:
    """Align each (source, prediction, reference) and count its columns."""
    index_of = {triple: index for index, triple in enumerate(dict.fromkeys(triples))}
    numbers = [_number(triple) for triple in index_of]
    counts = np.zeros((len(index_of), len(KINDS)), dtype=np.int64)
    pieces = _Pieces()
    different = [index for index, texts in enumerate(numbers) if not _has_twins(texts)]
    for chosen in _batches(different, [[len(s), max(len(h), len(r))] for s, h, r in numbers]):
        counts[chosen] = _count_pieces([numbers[index] for index in chosen], pieces)
    twins = [index for index, texts in enumerate(numbers) if _has_twins(texts)]
    for chosen, columns in _aligned([numbers[index] for index in twins]):
        counts[[twins[index] for index in chosen]] = _count(*columns)[:, :-1]
    return counts[[index_of[triple] for triple in triples]]


def _aligned(numbers: list[Numbers]) -> Iterator[tuple[list[int], Columns]]:
    """Align triples in batches of similar size."""
    # Two equal texts stay together in an alignment of least cost: no pair of the three can cost less than when aligned
    # alone, and here all three pairs attain that. So a table over two texts is enough for a triple with equal texts.
    three, two, long = [], [], []
    for index, (s, h, r) in enumerate(numbers):
        if _has_twins((s, h, r)):
            two.append(index)
        else:
            fits = (len(s) + 1) * (len(h) + 1) * (len(r) + 1) <= MAX_CELLS
            (three if fits else long).append(index)
    if long:
        stretches = counted(len(long), "stretch", "stretches")
        logger.warning("too long for an exact three-way alignment and aligned by way of the source: %s", stretches)
    for indices in _batches(three, [[len(text) for text in row] for row in numbers]):
        sides = [_pad(texts) for texts in zip(*(numbers[index] for index in indices), strict=True)]
        yield indices, _trace(_fill_three(*(tokens for tokens, _ in sides)), sides, _MOVES, _column_cost)
    for indices in _batches(two, [[len(row[0]), len(row[1] if row[0] == row[2] else row[2])] for row in numbers]):
        yield indices, _align_twins([numbers[index] for index in indices])
    for index in long:
        yield [index], _align_by_source(*numbers[index])


class _Pieces:
    """Stretches of triples, told apart only by which of their tokens are equal, and the counts of aligned ones."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[tuple[int, ...], ...], int] = {((0,), (0,), (0,)): 0}
        self.counts = np.zeros((0, len(KINDS) + 1), dtype=np.int64)

    def number(self, s: list[int], h: list[int], r: list[int]) -> int:
        """The number of a stretch."""
        if len(s) == 1 and s == h == r:
            return 0
        names: dict[int, int] = {}
        key = tuple(tuple([names.setdefault(token, len(names)) for token in text]) for text in (s, h, r))
        return self.numbers.setdefault(key, len(self.numbers))

    def align(self) -> None:
        """Align the stretches that have not been aligned yet."""
        new = [[list(text) for text in key] for key in list(self.numbers)[len(self.counts) :]]
        counts = np.zeros((len(new), len(KINDS) + 1), dtype=np.int64)
        for indices, columns in _aligned(new):
            counts[indices] = _count(*columns)
        self.counts = np.concatenate([self.counts, counts])


def _count_pieces(batch: list[Numbers], pieces: _Pieces) -> np.ndarray:
    """Count the columns of triples, `[batch][5]`, by cutting them into stretches that can be aligned one by one."""
    # A pair of texts costs at least as much in an alignment of three as when aligned alone, so the sum of the costs of
    # the three pairs aligned alone is a lower bound (Carrillo and Lipman 1988). If an alignment exceeds it by `slack`,
    # then in a pair's table it passes only cells whose best path exceeds the pair's own cost by at most `slack`. Where
    # a source position has one such cell in the table with the prediction and one in the table with the reference, all
    # best alignments meet, ties included. The first pass assumes no slack; if its result exceeds the bound, the second
    # pass allows for that excess.
    texts = [_pad(side) for side in zip(*batch, strict=True)]
    sh, least_sh = _excess(texts[0], texts[1])
    sr, least_sr = _excess(texts[0], texts[2])
    (h, h_lengths), (r, r_lengths) = texts[1:]
    least_hr = _fill_two(h, r)[h_lengths, r_lengths, np.arange(len(batch))]
    bound = (least_sh + least_sr + least_hr) // 2
    counts = _count_cut(batch, sh <= 0, sr <= 0, pieces)
    slack = counts[:, -1] - bound
    again = np.flatnonzero(slack)
    if len(again):
        allowed = 2 * slack[again]
        rest = [batch[index] for index in again]
        counts[again] = _count_cut(rest, sh[:, :, again] <= allowed, sr[:, :, again] <= allowed, pieces)
    return counts[:, :-1]


def _excess(x: tuple[np.ndarray, np.ndarray], y: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Twice the excess of the best path through each cell, and the least cost."""
    (left, rows), (right, columns) = x, y
    forward = _fill_two(left, right)
    backward = _fill_two(_reverse(left, rows), _reverse(right, columns))
    batch = np.arange(len(rows))
    i = rows - np.arange(forward.shape[0])[:, None]
    j = columns - np.arange(forward.shape[1])[:, None]
    least = forward[rows, columns, batch]
    excess = forward + backward[i[:, None], j[None], batch] - least
    excess[(i < 0)[:, None] | (j < 0)[None]] = np.iinfo(excess.dtype).max
    return excess, least.astype(np.int64)


def _reverse(tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    positions = lengths - 1 - np.arange(len(tokens))[:, None]
    return np.where(positions >= 0, np.take_along_axis(tokens, np.maximum(positions, 0), axis=0), EMPTY)


def _count_cut(batch: list[Numbers], sh: np.ndarray, sr: np.ndarray, pieces: _Pieces) -> np.ndarray:
    """Counts and cost of triples, `[batch][6]`, cut at the rows in which both tables allow one cell."""
    cuts = (sh.sum(axis=1) == 1) & (sr.sum(axis=1) == 1)
    in_h, in_r = sh.argmax(axis=1), sr.argmax(axis=1)
    starts, stretches = [], []
    for index, (s, h, r) in enumerate(batch):
        starts.append(len(stretches))
        rows = np.flatnonzero(cuts[:, index])
        cells = [*zip(rows.tolist(), in_h[rows, index].tolist(), in_r[rows, index].tolist(), strict=True)]
        i, j, k = 0, 0, 0
        for cell in [*cells, (len(s), len(h), len(r))]:
            stretches.append(pieces.number(s[i : cell[0]], h[j : cell[1]], r[k : cell[2]]))
            i, j, k = cell
    pieces.align()
    return np.add.reduceat(pieces.counts[stretches], starts, axis=0)


def _number(triple: Triple) -> Numbers:
    names: dict[str, int] = {}
    return [[names.setdefault(token, len(names)) for token in text] for text in triple]


def _has_twins(texts: Sequence[list[int]]) -> bool:
    s, h, r = texts
    return s in (h, r) or h == r


def _batches(indices: list[int], sizes: list[list[int]]) -> Iterator[list[int]]:
    """Split indices, sorted by size, into runs whose table has at most `BATCH_CELLS` cells."""
    batch: list[int] = []
    largest: list[int] = []
    for index in sorted(indices, key=lambda index: sizes[index]):
        grown = [max(pair) for pair in zip(largest or sizes[index], sizes[index], strict=True)]
        if batch and np.prod([size + 1 for size in grown]) * (len(batch) + 1) > BATCH_CELLS:
            yield batch
            batch, grown = [], sizes[index]
        batch.append(index)
        largest = grown
    if batch:
        yield batch


def _align_twins(batch: Sequence[Numbers]) -> Columns:
    """Align triples in which two texts are equal."""
    single = np.array([2 if s == h else 1 if s == r else 0 for s, h, r in batch])
    twin, other = _align_pairs([(row[1 if odd == 0 else 0], row[odd]) for row, odd in zip(batch, single, strict=True)])
    return [np.where(single == side, other, twin) for side in range(3)]


def _align_pairs(batch: Sequence[tuple[list[int], list[int]]]) -> Columns:
    """Align pairs of texts; the first stands for two equal ones."""
    sides = [_pad(texts) for texts in zip(*batch, strict=True)]
    return _trace(_fill_two(*(tokens for tokens, _ in sides)), sides, _PAIR_MOVES, _pair_cost)


def _align_by_source(s: list[int], h: list[int], r: list[int]) -> Columns:
    """Align prediction and reference each to the source, and their insertions at one position in order: not exact."""
    inserted: list[list[list[int]]] = []
    facing: list[list[int]] = []
    for text in (h, r):
        source, aligned = (column[:, 0].tolist() for column in _align_pairs([(s, text)]))
        slots: list[list[int]] = [[]]
        partners = []
        for left, right in zip(source, aligned, strict=True):
            if left == EMPTY:
                slots[-1].append(right)
            else:
                partners.append(right)
                slots.append([])
        inserted.append(slots)
        facing.append(partners)
    columns: list[tuple[int, int, int]] = []
    for at in range(len(s) + 1):
        columns += [(EMPTY, *pair) for pair in itertools.zip_longest(inserted[0][at], inserted[1][at], fillvalue=EMPTY)]
        if at < len(s):
            columns.append((s[at], facing[0][at], facing[1][at]))
    return list(np.array(columns, dtype=np.int32).T[:, :, None])


def _column_cost(tokens: Sequence[np.ndarray], move: tuple[int, ...]) -> np.ndarray | int:
    """Sum of pairs of a column of three."""
    there = [token for token, step in zip(tokens, move, strict=True) if step]
    mismatches = sum((a != b).astype(np.int32) for a, b in itertools.combinations(there, 2))
    return MISMATCH * mismatches + (2 * GAP if len(there) < 3 else 0)


def _pair_cost(tokens: Sequence[np.ndarray], move: tuple[int, ...]) -> np.ndarray | int:
    """Sum of pairs of a column of three with two equal tokens."""
    return 2 * MISMATCH * (tokens[0] != tokens[1]).astype(np.int32) if all(move) else 2 * GAP


def _count(s: np.ndarray, h: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Columns of each kind and the cost, `[batch][6]`, of token numbers `[columns][batch]`."""
    padding = (s == EMPTY) & (h == EMPTY) & (r == EMPTY)
    kinds = (
        (s == h) & (h == r) & ~padding,
        (s == h) & (h != r),
        (s != h) & (s == r),
        (s != h) & (h == r),
        (s != h) & (s != r) & (h != r),
    )
    cost = sum(np.where((a == EMPTY) | (b == EMPTY), GAP, MISMATCH) * (a != b) for a, b in ((s, h), (s, r), (h, r)))
    return np.stack([values.sum(axis=0) for values in (*kinds, cost)], axis=1)


# Tables of least costs for aligning two or three texts, many at once, and tracing the best alignment back.


def _pad(rows: Sequence[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Stack texts into arrays: their tokens `[longest, at least 1][batch]`, and their lengths `[batch]`."""
    lengths = np.array([len(row) for row in rows])
    tokens = np.full((max(1, lengths.max()), len(rows)), EMPTY, dtype=np.int32)
    for column, row in enumerate(rows):
        tokens[: len(row), column] = row
    return tokens, lengths


def _fill_three(s: np.ndarray, h: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Least costs of aligning the first i, j and k tokens, `[|s| + 1][|h| + 1][|r| + 1][batch]`."""
    shape = (len(s) + 1, len(h) + 1, len(r) + 1, s.shape[1])
    table = np.empty(shape, dtype=_cost_type(shape[:-1]))
    sh = MISMATCH * (s[:, None] != h).astype(table.dtype)
    hr = MISMATCH * (h[:, None] != r).astype(table.dtype)
    ramp = (2 * GAP * np.arange(shape[2], dtype=table.dtype))[:, None]
    for i, plane in enumerate(table):
        if i == 0:
            plane[:] = 2 * GAP * sum(shape[:3])
            plane[0, 0] = 0
        else:
            before = table[i - 1]
            sr = MISMATCH * (s[i - 1] != r).astype(table.dtype)
            np.add(before, 2 * GAP, out=plane)
            np.minimum(plane[:, 1:], before[:, :-1] + (sr + 2 * GAP), out=plane[:, 1:])
            np.minimum(plane[1:], before[:-1] + (sh[i - 1] + 2 * GAP)[:, None], out=plane[1:])
            np.minimum(plane[1:, 1:], before[:-1, :-1] + (hr + (sh[i - 1][:, None] + sr)), out=plane[1:, 1:])
        for j, row in enumerate(plane):
            if j > 0:
                np.minimum(row, plane[j - 1] + 2 * GAP, out=row)
                np.minimum(row[1:], plane[j - 1, :-1] + (hr[j - 1] + 2 * GAP), out=row[1:])
            _insert(row, ramp)
    return table


def _fill_two(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least costs of aligning the first i tokens of a text that stands for two and j of another, `[i][j][batch]`."""
    shape = (len(x) + 1, len(y) + 1, x.shape[1])
    table = np.empty(shape, dtype=_cost_type(shape[:-1]))
    ramp = (2 * GAP * np.arange(shape[1], dtype=table.dtype))[:, None]
    table[0] = ramp
    for i in range(1, shape[0]):
        np.add(table[i - 1], 2 * GAP, out=table[i])
        unequal = (x[i - 1] != y).astype(table.dtype)
        np.minimum(table[i, 1:], table[i - 1, :-1] + 2 * MISMATCH * unequal, out=table[i, 1:])
        _insert(table[i], ramp)
    return table


def _insert(row: np.ndarray, ramp: np.ndarray) -> None:
    """Let every cell also be reached by insertions from the cells before it; `ramp`: the cost of k insertions."""
    row -= ramp
    np.minimum.accumulate(row, axis=0, out=row)
    row += ramp


def _cost_type(shape: tuple[int, ...]) -> type:
    return np.int16 if 2 * GAP * sum(shape) < 15_000 else np.int32


def _trace(
    table: np.ndarray,
    sides: Sequence[tuple[np.ndarray, np.ndarray]],
    moves: Sequence[tuple[int, ...]],
    cost: Callable[[Sequence[np.ndarray], tuple[int, ...]], np.ndarray | int],
) -> list[np.ndarray]:
    """Walk from the end of every alignment to its start; of equally good moves the first is taken."""
    flat, batch = table.ravel(), np.arange(table.shape[-1])
    strides = [stride // table.itemsize for stride in table.strides[:-1]]
    at = [lengths.copy() for _, lengths in sides]
    columns = []
    while (unmoved := np.any(at, axis=0)).any():
        cell = sum(position * stride for position, stride in zip(at, strides, strict=True)) + batch
        facing = [tokens[position - 1, batch] for (tokens, _), position in zip(sides, at, strict=True)]
        steps = [np.zeros_like(position) for position in at]
        for move in moves:
            back = sum(step * stride for step, stride in zip(move, strides, strict=True))
            taken = unmoved & np.all([position >= step for position, step in zip(at, move, strict=True)], axis=0)
            taken &= flat[np.maximum(cell - back, 0)] + cost(facing, move) == flat[cell]
            for side, step in enumerate(move):
                if step:
                    steps[side][taken] = 1
            unmoved &= ~taken
        columns.append([np.where(step, token, EMPTY) for step, token in zip(steps, facing, strict=True)])
        at = [position - step for position, step in zip(at, steps, strict=True)]
    empty = np.empty((len(sides), 0, len(batch)), dtype=np.int32)
    return list(np.array(columns[::-1]).transpose(1, 0, 2) if columns else empty)
