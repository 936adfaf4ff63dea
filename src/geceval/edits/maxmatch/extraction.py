"""MaxMatch: the edits of a system, cut so that as many as possible match the gold edits (Dahlmeier and Ng, 2012).

This follows the official scorer rather than the paper. On the lattice of all short ways from source to prediction
(`lattice`, `arcs`) it takes the path with, in this order, the most arcs that match a gold edit, the fewest steps
outside them and the fewest edits. Because an edit may hold up to `max_unchanged_words` unchanged words, several wrong
changes close to each other become one edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.core.options import check_choice, check_count
from geceval.edits.edit import Edit, in_order
from geceval.edits.maxmatch.arcs import join
from geceval.edits.maxmatch.dense_arcs import CELLS_LIMIT
from geceval.edits.maxmatch.lattice import EPSILON, find_steps

INSERTIONS = ("head", "v3.2")
MATCHINGS = ("official", "repaired")

_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rules:
    """How edits are cut and matched; the defaults are those of the official scorer (its latest version, "head")."""

    max_unchanged_words: int = 2
    ignore_whitespace_casing: bool = False
    insertions: str = "head"
    matching: str = "official"
    max_cells: int = 3000

    def __post_init__(self) -> None:
        check_count("max_unchanged_words", self.max_unchanged_words, least=0)
        check_choice("insertions", self.insertions, INSERTIONS)
        check_choice("matching", self.matching, MATCHINGS)
        if not 0 <= self.max_cells <= CELLS_LIMIT:
            raise InputError(f"max_cells must lie in [0, {CELLS_LIMIT}], got {self.max_cells}")


SCORING = Rules()
EXTRACTING = Rules(max_unchanged_words=0)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a system did, as seen by one annotator."""

    edits: list[Edit]
    matches: list[tuple[int, int]]
    gold: list[Edit]


class Lattice:
    """The ways from a source to a prediction, shared by all annotators."""

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
        if self._rules.matching == "repaired":
            golds = in_order(_without_repeats(golds))
        if self._same:
            return Extraction([], [], golds)
        path = self._path(self._weigh(golds))
        if self._rules.ignore_whitespace_casing:
            path = [pair for pair in path if not self._is_cosmetic(self._edit(pair))]
        edits = [self._edit(pair) for pair in path]
        spans = [self._span(pair) for pair in path]
        return Extraction(edits, self._match(spans, edits, golds), golds)

    def _path(self, weights: dict[_Pair, float]) -> list[_Pair]:
        key = frozenset(weights.items())
        if key not in self._paths:
            path = self._arcs.cheapest_path(weights)
            self._paths[key] = [pair for pair in path if self._arcs.find(*pair).penalties]  # type: ignore[union-attr]
        return self._paths[key]

    def _is_cosmetic(self, edit: Edit) -> bool:
        before = "".join(self._source[edit.start : edit.end])
        return before.lower() == edit.correction.replace(" ", "").lower()

    def _edit(self, pair: _Pair) -> Edit:
        start, end = pair
        correction = " ".join(self._target[self._columns[start] : self._columns[end]])
        return Edit(self._rows[start], self._rows[end], correction)

    def _span(self, pair: _Pair) -> _Pair:
        """The source span of an arc in the official scorer; version 3.2 gets it wrong before the first word."""
        start, end = pair
        if self._rules.insertions == "head":
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
        if self._rules.insertions == "v3.2":
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
                    if self._rules.matching == "repaired":
                        break
        return matches


def _without_repeats(golds: Iterable[Edit]) -> list[Edit]:
    unique: dict[tuple[int, int, tuple[str, ...]], Edit] = {}
    for edit in golds:
        unique.setdefault((edit.start, edit.end, edit.corrections), edit)
    return list(unique.values())
