"""Uploaded files: what they hold, or one sentence that says why they are of no use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from geceval.cli.text_files import Corpus
from geceval.core.errors import InputError
from geceval.core.files import read_lines as read_text_lines
from geceval.core.inputs import references_by_sentence
from guard import MAX_CHARACTERS, MAX_WORDS, Refused

MAX_BYTES = 2 * 1024 * 1024
MAX_ROWS = 1_500
MAX_SYSTEMS = 8
MAX_ANNOTATORS = 8
_MAGIC = {
    b"PK": "a zip archive (or an Office document)",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def read_corpus(source: str | None, systems: Sequence[str] | None, references: Sequence[str] | None) -> Corpus:
    """Read and check the files of one comparison.

    Raises:
        Refused: If a file is missing, too large, no text, or does not fit the others.
    """
    if not source:
        raise Refused("Upload the source file first: what the learners wrote, one sentence per line.")
    if not systems:
        raise Refused("Upload the output of at least one system.")
    if len(systems) > MAX_SYSTEMS:
        raise Refused(f"This page compares {MAX_SYSTEMS} systems at most, but there are {len(systems)}.")
    if len(references or []) > MAX_ANNOTATORS:
        raise Refused(f"This page takes {MAX_ANNOTATORS} reference files at most.")
    sources = read_lines(source)
    outputs: dict[str, list[str]] = {}
    for path in systems:
        outputs[_system(path, outputs)] = _parallel(path, source, len(sources))
    columns = [_parallel(path, source, len(sources)) for path in references or []]
    try:
        rows = references_by_sentence(sources, columns, [_name(path) for path in references or []])
    except InputError as error:
        raise Refused(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
    return Corpus(sources, outputs, {name: name for name in outputs}, rows)


def read_lines(path: str) -> list[str]:
    """The lines of an uploaded text file.

    Raises:
        Refused: If it is too large, no UTF-8 text, empty, or has too many or too long lines.
    """
    name, size = _name(path), Path(path).stat().st_size
    if size > MAX_BYTES:
        raise Refused(f"{name} has {size / 2**20:.1f} MB; this page takes {MAX_BYTES // 2**20} MB a file at most.")
    data = Path(path).read_bytes()
    kind = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
    if kind is None and b"\x00" in data:
        kind = "a binary file"
    if kind is not None:
        raise Refused(f"{name} is no plain text but {kind}.")
    try:
        lines = [line.strip() for line in read_text_lines(path)]
    except InputError as error:
        raise Refused(f"{str(error).replace(str(path), name)}.") from error
    return _checked(name, lines)


def _checked(name: str, lines: list[str]) -> list[str]:
    if not any(lines):
        raise Refused(f"{name} is empty.")
    if len(lines) > MAX_ROWS:
        raise Refused(f"{name} has {len(lines):,} lines; this page takes {MAX_ROWS:,} at most, geceval itself any.")
    for number, line in enumerate(lines, start=1):
        words = len(line.split())
        if words > MAX_WORDS or len(line) > MAX_CHARACTERS:
            raise Refused(
                f"Line {number} of {name} has {words:,} words in {len(line):,} characters; "
                f"this page takes {MAX_WORDS} words in {MAX_CHARACTERS:,} at most."
            )
    return lines


def _parallel(path: str, source: str, rows: int) -> list[str]:
    lines = read_lines(path)
    if len(lines) != rows:
        raise Refused(
            f"{_name(path)} has {len(lines):,} lines but {_name(source)} has {rows:,}; they must be parallel."
        )
    return lines


def _name(path: str) -> str:
    name = Path(path).name
    return name if len(name) <= 60 else f"{name[:57]}…"


def _system(path: str, taken: Collection[str]) -> str:
    """A system's name: that of its file, with a number after it where another file has it too."""
    stem = Path(path).stem
    name = shown = stem if len(stem) <= 60 else f"{stem[:57]}…"
    number = 1
    while name in taken:
        number += 1
        name = f"{shown} ({number})"
    return name
