"""Tables of least costs for aligning two or three texts, many at once, and tracing the best alignment back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

MISMATCH, GAP = 3, 2
EMPTY = -1


def pad(rows: Sequence[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Stack texts into arrays: their tokens `[longest, at least 1][batch]`, and their lengths `[batch]`."""
    lengths = np.array([len(row) for row in rows])
    tokens = np.full((max(1, lengths.max()), len(rows)), EMPTY, dtype=np.int32)
    for column, row in enumerate(rows):
        tokens[: len(row), column] = row
    return tokens, lengths


def fill_three(s: np.ndarray, h: np.ndarray, r: np.ndarray) -> np.ndarray:
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


def fill_two(x: np.ndarray, y: np.ndarray) -> np.ndarray:
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
    """Let every cell also be reached by insertions from the cells before it; `ramp` is what k insertions cost."""
    row -= ramp
    np.minimum.accumulate(row, axis=0, out=row)
    row += ramp


def _cost_type(shape: tuple[int, ...]) -> type:
    return np.int16 if 2 * GAP * sum(shape) < 15_000 else np.int32


def trace(
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
