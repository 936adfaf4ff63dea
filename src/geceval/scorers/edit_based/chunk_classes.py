"""Classes and weights of chunks, which CLEME and CLEME2.0 share."""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, TypeAlias

from geceval.core.cache import lru_cache
from geceval.edits.cleme_chunks import JointChunks, Tokens

Assumption: TypeAlias = Literal["dependent", "independent"]
Level: TypeAlias = Literal["correction", "detection"]


class ChunkClass(enum.IntEnum):
    """What a hypothesis made of a chunk, by the reference."""

    HIT = 0  # agrees with the reference
    WRONG = 1  # a change is needed, but another one (fp_ne)
    UNNECESSARY = 2  # no change is needed (fp_un)
    MISS = 3  # a needed change is lacking
    KEPT = 4  # rightly left unchanged
    VALID = 5  # correct though no reference has it; no false positive


def classify(chunks: JointChunks, assumption: Assumption, level: Level = "correction") -> list[list[ChunkClass]]:
    """The class of each chunk against each reference: [references][chunks] (Ye et al. 2023)."""
    hypothesis, *references = chunks.texts
    sources = [chunks.source[start:end] for start, end in chunks.spans]
    if assumption == "dependent":
        return [list(map(_dependent, hypothesis, reference, sources, repeat(level))) for reference in references]
    columns = zip(*references, strict=True)
    shared = [_independent(*column, level) for column in zip(hypothesis, columns, sources, strict=True)]
    return [shared for _ in references]


def _dependent(hypothesis: Tokens | None, reference: Tokens | None, source: Tokens, level: Level) -> ChunkClass:
    """The class of a chunk by the text of the hypothesis and that of the reference; `None` is no change."""
    if hypothesis is None:
        kept = reference is None or (level == "correction" and reference == source)
        return ChunkClass.KEPT if kept else ChunkClass.MISS
    if level == "detection":
        agrees = reference is not None
    else:
        agrees = hypothesis == (source if reference is None else reference)
    return ChunkClass.HIT if agrees else ChunkClass.UNNECESSARY if reference is None else ChunkClass.WRONG


def _independent(
    hypothesis: Tokens | None, references: Sequence[Tokens | None], source: Tokens, level: Level
) -> ChunkClass:
    """The class of a chunk by the texts of the hypothesis and of all references together."""
    needed = [text is not None for text in references]
    if hypothesis is None:
        return ChunkClass.MISS if all(needed) else ChunkClass.KEPT
    if level == "detection":
        return ChunkClass.HIT if any(needed) else ChunkClass.UNNECESSARY
    if any(hypothesis == (source if text is None else text) for text in references):
        return ChunkClass.HIT
    return ChunkClass.WRONG if any(needed) else ChunkClass.UNNECESSARY


@dataclass(frozen=True, slots=True)
class Curve:
    """A length weight: a / (1 + (a - 1) exp(-excess)), kept within [low, high]."""

    a: float
    low: float
    high: float

    def weight(self, excess: float) -> float:
        """The weight by excess: length - mean for hits and misses, mean - length for false alarms."""
        value = self.a / (1 + (self.a - 1) * math.exp(min(-excess, 700.0)))
        return min(max(value, self.low), self.high)


PRESETS = {
    ("corpus", "dependent"): (Curve(2, 0.75, 1.25), Curve(2, 0.75, 1.25), Curve(2, 0.75, 1.25)),
    ("corpus", "independent"): (Curve(2, 0.75, 1.25), Curve(2, 0.75, 1.25), Curve(2, 0.75, 1.25)),
    ("sentence", "dependent"): (Curve(10, 1, 10), Curve(10, 0.25, 1), Curve(10, 1, 1)),
    ("sentence", "independent"): (Curve(10, 2.5, 10), Curve(10, 0.25, 1), Curve(10, 1, 1)),
}
"""The curves of hits, false alarms and misses, tuned on CoNLL-2014 by the authors."""

Weigh = Callable[[JointChunks, int, int, ChunkClass], float]
"""From a sentence, a reference (1 is the first), a corrected chunk and its class to the weight of that chunk."""


def unit_weight(chunks: JointChunks, reference: int, index: int, kind: ChunkClass) -> float:
    """Every chunk weighs 1."""
    return 1.0


