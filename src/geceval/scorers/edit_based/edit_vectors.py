"""Edits as vectors: what each changes in its sentence, as an encoder sees it (UOT-ERRANT)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.edits.edit import Edit, apply, distinct, in_order, without_overlaps

VECTORS = ("ref-remove", "src-add")
MASSES = ("norm", "uniform")
_NOISE = 1e-5  # of the norm of a text's vector: how far equal texts may lie apart in float32


@dataclass(frozen=True, slots=True, eq=False)
class EditVectors:
    """The edits of one side of a sentence as points with masses."""

    edits: Sequence[Edit]
    vectors: np.ndarray
    masses: np.ndarray


def edit_vectors(
    rows: Iterable[tuple[str, Sequence[Edit]]],
    embed: Callable[[Sequence[str]], np.ndarray],
    vectors: str = "ref-remove",
    mass: str = "norm",
) -> list[EditVectors]:
    """The vectors of all edits; all distinct texts are embedded in one call."""
    removes = vectors == "ref-remove"
    texts = []
    for source, edits in rows:
        known = in_order(without_overlaps(distinct([edit for edit in edits if edit.type != "UNK"])))
        made = [known[:index] + known[index + 1 :] if removes else [edit] for index, edit in enumerate(known)]
        texts.append((known, [apply(source, each) for each in (known if removes else [], *made)] if known else []))
    index = {text: row for row, text in enumerate(dict.fromkeys(text for _, row in texts for text in row))}
    embedded = np.asarray(embed(list(index)), dtype=np.float64)
    found = []
    for known, row in texts:
        points = embedded[[index[text] for text in row]]
        moved = (points[:1] - points[1:]) * (1 if removes else -1)
        norms = np.linalg.norm(moved, axis=-1)
        unseen = norms <= _NOISE * np.linalg.norm(points[:1], axis=-1)
        moved[unseen], norms[unseen] = 0.0, 0.0
        masses = norms if mass == "norm" else np.full(len(known), 1 / max(len(known), 1))
        found.append(EditVectors(known, moved, masses))
    return found
