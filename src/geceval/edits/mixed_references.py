"""References that combine the corrections of different annotators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from geceval.edits.edit import Edit, in_order, without_overlaps

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """The references of one sentence, cut into the parts where annotators differ and the parts between them."""

    versions: tuple[tuple[Tokens, ...], ...]
    picks: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return math.prod(len(part) for part in self.versions)

    def mixed_parts(self) -> list[int]:
        """The parts that have several versions."""
        return [part for part, found in enumerate(self.versions) if len(found) > 1]

    def text(self, pick: Sequence[int]) -> Tokens:
        """The reference that takes the picked version of each part."""
        return tuple(itertools.chain(*(part[number] for part, number in zip(self.versions, pick, strict=True))))

    def all_picks(self) -> Iterator[tuple[int, ...]]:
        """Every combination; those of the annotators first."""
        yield from self.picks
        rest = itertools.product(*(range(len(part)) for part in self.versions))
        yield from (pick for pick in rest if pick not in self.picks)

    def changed(self, pick: tuple[int, ...], part: int) -> list[tuple[int, ...]]:
        """The combinations that differ from `pick` only in one part."""
        numbers = range(len(self.versions[part]))
        return [(*pick[:part], number, *pick[part + 1 :]) for number in numbers if number != pick[part]]


def plain_choices(references: Sequence[str]) -> Choices:
    """Given references, which are not taken apart; references with the same tokens count once."""
    texts = tuple(dict.fromkeys(tuple(text.split()) for text in references))
    return Choices((texts,), tuple((number,) for number in range(len(texts))))


def annotators_choices(source: str, edits: Mapping[int, Sequence[Edit]]) -> Choices:
    """The corrections of annotators, clustered where their edits overlap or, for insertions, touch."""
    # Within a cluster a reference follows one annotator, who may have changed nothing there; different clusters may
    # follow different annotators. The first correction of an edit is used, and of two edits of one annotator that
    # overlap, the first.
    tokens = tuple(source.split())
    annotators = [in_order(without_overlaps(row)) for row in edits.values()]
    versions: list[tuple[Tokens, ...]] = []
    picks: list[list[int]] = [[] for _ in annotators]
    done = 0
    for start, end in _clusters(annotators):
        found = [_version(tokens, start, end, row) for row in annotators]
        distinct = tuple(dict.fromkeys(found))
        versions += [(tokens[done:start],), distinct]
        for pick, version in zip(picks, found, strict=True):
            pick += [0, distinct.index(version)]
        done = end
    versions.append((tokens[done:],))
    return Choices(tuple(versions), tuple(dict.fromkeys((*pick, 0) for pick in picks)))


def _clusters(annotators: Sequence[Sequence[Edit]]) -> list[tuple[int, int]]:
    """Spans of the source that hold edits which cannot be combined freely, from left to right."""
    clusters: list[tuple[int, int]] = []
    inserts_at_end = False
    for start, end in sorted((edit.start, edit.end) for row in annotators for edit in row):
        touches = clusters and start == clusters[-1][1] and (inserts_at_end or start == end)
        if clusters and (start < clusters[-1][1] or touches):
            clusters[-1] = (clusters[-1][0], max(clusters[-1][1], end))
        else:
            clusters.append((start, end))
        inserts_at_end = start == end == clusters[-1][1]
    return clusters


def _version(tokens: Tokens, start: int, end: int, edits: Sequence[Edit]) -> Tokens:
    """What an annotator makes of `tokens[start:end]`."""
    result: list[str] = []
    done = start
    for edit in edits:
        if start <= edit.start and edit.end <= end:
            result += [*tokens[done : edit.start], *edit.correction.split()]
            done = edit.end
    return (*result, *tokens[done:end])
