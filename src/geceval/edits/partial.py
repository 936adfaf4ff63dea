"""Sentences of which only some edits are made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from geceval.core.errors import InputError
from geceval.edits.edit import Edit, apply, in_order


def partly_corrected(source: str, edits: Sequence[Edit], made: Collection[int]) -> tuple[str, list[Edit]]:
    """Make some of the edits; the others still apply to what comes of it.

    Args:
        source: The tokenised source.
        edits: Edits that do not overlap, in the order of `in_order`.
        made: Places in `edits` of those to make.

    Returns:
        The text, and the edits that are left, with their offsets in that text.

    Raises:
        ValueError: If an edit lies beyond the source, edits overlap, or they are not in order.
    """
    if list(edits) != in_order(edits):
        raise InputError("edits must be in the order of the sentence, without noops; see in_order")
    text = apply(source, [edit for place, edit in enumerate(edits) if place in made])
    left, moved = [], 0
    for place, edit in enumerate(edits):
        if place in made:
            moved += len(edit.correction.split()) - (edit.end - edit.start)
        else:
            left.append(replace(edit, start=edit.start + moved, end=edit.end + moved))
    return text, left
