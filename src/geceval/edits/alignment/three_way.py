"""Alignment of source, prediction and reference, token by token, by the sum of pairs (Felice and Briscoe 2015).

A column holds a token or a gap of each text and costs, for each of its three pairs: 0 if equal (also two gaps), 3 for
two different tokens, 2 for a token beside a gap. Among the alignments of least cost, the one chosen is the one that,
read from the end, prefers a column without a gap, then one with one gap (in the reference, the prediction, the source),
then one with two (only the source, only the prediction, only the reference has a token).
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence

import numpy as np

from geceval.core.errors import counted
from geceval.edits.alignment.tables import EMPTY, GAP, MISMATCH, fill_three, fill_two, pad, trace

logger = logging.getLogger("geceval")

KINDS = ("kept", "missed", "needless", "right", "other")

# int16 costs: 128 MiB for one alignment (three texts of 400 tokens), 8 MiB for a batch.
MAX_CELLS = 2**26
BATCH_CELLS = 2**22

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


def align(source: Sequence[str], prediction: Sequence[str], reference: Sequence[str]) -> list[tuple[str | None, ...]]:
    """The columns of one alignment, each (source, prediction, reference), with `None` for a gap."""
    triple = (tuple(source), tuple(prediction), tuple(reference))
    ((_, columns),) = _aligned([_number(triple)])
    names = [*dict.fromkeys(itertools.chain(*triple)), None]
    rows = np.stack(columns)[:, :, 0].T.tolist()
    return [tuple(names[number] for number in row) for row in rows]


def _aligned(numbers: list[Numbers]) -> Iterator[tuple[list[int], Columns]]:
    """Align triples in batches of similar size."""
    # Two equal texts stay together in an alignment of least cost (each pair of the three costs at least as much as when
    # aligned alone, and here all three attain that), so a table over two texts is enough for them.
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
        yield indices, _align_three([numbers[index] for index in indices])
    for indices in _batches(two, [[len(row[0]), len(row[1] if row[0] == row[2] else row[2])] for row in numbers]):
        yield indices, _align_twins([numbers[index] for index in indices])
    for index in long:
        yield [index], _align_by_source(*numbers[index])


class _Pieces:
    """Stretches of triples, told apart only by which of their tokens are equal, and the counts of those aligned."""

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
    # the three pairs aligned alone is a lower bound (Carrillo and Lipman 1988). An alignment that exceeds it by `slack`
    # can only pass cells of the table of two texts whose best path exceeds that pair's own cost by at most `slack`.
    # Where a row of the table of source and prediction and one of source and reference have one such cell each, all
    # best alignments meet, ties included. The first pass tries no slack; if the result exceeds the bound, the second
    # allows for what it found.
    texts = [pad(side) for side in zip(*batch, strict=True)]
    sh, least_sh = _excess(texts[0], texts[1])
    sr, least_sr = _excess(texts[0], texts[2])
    (h, h_lengths), (r, r_lengths) = texts[1:]
    least_hr = fill_two(h, r)[h_lengths, r_lengths, np.arange(len(batch))]
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
    """Twice: by how much the best path through each cell exceeds the best of all."""
    (left, rows), (right, columns) = x, y
    forward = fill_two(left, right)
    backward = fill_two(_reverse(left, rows), _reverse(right, columns))
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
    """Counts and cost of triples, `[batch][6]`, cut at the rows in which either table allows one cell."""
    cuts = (sh.sum(axis=1) == 1) & (sr.sum(axis=1) == 1)
    in_h, in_r = sh.argmax(axis=1), sr.argmax(axis=1)
    starts, found = [], []
    for index, (s, h, r) in enumerate(batch):
        starts.append(len(found))
        rows = np.flatnonzero(cuts[:, index])
        cells = [*zip(rows.tolist(), in_h[rows, index].tolist(), in_r[rows, index].tolist(), strict=True)]
        i, j, k = 0, 0, 0
        for cell in [*cells, (len(s), len(h), len(r))]:
            found.append(pieces.number(s[i : cell[0]], h[j : cell[1]], r[k : cell[2]]))
            i, j, k = cell
    pieces.align()
    return np.add.reduceat(pieces.counts[found], starts, axis=0)


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


def _align_three(batch: Sequence[Numbers]) -> Columns:
    sides = [pad(texts) for texts in zip(*batch, strict=True)]
    return trace(fill_three(*(tokens for tokens, _ in sides)), sides, _MOVES, _column_cost)


def _align_twins(batch: Sequence[Numbers]) -> Columns:
    """Align triples in which two texts are equal."""
    single = np.array([2 if s == h else 1 if s == r else 0 for s, h, r in batch])
    twin, other = _align_pairs([(row[1 if odd == 0 else 0], row[odd]) for row, odd in zip(batch, single, strict=True)])
    return [np.where(single == side, other, twin) for side in range(3)]


def _align_pairs(batch: Sequence[tuple[list[int], list[int]]]) -> Columns:
    """Align pairs of texts of which the first stands for two."""
    sides = [pad(texts) for texts in zip(*batch, strict=True)]
    return trace(fill_two(*(tokens for tokens, _ in sides)), sides, _PAIR_MOVES, _pair_cost)


def _align_by_source(s: list[int], h: list[int], r: list[int]) -> Columns:
    """Align prediction and reference each to the source, and what both insert at one position in order: not exact."""
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
    """Sum of pairs of a column of three of which two are equal."""
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
