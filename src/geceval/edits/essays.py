"""Essays with edits by character (the JSON format of FCE and W&I+LOCNESS), converted into tokenised sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, InputTypeError
from geceval.core.files import read_text
from geceval.edits.edit import Edit, in_order, one_edit, without_overlaps
from geceval.edits.m2 import M2Sentence

if TYPE_CHECKING:
    from spacy.language import Language

# Learners and annotators use quotes and dashes of any style; BEA-2019 normalises them. One character for one, so that
# offsets stay true.
_PUNCTUATION = str.maketrans("’‘´`′“”„″–—‐‑，。！？：；（）\u00a0", "'''''\"\"\"\"----,.!?:;() ")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One change of a text: characters `start` to `end` (exclusive) become `correction`; `None` only marks them."""

    start: int
    end: int
    correction: str | None


@dataclass(frozen=True, slots=True)
class Essay:
    """A text of one or more paragraphs, one per line."""

    name: str
    text: str
    edits: dict[int, list[TextEdit]]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Characters `start` to `end` of an essay with the edits of each annotator there."""

    start: int
    end: int
    edits: dict[int, list[TextEdit]]


def read_essays(path: str | Path) -> list[Essay]:
    """Read JSON lines: `id`, `text`, `edits` = `[[annotator, [[start, end, text, …], …]], …]`."""
    essays = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                essays.append(_to_essay(json.loads(line)))
            except (LookupError, TypeError, ValueError, RecursionError) as error:
                reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
                raise InputError(
                    f"{path}, line {number}: not an essay with edits by character, as of FCE or W&I ({reason})"
                ) from error
    return essays


def to_sentences(essays: Iterable[Essay]) -> list[M2Sentence]:
    """Split essays into sentences and their edits, with offsets by token and without types."""
    # As close as possible to the M2 files of BEA-2019, which were made with another version of spaCy and its parser.
    # Sentences and tokens are those of spaCy's rules for English, which no pipeline changes; a sentence ends with its
    # paragraph at the latest. Where a correction crosses the end of a sentence, the sentences are joined, so that no
    # edit is lost and a source always stands beside its own correction. An edit covers the tokens that it touches,
    # except those at either end that it leaves unchanged; an edit that only changes white space disappears. A span that
    # is marked but not corrected becomes an edit of the type `UNK` which repeats the tokens, one per sentence, unless
    # it contains a correction.
    rows = []
    for essay in essays:
        text = essay.text.translate(_PUNCTUATION)
        edits = {annotator: _prepare(each, text) for annotator, each in essay.edits.items()}
        for sentence in _assign(_join(_borders(text), edits), edits, text):
            tokens = _tokens(text[sentence.start : sentence.end])
            source = " ".join(token for _, token in tokens)
            by_annotator = {
                annotator: [replace(edit, annotator=annotator) for edit in _align(text, sentence, each, tokens)]
                for annotator, each in sentence.edits.items()
            }
            rows.append(M2Sentence(source, by_annotator))
    return rows


def _to_essay(content: Any) -> Essay:
    text = content["text"]
    if not isinstance(text, str):
        raise InputTypeError(f"text is {type(text).__name__}")
    text.encode("utf-8")  # JSON may hold halves of surrogate pairs, no other file can
    edits: dict[int, list[TextEdit]] = {}
    for annotator, rows in content["edits"]:
        edits.setdefault(_integer(annotator), []).extend(_to_edit(text, row) for row in rows)
    for each in edits.values():
        corrections = sorted((e.start, e.end) for e in each if e.correction is not None)
        for (_, end), (start, _) in zip(corrections, corrections[1:], strict=False):
            if start < end:
                raise InputError(f"two corrections overlap at character {start}")
    return Essay(str(content["id"]), text, edits or {0: []})


def _to_edit(text: str, row: Any) -> TextEdit:
    start, end, correction = _integer(row[0]), _integer(row[1]), row[2]
    if not 0 <= start <= end <= len(text):
        raise InputError(f"the edit {row} lies beyond the {len(text)} characters of the text")
    if correction is not None and not isinstance(correction, str):
        raise InputTypeError(f"the correction of {row} is {type(correction).__name__}")
    (correction or "").encode("utf-8")
    return TextEdit(start, end, correction)


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise InputTypeError(f"{value!r} is not an integer")
    return value


@lru_cache(maxsize=None)
def _english() -> Language:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


def _tokens(text: str) -> list[tuple[int, str]]:
    """Tokens with their offsets, white space left out."""
    return [(token.idx, token.text) for token in _english().make_doc(text) if not token.is_space]


def _prepare(edits: Sequence[TextEdit], text: str) -> list[TextEdit]:
    """Corrections without the white space that they do not change, and marks that contain no correction; sorted."""
    prepared = []
    for edit in edits:
        if edit.correction is not None:
            prepared.append(_trim(replace(edit, correction=edit.correction.translate(_PUNCTUATION)), text))
    for mark in edits:
        if mark.correction is None and not any(mark.start <= e.start and e.end <= mark.end for e in prepared):
            prepared.append(mark)
    return sorted(prepared, key=lambda edit: (edit.start, edit.end))


def _trim(edit: TextEdit, text: str) -> TextEdit:
    start, end, correction = edit.start, edit.end, edit.correction or ""
    while start < end and correction and text[start].isspace() and correction[0].isspace():
        start, correction = start + 1, correction[1:]
    while start < end and correction and text[end - 1].isspace() and correction[-1].isspace():
        end, correction = end - 1, correction[:-1]
    return TextEdit(start, end, correction)


def _borders(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, white space around it left out."""
    borders, offset = [], 0
    for paragraph in text.split("\n"):
        for sentence in _english()(paragraph).sents if paragraph.strip() else ():
            tokens = [token for token in sentence if not token.is_space]
            if tokens:
                borders.append((offset + tokens[0].idx, offset + tokens[-1].idx + len(tokens[-1])))
        offset += len(paragraph) + 1
    return borders


