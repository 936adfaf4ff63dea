"""MaxMatch: the edits of a system, cut so that as many as possible match the gold edits (Dahlmeier and Ng, 2012)."""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import DiskCache, cached
from geceval.core.errors import InputError
from geceval.core.signature import package_version
from geceval.edits.edit import Edit
from geceval.edits.maxmatch.arcs import join
from geceval.edits.maxmatch.lattice import EPSILON, find_steps
from geceval.edits.workers import Pool

KEPT_SENTENCES = 50_000
VERSION = 1  # change it when any extraction changes: those that are kept on disk are then made anew

Key = tuple[Any, ...]
"""Source, prediction, the fields of the rules, and (annotator, fields of each gold edit) of each annotator."""

_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for cutting edits; lattices of more than `max_cells` are not searched in full."""

    # `max_unchanged_words` may stand inside an edit of the system. `version` is the official scorer's: `v3.2`, which is
    # also inside PT-M2, places some of the words that are inserted before the first word elsewhere.

    max_unchanged_words: int = 2
    version: Literal["head", "v3.2"] = "head"
    max_cells: int = 3000


SCORING = Rules()
EXTRACTING = Rules(max_unchanged_words=0)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The edits of a system, cut to suit one annotator."""

    edits: list[Edit]
    matches: list[tuple[int, int]]
    gold: list[Edit]


class Lattice:
    """The ways from a source to a prediction, shared by all annotators."""

    # This follows the official scorer rather than the paper: it takes the path with, in this order, the most arcs that
    # match a gold edit, the fewest steps outside them and the fewest edits. As an edit may hold unchanged words,
    # several wrong changes close to each other become one edit.

    def __init__(self, source: str, prediction: str, rules: Rules = SCORING) -> None:
        self._source, self._target = source.split(), prediction.split()
        self._rules = rules
        self._same = self._source == self._target
        self._paths: dict[frozenset[tuple[_Pair, float]], list[_Pair]] = {}
        self.single_path = False
        if not self._same:
            steps = find_steps(self._source, self._target, rules.max_cells)
            self.single_path = steps.single_path
            self._rows, self._columns = steps.rows, steps.columns
            self._cells = {cell: number for number, cell in enumerate(zip(steps.rows, steps.columns, strict=True))}
            self._in_row: list[list[int]] = [[] for _ in range(len(self._source) + 1)]
            for number, row in enumerate(steps.rows):
                self._in_row[row].append(number)
            self._joins = len(steps.rows) <= rules.max_cells
            self._arcs = join(steps, rules.max_unchanged_words if self._joins else -1)

    def extract(self, gold: Iterable[Edit] = ()) -> Extraction:
        """The edits of the system that match one annotator's gold edits best."""
        golds = [edit for edit in gold if not edit.is_noop]
        for edit in golds:
            if edit.end > len(self._source):
                raise InputError(f"gold edit {edit} lies beyond the {len(self._source)} tokens of the source")
        if self._same:
            return Extraction([], [], golds)
        path = self._path(self._weigh(golds))
        edits = [self._edit(pair) for pair in path]
        spans = [self._span(pair) for pair in path]
        return Extraction(edits, self._match(spans, edits, golds), golds)

    def _path(self, weights: dict[_Pair, float]) -> list[_Pair]:
        key = frozenset(weights.items())
        if key not in self._paths:
            path = self._arcs.cheapest_path(weights)
            self._paths[key] = [pair for pair in path if self._arcs.find(*pair).penalties]  # type: ignore[union-attr]
        return self._paths[key]

    def _edit(self, pair: _Pair) -> Edit:
        start, end = pair
        correction = " ".join(self._target[self._columns[start] : self._columns[end]])
        return Edit(self._rows[start], self._rows[end], correction)

    def _span(self, pair: _Pair) -> _Pair:
        """The source span of an arc in the official scorer; version 3.2 gets it wrong before the first word."""
        start, end = pair
        if self._rules.version == "head":
            return self._rows[start], self._rows[end]
        shifted = self._rows[start] == 0 and self._arcs.find(start, end).inserts_first  # type: ignore[union-attr]
        first = self._columns[start] if shifted else self._rows[start]
        return first, self._rows[end] or self._columns[end] - 1

    def _weigh(self, golds: Sequence[Edit]) -> dict[_Pair, float]:
        """Weights of the arcs whose weight the gold edits change."""
        weights: dict[_Pair, float] = {}
        for gold in golds:
            if gold.start < gold.end:
                weights.update(dict.fromkeys(self._replacements(gold), float(-self._arcs.total)))
        for offset in {gold.start for gold in golds if gold.start == gold.end}:
            here = [gold for gold in golds if gold.start == gold.end == offset]
            weights.update(self._weigh_insertions(offset, here))
        return weights

    def _replacements(self, gold: Edit) -> Iterable[_Pair]:
        """The arcs that match a gold edit which is no insertion."""
        for correction in gold.corrections:
            tokens = correction.split()
            if " ".join(tokens) != correction:
                continue
            for start in self._in_row[gold.start]:
                column = self._columns[start]
                end = self._cells.get((gold.end, column + len(tokens)))
                if end is None or self._target[column : column + len(tokens)] != tokens:
                    continue
                if self._arcs.find(start, end) and self._span((start, end)) == (gold.start, gold.end):
                    yield start, end

    def _weigh_insertions(self, offset: int, golds: Sequence[Edit]) -> dict[_Pair, float]:
        """Weights of all insertions at one offset."""
        # They are visited from both ends of their sorted list, and so are the gold insertions: a gold insertion that is
        # matched is used up together with all gold insertions on its outer side. After a match the arcs that do not go
        # on where it ends are passed over; after a failure it is the other end's turn.
        entries, costs = self._insertions(offset)
        left, right, current = 0, len(entries) - 1, 0
        first, last = 0, len(golds) - 1
        while left <= right:
            pair, from_left = entries[current], current == left
            order = range(first, last + 1) if from_left else range(last, first - 1, -1)
            hit = next((number for number in order if self._inserts(pair, golds[number])), None)
            costs[pair] = costs[pair] + EPSILON if hit is None else float(-self._arcs.total)
            if from_left:
                left += 1
                if hit is not None:
                    first = hit + 1
                    while left < len(entries) and entries[left][0] != pair[1]:
                        costs[entries[left]] += EPSILON
                        left += 1
            else:
                right -= 1
                if hit is not None:
                    last = hit - 1
                    while right >= 0 and entries[right][1] != pair[0]:
                        costs[entries[right]] += EPSILON
                        right -= 1
            current = left if from_left == (hit is not None) else right
        return costs

    def _insertions(self, offset: int) -> tuple[list[_Pair], dict[_Pair, float]]:
        """The arcs at one offset, as often as they occur and sorted, and their lengths."""
        starts = self._in_row[offset]
        pairs = self._pairs(starts, starts)
        if self._rules.version == "v3.2":
            # Version 3.2 has every first-row insertion elsewhere, and longer arcs that begin with one, too.
            row = self._in_row[0]
            ends = [*row, *starts] if offset else row
            pairs = self._pairs(row, ends) + (pairs if offset else [])
        entries: list[_Pair] = []
        costs: dict[_Pair, float] = {}
        for pair in sorted(set(pairs)):
            arc = self._arcs.find(*pair)
            if arc and arc.penalties and self._span(pair) == (offset, offset):
                entries += [pair] * arc.penalties
                costs[pair] = float(arc.length)
        return entries, costs

    def _pairs(self, starts: Sequence[int], ends: Sequence[int]) -> list[_Pair]:
        """Cells between which there may be an arc; without joins, arcs lead to the next cell of the one path."""
        if not self._joins:
            return sorted({(start, start + 1) for start in starts} & {(end - 1, end) for end in ends})
        return [(start, end) for start in starts for end in ends if start < end]

    def _inserts(self, pair: _Pair, gold: Edit) -> bool:
        start, end = pair
        return self._rows[start] == self._rows[end] and self._edit(pair).correction in gold.corrections

    def _match(self, spans: Sequence[_Pair], edits: Sequence[Edit], golds: Sequence[Edit]) -> list[tuple[int, int]]:
        """Walk both lists from left to right; gold edits before the last match are never looked at again."""
        matches = []
        resume = 0
        for index, (span, edit) in enumerate(zip(spans, edits, strict=True)):
            replaced = self._source[edit.start : edit.end]
            for number in range(resume, len(golds)):
                gold = golds[number]
                if (
                    span == (gold.start, gold.end)
                    and replaced == self._source[gold.start : gold.end]
                    and edit.correction in gold.corrections
                ):
                    matches.append((index, number))
                    resume = number + 1
        return matches


