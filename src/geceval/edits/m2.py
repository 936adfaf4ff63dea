"""M2 files: sentences with the edits of one or several annotators."""

import itertools
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import read_text, write_text
from geceval.edits.edit import NOOP, Edit, apply, in_order, without_overlaps

logger = logging.getLogger("geceval")

_FIELDS = "offsets, type, correction, required, comment, annotator"
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(slots=True)
class M2Sentence:
    """A sentence of an M2 file: annotator to edits, in the order of the file; none if an annotator changed nothing."""

    source: str  # tokens joined by one space
    edits: dict[int, list[Edit]] = field(default_factory=lambda: {0: []})
    line: int = 0  # of the file, from 1; 0 if the sentence was not read
    # Annotator to the fields "required" and "comment" of each edit, if the sentence was read; they are not written.
    remarks: dict[int, list[tuple[str, str]]] = field(default_factory=dict, repr=False, compare=False)


def read_m2(path: str | Path) -> list[M2Sentence]:
    """Read an M2 file, also compressed (`.gz`) or from standard input (`"-"`).

        S This are gramamtical sentence .
        A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
        A 2 3|||R:SPELL|||grammatical||correct|||REQUIRED|||-NONE-|||0
        A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

    Fields: offsets, type, correction, required, comment, annotator. Offsets count `split()` tokens. `||` separates
    alternatives. An empty correction or `-NONE-` deletes. `noop` says that the annotator changed nothing. A sentence
    without any `A` line was left unchanged by annotator 0. An annotator who has no line while another one has did not
    annotate the sentence: the M2 scorer and ERRANT read it so, although some corpora leave out noops.
    """
    return parse_m2(read_text(path), name=str(path))


def parse_m2(text: str, *, name: str = "M2", alternatives: bool = True) -> list[M2Sentence]:
    """Read sentences and edits from the text of an M2 file."""
    # Accepted silently: a missing final blank line, blank lines at either end, several edits with one span, types of
    # any kind, `I` lines and ChERRANT's `T` lines (ignored), an `S` line without text (an empty sentence).
    # Repaired or kept, with one warning per file: CRLF line ends and white space on blank lines (removed), several
    # blank lines in a row (read as one), several `S` lines in a row (joined; offsets count on), a noop beside other
    # edits or with offsets (removed, or read as -1 -1), edits of one annotator that overlap, repeat each other or are
    # not in the order of the sentence (kept as they are: the M2 scorer and ERRANT count them, `apply` refuses
    # overlaps).
    reader = _Reader(name, alternatives)
    for number, line in enumerate(text.split("\n"), start=1):
        reader.take(number, line)
    reader.close()
    return reader.sentences


def write_m2(path: str | Path, sentences: Iterable[M2Sentence]) -> None:
    """Write an M2 file that ERRANT and the M2 scorer read; an annotator without edits gets a noop line."""
    # Corrections that contain `||`, which ERRANT reads literally but others (and `read_m2`) take for alternatives, and
    # the correction `-NONE-`, which is read as a deletion, are written, with a warning.
    write_text(path, format_m2(sentences))


def format_m2(sentences: Iterable[M2Sentence]) -> str:
    """The text of an M2 file; see `write_m2`."""
    blocks = []
    ambiguous: list[int] = []
    for number, sentence in enumerate(sentences, start=1):
        lines = [f"S {' '.join(sentence.source.split())}"]
        for annotator, edits in sentence.edits.items():
            for edit in edits or [Edit(-1, -1, "", NOOP, annotator)]:
                try:
                    lines.append(replace(edit, annotator=annotator).to_m2())
                except ValueError as error:
                    raise InputError(f"sentence {number}: {error}") from error
                if any("||" in text or text.strip() == "-NONE-" for text in edit.corrections):
                    ambiguous.append(number)
        blocks.append("\n".join(lines) + "\n\n")
    if ambiguous:
        logger.warning(
            "%d edits insert '||' or '-NONE-', which M2 reads as alternatives or a deletion (first: sentence %d)",
            len(ambiguous),
            ambiguous[0],
        )
    return "".join(blocks)


def references(sentence: M2Sentence) -> dict[int, str]:
    """Annotator to corrected text, by the first alternatives; of edits that overlap, the first in the file is made."""
    return {annotator: apply(sentence.source, without_overlaps(edits)) for annotator, edits in sentence.edits.items()}


