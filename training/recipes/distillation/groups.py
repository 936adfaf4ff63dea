"""The texts that a teacher scores: versions of one sentence, right, partly right and wrong, in groups."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from geceval.edits.edit import Edit, apply, in_order, without_overlaps
from geceval.learning.ranked_pairs import Row

WORDS = range(3, 51)  # how many a text may have
SHARD = 256  # groups are made in such numbers, so that those of fewer texts are the first of those of more
LONGEST = 3  # words of the longest phrase that is exchanged for another one

Phrase = tuple[str, ...]


class Group(NamedTuple):
    """Distinct versions of one sentence, the source first."""

    texts: tuple[str, ...]


class Confusions:
    """What people write in place of what, by the edits of a corpus, in both directions."""

    # An edit that inserts or deletes is read together with the word that follows it.

    def __init__(self, rows: Iterable[Row]) -> None:
        counts: defaultdict[Phrase, Counter[Phrase]] = defaultdict(Counter)
        for source, edits in rows:
            tokens = source.split()
            for edit in edits:
                before, after = tuple(tokens[edit.start : edit.end]), tuple(edit.correction.split())
                if not before or not after:
                    following = tuple(tokens[edit.end : edit.end + 1])
                    before, after = before + following, after + following
                if before and after and max(len(before), len(after)) <= LONGEST:
                    counts[before][after] += 1
                    counts[after][before] += 1
        self._phrases = {phrase: (list(found), list(found.values())) for phrase, found in counts.items()}

    def exchange(self, text: str, times: int, rng: random.Random) -> str:
        """Exchange phrases of a text for what others wrote in their place, as often as they did."""
        tokens = text.split()
        spans = [
            (start, start + size)
            for size in range(1, LONGEST + 1)
            for start in range(len(tokens) - size + 1)
            if tuple(tokens[start : start + size]) in self._phrases
        ]
        edits = []
        for start, end in rng.sample(spans, min(times, len(spans))):
            phrases, weights = self._phrases[tuple(tokens[start:end])]
            edits.append(Edit(start, end, " ".join(rng.choices(phrases, weights)[0])))
        return apply(text, without_overlaps(edits))


def by_source(rows: Iterable[Row]) -> dict[str, list[list[Edit]]]:
    """The edits of each annotator that can be made together, by source."""
    annotations: defaultdict[str, list[list[Edit]]] = defaultdict(list)
    for source, edits in rows:
        annotations[" ".join(source.split())].append(in_order(without_overlaps(edits)))
    return dict(annotations)


def make_groups(rows: Sequence[Row], sentences: Sequence[str], texts: int, errors: int, seed: int = 1) -> list[Group]:
    """Groups of at least two texts: a source, its corrections, partial corrections, and these with errors of others."""
    annotations = by_source(rows)
    for sentence in sentences:
        annotations.setdefault(" ".join(sentence.split()), [])
    confusions = Confusions(rows)
    rng = random.Random(seed)
    sources = sorted(annotations)
    rng.shuffle(sources)
    groups, total, seen = [], 0, set()
    for source in sources:
        if total >= texts and len(groups) % SHARD == 0:
            break
        versions = [*_corrections(source, annotations[source], rng)]
        versions += [confusions.exchange(rng.choice(versions), rng.randint(1, 3), rng) for _ in range(errors)]
        texts_of_group = [text for text in dict.fromkeys(versions) if len(text.split()) in WORDS and text not in seen]
        if len(texts_of_group) > 1 and texts_of_group[0] == source:
            groups.append(Group(tuple(texts_of_group)))
            total += len(texts_of_group)
            seen.update(texts_of_group)
    return groups


def _corrections(source: str, annotations: Sequence[list[Edit]], rng: random.Random) -> Iterator[str]:
    """The source, and of each annotator the full correction and up to two partial ones."""
    yield source
    for edits in annotations:
        yield apply(source, edits)
        for _ in range(min(2, len(edits) - 1)):
            yield apply(source, rng.sample(edits, rng.randint(1, len(edits) - 1)))
