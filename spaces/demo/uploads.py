"""Uploaded and pasted texts: what they hold, or one sentence that says why they are of no use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import read_lines as read_text_lines
from geceval.core.files import split_lines
from geceval.core.inputs import references_by_sentence
from geceval.edits.m2 import read_m2
from geceval.edits.m2 import references as corrected
from geceval.workflows.test_sets import NamedTestSet
from limits import MAX_CHARACTERS, MAX_WORDS, Refused

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


_HEADING = "## "


@dataclass(frozen=True, slots=True)
class Text:
    """An uploaded or pasted text."""

    name: str
    lines: list[str]
    m2: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts that fit together."""

    sources: list[str]
    systems: dict[str, list[str]]
    references: list[list[str | None]] | list[list[str]] | None
    gold_m2: str | None
    named: NamedTestSet | None = None


def uploaded(path: str) -> Text:
    """An uploaded file."""
    if path.lower().endswith(".m2"):
        return Text(_name(path), [], path)
    return Text(_name(path), read_lines(path))


def pasted(text: str | None, name: str) -> list[Text]:
    """Pasted texts: one, or several if lines `## NAME` begin them."""
    if text is not None and not isinstance(text, str):
        raise Refused(f"Paste {name} as text.")
    if len(text or "") > MAX_BYTES:
        raise Refused(f"{name} has {len(text or ''):,} characters; this page takes {MAX_BYTES:,} at most.")
    found: dict[str, list[str]] = {}
    current = name
    for line in split_lines(text or ""):
        if line.startswith(_HEADING):
            current = line.removeprefix(_HEADING).strip()[:60] or name
            if current in found:
                raise Refused(f"Two pasted texts are called {current}.")
            found[current] = []
        elif line.strip() or current in found:
            found.setdefault(current, []).append(line.strip())
    return [Text(each, _checked(each, _without_last_blanks(lines))) for each, lines in found.items()]


def _without_last_blanks(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def fit_together(source: Sequence[Text], systems: Sequence[Text], references: Sequence[Text]) -> Corpus:
    """Check the texts of one comparison against each other."""
    if not source:
        raise Refused("Upload or paste the source first: what the learners wrote, one sentence per line.")
    if len(source) > 1:
        raise Refused("There is more than one source: upload it or paste it.")
    if not systems:
        raise Refused("Upload or paste the output of at least one system.")
    if len(systems) > MAX_SYSTEMS:
        raise Refused(f"This page compares {MAX_SYSTEMS} systems at most, but there are {len(systems)}.")
    if len(references) > MAX_ANNOTATORS:
        raise Refused(f"This page takes {MAX_ANNOTATORS} references at most.")
    misplaced = next((text.name for text in (*source, *systems) if text.m2), None)
    if misplaced:
        raise Refused(f"{misplaced} is an M2 file: it belongs to the references.")
    outputs: dict[str, list[str]] = {}
    for text in systems:
        outputs[_system(text.name, outputs)] = _parallel(text, source[0])
    gold = [text for text in references if text.m2]
    if gold and len(references) > 1:
        raise Refused("An M2 file holds all annotators: leave the other references out.")
    rows = _corrected(gold[0], source[0]) if gold else _rows(references, source[0])
    return Corpus(source[0].lines, outputs, rows, gold[0].m2 if gold else None)


def _rows(references: Sequence[Text], source: Text) -> list[list[str | None]] | None:
    columns = [_parallel(text, source) for text in references]
    try:
        return references_by_sentence(source.lines, columns, [text.name for text in references])
    except InputError as error:
        raise Refused(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error


def _corrected(gold: Text, source: Text) -> list[list[str]]:
    """The corrected texts of an M2 file, by sentence."""
    path = str(gold.m2)
    _check_size(path)
    try:
        sentences = read_m2(path)
    except (InputError, UnicodeDecodeError) as error:
        raise Refused(f"{str(error).replace(path, gold.name)}.") from error
    if len(sentences) != len(source.lines):
        raise Refused(
            f"{gold.name} has {len(sentences):,} sentences but {source.name} has {len(source.lines):,} lines; "
            "they must be parallel."
        )
    for number, (sentence, line) in enumerate(zip(sentences, source.lines, strict=True), start=1):
        if sentence.source.split() != line.split():
            raise Refused(f"Sentence {number} of {gold.name} is not line {number} of {source.name}.")
    return [list(corrected(sentence).values()) for sentence in sentences]


def read_lines(path: str) -> list[str]:
    """The lines of an uploaded text file."""
    name = _name(path)
    _check_size(path)
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


def _check_size(path: str) -> None:
    size = Path(path).stat().st_size
    if size > MAX_BYTES:
        raise Refused(
            f"{_name(path)} has {size / 2**20:.1f} MB; this page takes {MAX_BYTES // 2**20} MB a file at most."
        )


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


def _parallel(text: Text, source: Text) -> list[str]:
    if len(text.lines) != len(source.lines):
        raise Refused(
            f"{text.name} has {len(text.lines):,} lines but {source.name} has {len(source.lines):,}; "
            "they must be parallel."
        )
    return text.lines


def _name(path: str) -> str:
    name = Path(path).name
    return name if len(name) <= 60 else f"{name[:57]}…"


def _system(file: str, taken: Collection[str]) -> str:
    """A system's name: that of its file, with a number after it where another file has it too."""
    name = shown = file.rpartition(".")[0] or file
    number = 1
    while name in taken:
        number += 1
        name = f"{shown} ({number})"
    return name
