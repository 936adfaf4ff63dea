"""Chunks of GoToScorer (Gotou et al., 2020): a sentence cut at the reference's edits, and what systems made of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from geceval.edits.edit import Edit, applicable, without_overlaps
from geceval.edits.m2 import M2Sentence

NO_EDIT_TYPES = frozenset({"noop", "UNK", "Um"})
"""Types that say that nothing was, or could be, corrected (`Um` is the "unclear meaning" of the NUCLE corpus)."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a tokenised sentence that is corrected, or left alone, as a whole."""

    start: int
    end: int
    source: str
    correction: str
    type: str = ""
    is_edit: bool = False
    alternatives: tuple[str, ...] = ()

    @property
    def is_gap(self) -> bool:
        """Whether this is a gap between tokens: an insertion, or where nothing is inserted."""
        return self.start == self.end


class Judgment(NamedTuple):
    """The outcome for one chunk of the reference under one system."""

    modified: bool
    correct: bool


def cut(source: str, edits: Iterable[Edit]) -> list[Chunk]:
    """Cut a sentence at the edits; the chunks follow the order of the text and cover every token once."""
    # Each edit is a chunk and each token outside the edits is one. Before every chunk that holds tokens there is a gap
    # where something could be inserted, unless an insertion is there already; one more gap ends the sentence. So a
    # sentence of `t` tokens without edits has `2t + 1` chunks.
    tokens = source.split()
    chunks: list[Chunk] = []
    done = 0
    for edit in applicable(source, tokens, (edit for edit in edits if edit.type not in NO_EDIT_TYPES)):
        _add_unchanged(chunks, tokens, done, edit.start)
        if edit.end > edit.start:
            _add_gap(chunks, edit.start)
        corrections = [" ".join(text.split()) for text in edit.corrections]
        text = " ".join(tokens[edit.start : edit.end])
        chunks.append(Chunk(edit.start, edit.end, text, corrections[0], edit.type, True, tuple(corrections[1:])))
        done = edit.end
    _add_unchanged(chunks, tokens, done, len(tokens))
    _add_gap(chunks, len(tokens))
    return chunks


def _add_unchanged(chunks: list[Chunk], tokens: list[str], start: int, end: int) -> None:
    for offset in range(start, end):
        _add_gap(chunks, offset)
        chunks.append(Chunk(offset, offset + 1, tokens[offset], tokens[offset]))


def _add_gap(chunks: list[Chunk], offset: int) -> None:
    if not (chunks and chunks[-1].is_gap):
        chunks.append(Chunk(offset, offset, "", ""))


def cut_annotations(sentences: Sequence[M2Sentence], annotator: int | None = None) -> list[list[list[Chunk]]]:
    """Cut the sentences of an M2 file at the edits of its annotators, with the spans of the file."""
    # Of edits that repeat each other or overlap, the first in the file is used.
    known = {number for sentence in sentences for number in sentence.edits}
    if annotator is not None and annotator not in known:
        raise LookupError(f"the annotators are {', '.join(map(str, sorted(known)))}")
    rows = []
    for sentence in sentences:
        chosen = sentence.edits.values() if annotator is None else [sentence.edits.get(annotator, [])]
        rows.append([cut(sentence.source, _usable(edits)) for edits in chosen])
    return rows


def _usable(edits: Iterable[Edit]) -> list[Edit]:
    """The edits, leaving out those that change nothing, repeat an earlier one or overlap an earlier one."""
    distinct: dict[tuple[int, int, tuple[str, ...]], Edit] = {}
    for edit in edits:
        if edit.type not in NO_EDIT_TYPES:
            distinct.setdefault((edit.start, edit.end, edit.corrections), edit)
    return without_overlaps(list(distinct.values()))


def judge(reference: Sequence[Chunk], system: Sequence[Chunk]) -> list[Judgment]:
    """Judge a system's chunks of a sentence against those of the reference."""
    # A chunk of the reference is correct if the system has one with the same span and the same correction. A gap
    # between tokens is compared with that gap only. Any other chunk is wrong as soon as a chunk of the system overlaps
    # it; an insertion of the system at its left edge overlaps it too. It is modified if one of the overlapping chunks
    # is an edit.
    # Both lists follow the order of the text, so one pass over both is enough: O(chunks).
    judgments = []
    first = 0
    for chunk in reference:
        while first < len(system) and system[first].start < chunk.start and system[first].end <= chunk.start:
            first += 1
        judgments.append(_judge_chunk(chunk, system, first))
    return judgments


def _judge_chunk(chunk: Chunk, system: Sequence[Chunk], first: int) -> Judgment:
    """The judgment of one chunk by the system's chunks from the `first` that does not lie before it."""
    modified = touched = False
    for number in range(first, len(system)):
        other = system[number]
        if other.start > chunk.start and other.start >= chunk.end:
            break
        same_span = (other.start, other.end) == (chunk.start, chunk.end)
        if same_span and (other.correction == chunk.correction or other.correction in chunk.alternatives):
            return Judgment(other.is_edit, True)
        if same_span or not chunk.is_gap:
            touched = True
            modified = modified or other.is_edit
    return Judgment(modified, not touched and not chunk.is_edit)
