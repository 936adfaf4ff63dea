"""Merging of adjacent operations for languages other than English: rules of ERRANT, with content words of one's own."""

from collections.abc import Set
from itertools import combinations, groupby

from errant.edit import Edit as ErrantEdit
from rapidfuzz.distance import Indel
from spacy.tokens import Span

from geceval.edits.errant.alignment import Alignment
from geceval.edits.errant.dynamic_programme import Step
from geceval.edits.errant.languages.untagged import letters

SIMILAR = 0.75
"""Above this similarity, two words at the edge of an edit are forms of one word, and an edit of their own."""


def merge(alignment: Alignment, content: Set[str]) -> list[ErrantEdit]:
    """Merge the operations between matches and transpositions where words of the parts of speech `content` change."""
    steps: list[Step] = []
    for operation, group in groupby(alignment.align_seq, lambda step: step.operation if step.operation in "MT" else ""):
        if operation != "M":
            run = list(group)
            steps += run if operation else _merged(run, alignment, content)
    return [ErrantEdit(alignment.orig, alignment.cor, step[1:]) for step in steps]


def _merged(steps: list[Step], alignment: Alignment, content: Set[str]) -> list[Step]:
    if len(steps) < 2:
        return steps
    if all(step[0] != "S" for step in steps):
        parts = _parts(*_spans(steps, alignment))
        return _joined(steps) if len(parts) == 1 or parts & content else steps
    has_content = False
    for first, last in sorted(combinations(range(len(steps)), 2), key=lambda pair: pair[0] - pair[1]):
        run = steps[first : last + 1]
        if all(step[0] != "S" for step in run):
            continue
        old, new = _spans(run, alignment)
        start, end = _one_edit(old, new, first, last)
        if start < end:
            before, after = _merged(steps[:start], alignment, content), _merged(steps[end:], alignment, content)
            return [*before, *_joined(steps[start:end]), *after]
        if len(run) == 2 and (cut := _cut(run, old, new, first, last == len(steps) - 1)):
            return _merged(steps[:cut], alignment, content) + _merged(steps[cut:], alignment, content)
        has_content = has_content or not content.isdisjoint(_parts(old, new))
    return _joined(steps) if has_content else steps


def _one_edit(old: Span, new: Span, first: int, last: int) -> tuple[int, int]:
    """The operations that are one edit for the forms of their words; an empty range if there are none."""
    if old[-1].lower == new[-1].lower:
        # A word that loses or gets its capital, as another begins the sentence: [Katze -> Die katze].
        if first == 0 and any(len(a) == 1 and b[0].is_title for a, b in ((old, new), (new, old))):
            return first, last + 1
        if any(len(span) > 1 and span[-2].pos_ == "PUNCT" for span in (old, new)):  # [, wir -> . Wir]
            return last - 1, last + 1
    return (first, last + 1) if letters(old) == letters(new) else (0, 0)


def _cut(pair: list[Step], old: Span, new: Span, first: int, at_end: bool) -> int:
    """Before which operation two adjacent ones are to be cut; 0 if they are not."""
    edges = ((pair[0], 0), (pair[1], -1))
    alike = any(
        step[0] == "S" and Indel.normalized_similarity(old[edge].text, new[edge].text) > SIMILAR for step, edge in edges
    )
    sides = {"D": (old,), "I": (new,), "S": (old, new)}[pair[1][0]]
    ends_in_determiner = at_end and any(span[-1].pos_ == "DET" for span in sides)
    return first + 1 if len(old) == len(new) == 2 or alike or ends_in_determiner else 0


def _spans(steps: list[Step], alignment: Alignment) -> tuple[Span, Span]:
    return alignment.orig[steps[0][1] : steps[-1][2]], alignment.cor[steps[0][3] : steps[-1][4]]


def _parts(old: Span, new: Span) -> set[str]:
    return {token.pos_ for token in (*old, *new)}


def _joined(steps: list[Step]) -> list[Step]:
    return [Step("X", steps[0].start, steps[-1].end, steps[0].new_start, steps[-1].new_end)]
