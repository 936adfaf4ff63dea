"""The difficulty of a reference by error type."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.edits.gotoscorer_chunks import Chunk
from geceval.scorers.difficulty.chunk_difficulty import Difficulty


@dataclass(frozen=True, slots=True)
class ReferenceDifficulty:
    """A reference in chunks, and how many systems got each right."""

    chunks: list[list[Chunk]]
    difficulty: Difficulty


@dataclass(frozen=True, slots=True)
class TypeRow:
    """The difficulty of the edits of one error type."""

    type: str
    mean: float
    sd: float
    frequency: int


def type_table(reference: ReferenceDifficulty, level: int = 2) -> list[TypeRow]:
    """Difficulty by error type, the hardest first; only edits of the reference count."""
    if level not in (1, 2, 3):
        raise InputError(f"level must be 1, 2 or 3, got {level!r}")
    by_type: dict[str, list[float]] = {}
    for chunks, numbers in zip(reference.chunks, reference.difficulty.of_chunks(), strict=True):
        for chunk, difficulty in zip(chunks, numbers, strict=True):
            if chunk.is_edit:
                by_type.setdefault(_group(chunk, level), []).append(difficulty)
    rows = [
        TypeRow(kind, statistics.fmean(numbers), statistics.stdev(numbers) if len(numbers) > 1 else 0.0, len(numbers))
        for kind, numbers in by_type.items()
    ]
    return sorted(rows, key=lambda row: -row.mean)


def _group(chunk: Chunk, level: int) -> str:
    operation, colon, main_type = chunk.type.partition(":")
    has_operation = bool(colon) and operation in ("M", "U", "R")
    if level == 1:
        return operation if has_operation else _operation(chunk)
    if level == 2 and has_operation:
        return main_type
    return chunk.type


def _operation(chunk: Chunk) -> str:
    if chunk.is_gap:
        return "M"
    return "R" if chunk.correction else "U"