def _join(borders: list[tuple[int, int]], edits: dict[int, list[TextEdit]]) -> list[tuple[int, int]]:
    """The boundaries after joining the sentences that one correction touches."""
    corrections = sorted((e.start, e.end) for each in edits.values() for e in each if e.correction is not None)
    joined: list[tuple[int, int]] = []
    for start, end in borders:
        if joined and any(left < joined[-1][1] and start < right for left, right in corrections):
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def _assign(borders: list[tuple[int, int]], edits: dict[int, list[TextEdit]], text: str) -> list[_Sentence]:
    """Give each edit to its sentence, which grows by an edit that reaches into the white space around it."""
    by_sentence: list[dict[int, list[TextEdit]]] = [{annotator: [] for annotator in edits} for _ in borders]
    for annotator, each in edits.items():
        for edit in each:
            for index in _sentences_of(edit, borders, text):
                start, end = borders[index]
                mark = replace(edit, start=max(edit.start, start), end=min(edit.end, end))
                by_sentence[index][annotator].append(mark if edit.correction is None else edit)
    sentences = []
    for (start, end), by_annotator in zip(borders, by_sentence, strict=True):
        there = [edit for each in by_annotator.values() for edit in each]
        first = min([start, *(edit.start for edit in there)])
        last = max([end, *(edit.end for edit in there)])
        sentences.append(_Sentence(first, last, by_annotator))
    return sentences


def _sentences_of(edit: TextEdit, borders: list[tuple[int, int]], text: str) -> list[int]:
    """The sentences that an edit touches; an insertion between two sentences goes to the nearer one."""
    touched = [index for index, (start, end) in enumerate(borders) if edit.start < end and start < edit.end]
    inside = [index for index, (start, end) in enumerate(borders) if start < edit.start < end]
    if touched or inside or edit.correction is None or not edit.correction.strip():
        return touched or inside
    before = [index for index, (_, end) in enumerate(borders) if end <= edit.start][-1:]
    after = [index for index, (start, _) in enumerate(borders) if start >= edit.end][:1]
    if not before or not after:
        return before or after
    gaps = text[borders[before[0]][1] : edit.start], text[edit.end : borders[after[0]][0]]
    left, right = (("\n" in gap, bool(gap)) for gap in gaps)
    if left == right:  # a final stop belongs to what it ends, a word more likely to what it begins
        return after if edit.correction.lstrip()[0].isalnum() else before
    return before if left < right else after


def _align(text: str, sentence: _Sentence, edits: list[TextEdit], tokens: list[tuple[int, str]]) -> list[Edit]:
    """Edits by token: whatever lies between two token borders that the edits leave in place."""
    # A border of the source and one of the corrected text belong together if the character position between the tokens
    # is the same one, moved by the edits before it.
    corrected, shifts, done = [], [], sentence.start
    length = 0
    for edit in [e for e in edits if e.correction is not None]:
        shifts.append((done, edit.start, length))
        corrected += [text[done : edit.start], edit.correction or ""]
        length += edit.start - done + len(edit.correction or "")
        done = edit.end
    shifts.append((done, sentence.end, length))
    outcome = "".join([*corrected, text[done : sentence.end]])
    after = _tokens(outcome)
    old = _token_borders(tokens, sentence.end - sentence.start)
    new = _token_borders(after, len(outcome))
    aligned, last = [], (0, 0)
    for start, end, moved in shifts:
        for position in range(start, end + 1):
            here = (old.get(position - sentence.start), new.get(position - start + moved))
            if here[0] is None or here[1] is None:
                continue
            aligned += _edit_between(last, (here[0], here[1]), tokens, after)
            last = (here[0], here[1])
    aligned += _edit_between(last, (len(tokens), len(after)), tokens, after)
    marks = [_mark(e.start - sentence.start, e.end - sentence.start, tokens) for e in edits if e.correction is None]
    return in_order(without_overlaps([*aligned, *(mark for mark in marks if mark.start < mark.end)]))


def _token_borders(tokens: list[tuple[int, str]], length: int) -> dict[int, int]:
    """Position between two characters to the number of tokens before it; positions within tokens are left out."""
    borders, done = {}, 0
    for number, (start, token) in enumerate(tokens):
        borders.update(dict.fromkeys(range(done, start + 1), number))
        done = start + len(token)
    borders.update(dict.fromkeys(range(done, length + 1), len(tokens)))
    return borders


def _edit_between(
    left: tuple[int, int], right: tuple[int, int], tokens: list[tuple[int, str]], after: list[tuple[int, str]]
) -> list[Edit]:
    """The edit between two pairs of borders, without equal tokens at either end; none if all are equal."""
    old = [token for _, token in tokens[left[0] : right[0]]]
    new = [token for _, token in after[left[1] : right[1]]]
    return [one_edit(old, new, left[0])] if old != new else []


def _mark(start: int, end: int, tokens: list[tuple[int, str]]) -> Edit:
    touched = [n for n, (offset, token) in enumerate(tokens) if offset < end and start < offset + len(token)]
    if not touched:
        return Edit(0, 0, "", "UNK")
    first, last = touched[0], touched[-1] + 1
    return Edit(first, last, " ".join(token for _, token in tokens[first:last]), "UNK")
