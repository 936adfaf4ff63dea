"""The difficulty of each chunk of a reference: the values that GoToScorer weighs by, and their files.

A difficulty file is text. Its first line is the number of systems; then comes one line per sentence with one integer
per chunk, separated by spaces: how many of the systems got that chunk right.
"""

import hashlib
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import read_text
from geceval.edits.gotoscorer_chunks import Chunk, judge

UNIFORM = "uniform"


@dataclass(frozen=True, slots=True)
class Difficulty:
    """The number of systems, of all, that got each chunk of each sentence right; `path` is for messages."""

    systems: int
    correct: list[list[int]]
    path: str = ""

    def of_chunks(self) -> list[list[float]]:
        """The share of the systems that got the chunk wrong, one list per sentence with one number per chunk."""
        shares = [1.0 - count / self.systems for count in range(self.systems + 1)]
        return [[shares[count] for count in counts] for counts in self.correct]

    def check(self, sentences: Sequence[Sequence[Chunk]]) -> None:
        """Raise a `ValueError` unless there is one count for each chunk of the given sentences."""
        where = self.path or "difficulty"
        if len(self.correct) != len(sentences):
            raise InputError(f"{where}: holds {len(self.correct)} sentences, but {len(sentences)} are scored")
        for number, (counts, chunks) in enumerate(zip(self.correct, sentences, strict=True)):
            if len(counts) != len(chunks):
                line = f", line {number + 2}" if self.path else ""
                raise InputError(
                    f"{where}{line}: {len(counts)} counts, but the reference of sentence {number + 1} has "
                    f"{len(chunks)} chunks; they were made for another reference, annotator (ref_id) or tokenisation"
                )

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with the counts."""
        return hashlib.sha256(format_difficulty(self).encode()).hexdigest()[:8]


def count_correct(references: Sequence[Sequence[Chunk]], systems: Iterable[Sequence[Sequence[Chunk]]]) -> Difficulty:
    """Count for each chunk how many systems get it right."""
    correct = [[0] * len(chunks) for chunks in references]
    number = 0
    for system in systems:
        number += 1
        for counts, reference, chunks in zip(correct, references, system, strict=True):
            for index, judgment in enumerate(judge(reference, chunks)):
                counts[index] += judgment.correct
    if not number:
        raise InputError("difficulty needs at least one system")
    return Difficulty(number, correct)


def read_difficulty(path: str | Path) -> Difficulty:
    """Read a difficulty file."""
    lines = read_text(path).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InputError(f"{path}: the difficulty file is empty; its first line must be the number of systems")
    systems = _integers(path, 1, lines[0])
    if len(systems) != 1 or systems[0] < 1:
        raise InputError(f"{path}, line 1: expected the number of systems, got {lines[0].strip()[:60]!r}")
    correct = []
    for number, line in enumerate(lines[1:], start=2):
        counts = _integers(path, number, line)
        if not counts:
            raise InputError(f"{path}, line {number}: the line is blank; even an empty sentence has one chunk")
        if max(counts) > systems[0]:
            raise InputError(f"{path}, line {number}: {max(counts)} of {systems[0]} systems cannot be right")
        correct.append(counts)
    if not correct:
        raise InputError(f"{path}: holds no sentence, only the number of systems")
    return Difficulty(systems[0], correct, str(path))


def _integers(path: str | Path, number: int, line: str) -> list[int]:
    fields = line.split()
    bad = next((field for field in fields if not (field.isascii() and field.isdecimal() and len(field) < 10)), None)
    if bad is not None:
        raise InputError(f"{path}, line {number}: expected counts, got {bad[:60]!r}")
    return [int(field) for field in fields]


def format_difficulty(difficulty: Difficulty) -> str:
    """The text of a difficulty file."""
    lines = [str(difficulty.systems), *(" ".join(map(str, counts)) for counts in difficulty.correct)]
    return "\n".join(lines) + "\n"


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


def chunk_table(reference: ReferenceDifficulty) -> str:
    """Every chunk with its weight: for each sentence a block of four lines, columns aligned."""
    # The lines are `orig` (the source), `gold` (the correction), `weight` and `cat` (the error type); an empty cell is
    # a gap between tokens, or a deletion.
    blocks = []
    rows = zip(reference.chunks, reference.difficulty.of_chunks(), strict=True)
    for number, (chunks, numbers) in enumerate(rows, start=1):
        columns = [("orig", "gold", "weight", "cat")]
        for chunk, weight in zip(chunks, numbers, strict=True):
            columns.append((chunk.source, chunk.correction, f"{weight:.2f}", chunk.type))
        widths = [max(map(len, column)) for column in columns]
        lines = [
            " | ".join(column[row].ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip()
            for row in range(4)
        ]
        blocks.append(f"# sentence {number}\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)