def length_weights(mean: float, preset: str, assumption: Assumption) -> Weigh:
    """Weights by the length of a chunk, the longer of source and hypothesis (Ye et al. 2023)."""
    hits, alarms, misses = PRESETS[preset, assumption]

    @lru_cache(maxsize=None)
    def of_length(length: int, kind: ChunkClass) -> float:
        excess = length - mean
        if kind is ChunkClass.HIT:
            return hits.weight(excess)
        return misses.weight(excess) if kind is ChunkClass.MISS else alarms.weight(-excess)

    def weigh(chunks: JointChunks, reference: int, index: int, kind: ChunkClass) -> float:
        return 1.0 if kind is ChunkClass.KEPT else of_length(_length(chunks, 0, index), kind)

    return weigh


def _length(chunks: JointChunks, target: int, index: int) -> int:
    """Tokens of a corrected chunk in the source or in a target, whichever has more."""
    start, end = chunks.spans[index]
    return max(end - start, len(chunks.texts[target][index] or ()))


def mean_length(corpus: Sequence[JointChunks]) -> float | None:
    """Mean length of the chunks that references change, the longer of source and reference; `None` without any."""
    lengths = [
        _length(chunks, target, index)
        for chunks in corpus
        for target, texts in enumerate(chunks.texts)
        for index, text in enumerate(texts)
        if target and text is not None
    ]
    return sum(lengths) / len(lengths) if lengths else None


COLUMNS = ("tp", "fp", "fn", "tn", "fp_ne", "fp_un")
_COLUMNS_OF = {
    ChunkClass.HIT: (0,),
    ChunkClass.WRONG: (1, 4),
    ChunkClass.UNNECESSARY: (1, 5),
    ChunkClass.MISS: (2,),
    ChunkClass.KEPT: (3,),
    ChunkClass.VALID: (),
}


def count(chunks: JointChunks, classes: Sequence[Sequence[ChunkClass]], weigh: Weigh) -> list[list[float]]:
    """Weighted counts of a sentence against each reference: [references][6], see `COLUMNS`."""
    # `fp` has a sum of its own and is not `fp_ne + fp_un`: two references whose false alarms weigh the same must tie to
    # the last bit, whatever their kinds.
    counts = []
    unchanged = len(chunks.unchanged())
    for reference, kinds in enumerate(classes, start=1):
        row = [0.0] * len(COLUMNS)
        for index, kind in enumerate(kinds):
            weight = weigh(chunks, reference, index, kind)
            for column in _COLUMNS_OF[kind]:
                row[column] += weight
        row[3] += unchanged
        counts.append(row)
    return counts


def similarity_weights(
    corpus: Sequence[JointChunks],
    classes: Sequence[Sequence[Sequence[ChunkClass]]],
    similarity: Callable[[list[str], list[str]], Sequence[float]],
) -> Weigh:
    """Weights by how much a chunk alone brings the source nearer to, or further from, the reference (CLEME2.0)."""
    # |Sim(S, R) - Sim(S with the chunk, R)|: the chunk of the hypothesis, for a miss that of the reference.
    # A chunk that leaves no text weighs 0. All distinct pairs of texts are compared in one call.
    pairs: dict[tuple[str, str], float] = {}
    of_chunks: dict[tuple[int, int, int], tuple[tuple[str, str], tuple[str, str]]] = {}
    for chunks, rows in zip(corpus, classes, strict=True):
        before = " ".join(chunks.source)
        for reference, kinds in enumerate(rows, start=1):
            after = _whole(chunks, reference)
            for index, kind in enumerate(kinds):
                if kind is ChunkClass.KEPT:
                    continue
                text = chunks.text(reference if kind is ChunkClass.MISS else 0, index)
                start, end = chunks.spans[index]
                changed = " ".join((*chunks.source[:start], *text, *chunks.source[end:]))
                both = (before, after), (changed or before, after)
                pairs.update(dict.fromkeys(both, 0.0))
                of_chunks[id(chunks), reference, index] = both
    values = similarity([pair[0] for pair in pairs], [pair[1] for pair in pairs]) if pairs else []
    pairs = dict(zip(pairs, map(float, values), strict=True))

    def weigh(chunks: JointChunks, reference: int, index: int, kind: ChunkClass) -> float:
        if kind is ChunkClass.KEPT:
            return 1.0
        unchanged, changed = of_chunks[id(chunks), reference, index]
        return abs(pairs[unchanged] - pairs[changed])

    return weigh


def _whole(chunks: JointChunks, target: int) -> str:
    """The text of a target."""
    tokens: list[str] = []
    done = 0
    for index, (start, end) in enumerate(chunks.spans):
        tokens += [*chunks.source[done:start], *chunks.text(target, index)]
        done = end
    return " ".join((*tokens, *chunks.source[done:]))
