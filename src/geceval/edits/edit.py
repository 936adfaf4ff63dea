"""Edits: spans of source tokens and what stands there instead."""

import os.path
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from geceval.core.errors import InputError

NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a tokenised source; tokens are `source.split()`.

    Attributes:
        start: Offset of the first source token that is replaced, from 0; for an insertion, the token it precedes.
        end: Offset after the last source token that is replaced; equal to `start` for an insertion.
        correction: What stands there instead, tokens joined by one space; `""` deletes.
        type: Error type, e.g. ERRANT's `"R:VERB:SVA"`, or `""` if unknown. It says nothing about what the edit does:
            ERRANT gives `M:` and `U:` also to edits with tokens on both sides ("Doctor" to "The doctor").
        annotator: Number of the annotator who made the edit.
        alternatives: Further corrections that are as good as `correction`; M2 files list them as `this||that`.
    """

    start: int
    end: int
    correction: str
    type: str = ""
    annotator: int = 0
    alternatives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.start == self.end == -1 and self.type == NOOP:
            return
        if not 0 <= self.start <= self.end:
            raise InputError(f"edit {self}: the span must fulfil 0 <= start <= end")

    def __str__(self) -> str:
        return f"({self.start}, {self.end}, {self.correction!r})"

    @property
    def is_noop(self) -> bool:
        """Whether this only says that the annotator changed nothing (M2: `-1 -1|||noop`)."""
        return self.type == NOOP

    @property
    def corrections(self) -> tuple[str, ...]:
        """The correction and its alternatives."""
        return (self.correction, *self.alternatives)

    def to_m2(self) -> str:
        """The `A` line of an M2 file, as ERRANT writes it; a deletion is empty, or `-NONE-` among alternatives.

        Raises:
            ValueError: If the type or a correction holds `|||` or a line break, or the type ends in a bar, which M2
                cannot express.
        """
        correction = self.correction
        if self.is_noop or self.alternatives:
            # Spaces keep a bar at the edge of a text apart from those between texts; readers strip them.
            spaced = (f" {text} " if "|" in (text[:1], text[-1:]) else text for text in self.corrections)
            correction = "||".join(text or "-NONE-" for text in spaced)
        if self.type.endswith("|") or any("|||" in field or "\n" in field for field in (self.type, correction)):
            raise InputError(f"edit {self}: M2 cannot express '|||' or a line break")
        kind = self.type or "UNK"
        return f"A {self.start} {self.end}|||{kind}|||{correction}|||REQUIRED|||-NONE-|||{self.annotator}"


def apply(source: str, edits: Iterable[Edit]) -> str:
    """Apply the edits to the source, by span and never by type.

    Args:
        source: The tokenised source.
        edits: Edits in any order. Insertions at one offset keep the order of the list, and stand before a
            replacement that starts there. Noop edits are left out; alternatives are not used.

    Returns:
        The corrected text, tokens joined by one space.

    Raises:
        ValueError: If an edit lies beyond the end of the source or two edits overlap; the message says which.
    """
    tokens = source.split()
    return " ".join(correct_span(tokens, 0, len(tokens), applicable(source, tokens, edits)))


def correct_span(tokens: Sequence[str], start: int, end: int, edits: Iterable[Edit]) -> list[str]:
    """The tokens of a span with those edits made that lie in it; edits are in order and do not overlap."""
    corrected, done = [], start
    for edit in edits:
        if start <= edit.start and edit.end <= end:
            corrected += [*tokens[done : edit.start], *edit.correction.split()]
            done = edit.end
    return [*corrected, *tokens[done:end]]


def leave_one_out(source: str, edits: Sequence[Edit]) -> list[str]:
    """The corrected text, and that without each of the edits."""
    return [apply(source, edits), *(apply(source, [*edits[:i], *edits[i + 1 :]]) for i in range(len(edits)))]


def applicable(source: str, tokens: Sequence[str], edits: Iterable[Edit]) -> list[Edit]:
    """The edits as `in_order` sorts them; a `ValueError` if one lies beyond the end of the source or two overlap."""
    ordered = in_order(edits)
    done, previous = 0, None
    for edit in ordered:
        if edit.end > len(tokens):
            raise InputError(f"edit {edit} lies beyond the {len(tokens)} tokens of {source!r}")
        if edit.start < done:
            raise InputError(f"edits {previous} and {edit} of {source!r} overlap")
        done, previous = edit.end, edit
    return ordered


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """The edits without noops, sorted by span; insertions at one offset keep their order."""
    changes = [edit for edit in edits if edit.type != NOOP]
    return sorted(changes, key=lambda edit: (edit.start, edit.end)) if len(changes) > 1 else changes


def distinct(edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits, of those with the same span and correction only the first."""
    if len(edits) < 2:
        return edits
    return list({(edit.start, edit.end, edit.correction): edit for edit in reversed(edits)}.values())[::-1]


def without_overlaps(edits: Sequence[Edit]) -> list[Edit]:
    """The edits but noops that can be applied together: of two that overlap, the one that comes first in the list."""
    # Insertions at one offset do not overlap each other, nor do they overlap an edit that only borders on them.
    remaining: list[Edit] = []
    for edit in edits:
        if not edit.is_noop and not any(overlap(edit, other) for other in remaining):
            remaining.append(edit)
    return remaining


def overlap(left: Edit, right: Edit) -> bool:
    """Whether two edits cannot be applied together."""
    first, second = sorted((left, right), key=lambda edit: (edit.start, edit.end))
    return second.start < first.end


def one_edit(old: Sequence[str], new: Sequence[str], offset: int = 0) -> Edit:
    """The shortest edit that turns tokens, the first of which has this offset, into others; empty if they are equal."""
    start, end = common_ends(old, new)
    return Edit(offset + start, offset + len(old) - end, " ".join(new[start : len(new) - end]))


def common_ends(left: Sequence[Any], right: Sequence[Any]) -> tuple[int, int]:
    """How many items two sequences share at the start and, of the others, at the end."""
    start = len(os.path.commonprefix([left, right]))
    return start, len(os.path.commonprefix([left[start:][::-1], right[start:][::-1]]))
