"""How ERRANT compares the edits of a system with those of an annotator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from geceval.core.result import Counts
from geceval.edits.edit import Edit
from geceval.scorers.references.annotators import f_scores

LEVELS = ("correction", "correction_with_type", "detection_span", "detection_token")
LENGTHS = ("any", "single", "multi")
DUPLICATES = ("official", "gec-metrics")
GRAINS = ("operation", "main", "full")

Keyed: TypeAlias = dict[Hashable, list[str]]
"""What is compared, and the types of the edits that stand there."""

Tally: TypeAlias = dict[str, Counts]
"""Type of error to counts."""


def keyed(edits: Iterable[Edit], level: str, length: str, without_types: Iterable[str]) -> Keyed:
    """What two annotations must have in common.

    Args:
        edits: The edits of one sentence; noops do not count, and edits of type UNK (seen but not corrected) count for
            detection only.
        level: `"correction"`: span and correction; `"correction_with_type"`: the type too; `"detection_span"`: the
            span; `"detection_token"`: each token of the span, for an insertion the token behind it.
        length: `"any"`, `"single"` (at most one token on either side), or `"multi"` (more on at least one side).
        without_types: Full types to leave out, e.g. `"R:SPELL"`.
    """
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


def compare(proposed: Keyed, gold: Keyed, duplicates: str) -> Tally:
    """Count by type: hits and misses by the annotator's type, false alarms by the system's.

    Args:
        proposed: What the system does.
        gold: What the annotator does.
        duplicates: How several edits at one key count. `"official"`: a hit counts as often as the annotator has it
            (so the hits can outnumber the system's edits, errant issue 49), a false alarm as often as the system has
            it. `"gec-metrics"`: a hit, too, counts as often as the system has it, under the system's type.
    """
    tally: dict[str, list[int]] = {}

    def add(types: Iterable[str], place: int) -> None:
        for kind in types:
            tally.setdefault(kind, [0, 0, 0])[place] += 1

    for key, types in proposed.items():
        if key not in gold:
            add(types, 1)
        else:
            add(gold[key] if duplicates == "official" else types, 0)
    for key, types in gold.items():
        if key not in proposed:
            add(types, 2)
    return {kind: Counts(*counts) for kind, counts in tally.items()}


def total(tally: Tally) -> Counts:
    """The counts of all types together."""
    return sum(tally.values(), Counts())


def best_reference(options: Mapping[int, Counts], beta: float, rounding: str, before: Counts) -> int:
    """The reference to take for a sentence: highest F so far, then most hits, fewest false alarms, fewest misses.

    Args:
        options: Counts of the sentence for each reference.
        beta: Weight of recall.
        rounding: `"official"` compares F rounded to 4 decimal places, as ERRANT does; late in a corpus, where one
            sentence hardly moves F, the hits then decide. `"none"` compares F as it is.
        before: Counts of the sentences before this one.

    Returns:
        The first of the best.
    """

    def rank(reference: int) -> tuple[float, float, float, float]:
        counts = options[reference]
        f = (before + counts).f(beta)
        return (round(f, 4) if rounding == "official" else f, counts.tp, -counts.fp, -counts.fn)

    return max(options, key=rank)


def best_references(beta: float, rounding: str) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]:
    """The keys by which `best_reference` chooses, for `geceval.scorers.references.annotators.choose_in_order`."""

    def rank(before: np.ndarray, options: np.ndarray) -> tuple[np.ndarray, ...]:
        f = f_scores(before + options, beta)
        tp, fp, fn = np.moveaxis(options, -1, 0)
        return (_rounded(f) if rounding == "official" else f), tp, -fp, -fn

    return rank


def _rounded(values: np.ndarray) -> np.ndarray:
    """Python's `round(value, 4)`, which NumPy's differs from next to halves."""
    scaled = values * 1e4
    out = np.rint(scaled) / 1e4
    for place in np.argwhere(np.abs(scaled % 1 - 0.5) < 1e-6):
        out[tuple(place)] = round(float(values[tuple(place)]), 4)
    return out


def by_type(tally: Tally, beta: float) -> dict[str, dict[str, dict[str, float]]]:
    """Tables at three grains: operation (`R`), main type (`VERB:SVA`) and full type (`R:VERB:SVA`).

    UNK and types that are not ERRANT's have no operation; they stand as they are in all three tables.

    Returns:
        Grain to type to `precision`, `recall`, `f`, `tp`, `fp`, `fn`; types in alphabetical order.
    """
    tables: dict[str, dict[str, Counts]] = {grain: {} for grain in GRAINS}
    for kind in sorted(tally):
        operation, main = (kind[0], kind[2:]) if kind[:2] in ("M:", "R:", "U:") else (kind, kind)
        for grain, name in zip(GRAINS, (operation, main, kind), strict=True):
            tables[grain][name] = tables[grain].get(name, Counts()) + tally[kind]
    return {grain: {name: rows[name].to_details(beta) for name in sorted(rows)} for grain, rows in tables.items()}


def _correction(edit: Edit) -> str:
    """The field of the M2 file: ERRANT knows no alternatives, so `a||b` is one correction for it."""
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