class _Reader:
    """Reads the lines of one file."""

    def __init__(self, name: str, alternatives: bool) -> None:
        self.name = name
        self.alternatives = alternatives
        self.sentences: list[M2Sentence] = []
        self.notes: dict[str, tuple[int, int]] = {}
        self.current: M2Sentence | None = None
        self.blanks = 0
        self.length = 0  # tokens of the current sentence
        self.seen: set[tuple[int, int, int, tuple[str, ...]]] = set()  # its edits: a look at each would be quadratic

    def take(self, number: int, line: str) -> None:
        if line.endswith("\r"):
            self.note("CRLF line ends removed", number)
            line = line.rstrip("\r")
        if not line.strip():
            self.blanks += 1
            if line:
                self.note("white space on blank lines removed", number)
            self.finish()
        elif line == "S" or line.startswith("S "):
            self.take_source(number, line)
        elif line.startswith("A "):
            self.take_edit(number, line)
        elif not re.match("I |T[0-9]", line):
            raise self.error(number, f"expected a line that starts with 'S ' or 'A ', got {_short(line)}")

    def take_source(self, number: int, line: str) -> None:
        tokens = line[1:].split()
        text = " ".join(tokens)
        if self.current is None:
            if self.blanks > 1 and self.sentences:
                self.note("several blank lines in a row read as one", number)
            self.current = M2Sentence(text, {}, number)
            self.length = 0
            self.seen.clear()
        elif self.current.edits:
            raise self.error(number, "an S line follows A lines; put a blank line between two sentences")
        else:
            self.note("S lines in a row joined to one sentence", number)
            self.current.source = f"{self.current.source} {text}".strip()
        self.length += len(tokens)
        self.blanks = 0

    def take_edit(self, number: int, line: str) -> None:
        if self.current is None:
            raise self.error(number, "an A line without an S line before it; is there a blank line too many?")
        fields = _fields(line[2:])
        if len(fields) != 6:
            raise self.error(number, f"expected 6 fields ({_FIELDS}), got {len(fields)} in {_short(line)}")
        start, end = self.offsets(number, fields[0])
        annotator = self.integer(number, fields[5], "the annotator")
        edits = self.current.edits.setdefault(annotator, [])
        kind = fields[1].strip()
        if kind == NOOP or (kind, start, end) == ("NA", -1, -1):
            if kind != NOOP:
                self.note("annotations that nobody could make (NA) read as noops", number)
            if (start, end) != (-1, -1):
                self.note("noops with offsets read as -1 -1", number)
            edits.append(Edit(-1, -1, "", NOOP, annotator))
            return
        if not 0 <= start <= end:
            raise self.error(number, f"offsets {start} {end} are negative or reversed; only a noop has -1 -1")
        if end > self.length:
            raise self.error(number, f"offsets {start} {end} lie beyond the {self.length} tokens of the sentence")
        corrections = fields[2].split("||") if self.alternatives else [fields[2]]
        texts = tuple("" if t.strip() == "-NONE-" else " ".join(t.split()) for t in corrections)
        edit = Edit(start, end, texts[0], kind, annotator, texts[1:])
        self.note_oddities(number, edit, edits)
        edits.append(edit)
        self.current.remarks.setdefault(annotator, []).append((fields[3], fields[4]))

    def note_oddities(self, number: int, edit: Edit, edits: list[Edit]) -> None:
        """Compare an edit with those that the annotator already has."""
        last = next((other for other in reversed(edits) if not other.is_noop), None)
        if last is not None and (edit.start, edit.end) < (last.start, last.end):
            self.note("edits out of order kept in the order of the file", number)
        key = (edit.annotator, edit.start, edit.end, edit.corrections)
        if key in self.seen:
            self.note("repeated edits kept", number)
        self.seen.add(key)

    def finish(self) -> None:
        """End the current sentence."""
        sentence, self.current = self.current, None
        if sentence is None:
            return
        if not sentence.edits:
            sentence.edits[0] = []
        for annotator, edits in sentence.edits.items():
            real = [edit for edit in edits if not edit.is_noop]
            if real and len(real) < len(edits):
                self.note("noops beside other edits removed", sentence.line)
            sentence.edits[annotator] = real
            ordered = in_order(real)
            if any(b.start < a.end for a, b in itertools.pairwise(ordered)):
                self.note("overlapping edits kept", sentence.line)
        self.sentences.append(sentence)

    def close(self) -> None:
        self.finish()
        if self.notes:
            parts = [f"{what} ({count}, first on line {line})" for what, (count, line) in self.notes.items()]
            logger.warning("%s: %s", self.name, "; ".join(parts), extra={"of_file": True})

    def offsets(self, number: int, text: str) -> tuple[int, int]:
        parts = text.split()
        if len(parts) != 2:
            raise self.error(number, f"expected two offsets, got {_short(text)}")
        return self.integer(number, parts[0], "an offset"), self.integer(number, parts[1], "an offset")

    def integer(self, number: int, text: str, what: str) -> int:
        if not _INTEGER.fullmatch(text.strip()):
            raise self.error(number, f"{what} must be an integer, got {_short(text)}")
        return int(text)

    def note(self, oddity: str, number: int) -> None:
        count, first = self.notes.get(oddity, (0, number))
        self.notes[oddity] = (count + 1, first)

    def error(self, number: int, message: str) -> InputError:
        return InputError(f"{self.name}, line {number}: {message}")


def _fields(line: str) -> list[str]:
    """The fields of an `A` line without its letter; a correction may begin or end with one or two bars of its own."""
    offsets, _, remainder = line.partition("|||")
    kind, _, remainder = remainder.partition("|||")
    fields = [offsets, kind, *remainder.rsplit("|||", 3)]
    plain = line.split("|||")
    return fields if len(fields) == 6 and "|||" not in fields[2] else plain


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
