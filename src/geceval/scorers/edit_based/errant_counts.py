"""How ERRANT compares the edits of a system with those of an annotator."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from geceval.core.f_score import Counts, rounded
from geceval.edits.edit import Edit
from geceval.scorers.references.annotator_choice import Order

LEVELS = ("correction", "correction_with_type", "detection_span", "detection_token")
LENGTHS = ("any", "single", "multi")
DUPLICATES = ("official", "gec-metrics")
GRAINS = ("operation", "main", "full")

Keyed: TypeAlias = dict[Hashable, list[str]]
"""What is compared (e.g. span and correction), and the types of the edits that have it."""

TypeCounts: TypeAlias = dict[str, Counts]
"""Error type to counts."""


def keyed(edits: Iterable[Edit], level: str, length: str, without_types: Iterable[str]) -> Keyed:
    """What two annotations must have in common."""
    types: Keyed = {}
    excluded = frozenset(without_types)
    for edit in edits:
        is_multi = edit.end - edit.start >= 2 or len(_correction(edit).split()) >= 2
        wanted = length == "any" or is_multi == (length == "multi")
        corrects = edit.type != "UNK" or level.startswith("detection")
        if wanted and corrects and not edit.is_noop and edit.type not in excluded:
            for key in _keys(edit, level):
                types.setdefault(key, []).append(edit.type)
    return types


def compare(proposed: Keyed, gold: Keyed, duplicates: str) -> TypeCounts:
    """Count by error type: hits and misses under the annotator's type, false alarms under the system's."""
    counted: dict[str, list[int]] = {}

    def add(types: Iterable[str], column: int) -> None:
        for kind in types:
            counted.setdefault(kind, [0, 0, 0])[column] += 1

    for key, types in proposed.items():
        if key not in gold:
            add(types, 1)
        else:
            add(gold[key] if duplicates == "official" else types, 0)
    for key, types in gold.items():
        if key not in proposed:
            add(types, 2)
    return {kind: Counts(*counts) for kind, counts in counted.items()}


def total(counts: TypeCounts) -> Counts:
    """The counts of all types together."""
    return sum(counts.values(), Counts())


def errant_order(beta: float, rounding: str) -> Order:
    """How ERRANT ranks references: highest F so far, then most hits, fewest false alarms, fewest misses."""

    def keys(before: Counts, options: Counts) -> tuple[np.ndarray, ...]:
        f = (before + options).f(beta)
        return (rounded(f) if rounding == "official" else f), options.tp, -options.fp, -options.fn

    return keys


def by_type(counts: TypeCounts, beta: float) -> dict[str, dict[str, dict[str, float]]]:
    """Tables at three levels of detail: operation (`R`), main type (`VERB:SVA`) and full type (`R:VERB:SVA`)."""
    # UNK and types that are not ERRANT's have no operation; they appear unchanged in all three tables.
    tables: dict[str, dict[str, Counts]] = {grain: {} for grain in GRAINS}
    for kind in sorted(counts):
        operation, main = (kind[0], kind[2:]) if kind[:2] in ("M:", "R:", "U:") else (kind, kind)
        for grain, name in zip(GRAINS, (operation, main, kind), strict=True):
            tables[grain][name] = tables[grain].get(name, Counts()) + counts[kind]
    return {grain: {name: rows[name].to_details(beta) for name in sorted(rows)} for grain, rows in tables.items()}


def _correction(edit: Edit) -> str:
    """The correction as in the M2 file: ERRANT has no alternatives, so it takes `a||b` for one correction."""
    return "||".join(edit.corrections)


def _keys(edit: Edit, level: str) -> Iterator[Hashable]:
    if level == "correction":
        yield edit.start, edit.end, _correction(edit)
    elif level == "correction_with_type":
        yield edit.start, edit.end, edit.type, _correction(edit)
    elif level == "detection_span":
        yield edit.start, edit.end
    else:
        yield from range(edit.start, max(edit.end, edit.start + 1))