@dataclass(frozen=True, slots=True)
class Extracted:
    """The edits of a system in one sentence, cut to suit each annotator."""

    by_annotator: Mapping[int, Extraction]
    single_path: bool


_extracted: LRUCache[Key, Extracted] = LRUCache(KEPT_SENTENCES)
_pool = Pool()


def extract_all(
    sources: Sequence[str],
    predictions: Sequence[str],
    gold: Sequence[Mapping[int, Sequence[Edit]]],
    rules: Rules,
    workers: int = 1,
    cache: str | Path | None = None,
) -> list[Extracted]:
    """The edits of the predictions, cut to suit each annotator; see `geceval.edits.maxmatch.extraction`."""
    fields = dataclasses.astuple(rules)
    keys = [
        (" ".join(source.split()), " ".join(prediction.split()), fields, _plain(options))
        for source, prediction, options in zip(sources, predictions, gold, strict=True)
    ]

    def compute(missing: list[Key]) -> Iterator[tuple[Key, Extracted]]:
        return ((missing[index], extracted) for index, extracted in _pool.run(_extract, missing, workers))

    facts = ["maxmatch", VERSION, package_version("rapidfuzz")]  # which chooses the one path of very long texts
    extracted = cached(keys, compute, _extracted, DiskCache(cache, facts, _pack, _unpack))
    return [extracted[key] for key in keys]


def _extract(keys: Sequence[Key]) -> Iterator[Extracted]:
    for source, prediction, fields, gold in keys:
        lattice = Lattice(source, prediction, Rules(*fields))
        by_annotator = {annotator: lattice.extract(_edit(row) for row in rows) for annotator, rows in gold}
        yield Extracted(by_annotator, lattice.single_path)


def _plain(options: Mapping[int, Sequence[Edit]]) -> Key:
    return tuple((annotator, tuple(map(_fields, edits))) for annotator, edits in options.items())


def _fields(edit: Edit) -> Key:
    return edit.start, edit.end, edit.correction, edit.type, edit.annotator, edit.alternatives


def _edit(fields: Sequence[Any]) -> Edit:
    return Edit(*fields[:-1], tuple(fields[-1]))


def _pack(extracted: Extracted) -> bytes:
    rows = [
        (annotator, list(map(_fields, extraction.edits)), extraction.matches, list(map(_fields, extraction.gold)))
        for annotator, extraction in extracted.by_annotator.items()
    ]
    return json.dumps([extracted.single_path, rows]).encode()


def _unpack(data: bytes) -> Extracted:
    single_path, rows = json.loads(data)
    by_annotator = {
        annotator: Extraction(list(map(_edit, edits)), [tuple(match) for match in matches], list(map(_edit, gold)))
        for annotator, edits, matches, gold in rows
    }
    return Extracted(by_annotator, single_path)
