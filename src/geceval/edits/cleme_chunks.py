"""Chunks of CLEME: a source cut at the edits of a hypothesis and of all references together (Ye et al. 2023).

Edits that overlap or touch, whoever made them, fall into one chunk, so every target divides the source in the same way
and targets can be compared chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.edits.edit import Edit, applicable, distinct

Tokens = tuple[str, ...]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class JointChunks:
    """One sentence, divided."""

    source: Tokens
    spans: tuple[Span, ...]
    texts: tuple[tuple[Tokens | None, ...], ...]

    def unchanged(self) -> list[Span]:
        """The chunks between the corrected ones that hold tokens; the whole of a sentence that nobody corrects."""
        if not self.spans:
            return [(0, len(self.source))]
        ends = [0, *(end for _, end in self.spans)]
        starts = [*(start for start, _ in self.spans), len(self.source)]
        return [(end, start) for end, start in zip(ends, starts, strict=True) if end < start]

    def source_text(self, index: int) -> Tokens:
        """The source tokens of a corrected chunk."""
        start, end = self.spans[index]
        return self.source[start:end]

    def text(self, target: int, index: int) -> Tokens:
        """The tokens of a corrected chunk in a target."""
        found = self.texts[target][index]
        return self.source_text(index) if found is None else found


def divide(
    source: str, targets: Sequence[Sequence[Edit]], merge_distance: int = 0, drop_identity: bool = False
) -> JointChunks:
    """Divide a sentence at the edits of all its targets."""
    tokens = tuple(source.split())
    edits = [applicable(source, tokens, distinct(own)) for own in targets]
    spans: list[list[int]] = []
    for start, end in sorted([(edit.start, edit.end) for own in edits for edit in own]):
        if spans and start <= spans[-1][1] + merge_distance:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    found = tuple((start, end) for start, end in spans)
    texts = (_texts(tokens, found, own, drop_identity) for own in edits)
    return JointChunks(tokens, found, tuple(map(tuple, texts)))


def _texts(tokens: Tokens, spans: Sequence[Span], edits: Sequence[Edit], drop_identity: bool) -> list[Tokens | None]:
    """What one target has in each span; its edits and the spans are walked through together."""
    if not edits:
        return [None] * len(spans)
    texts: list[Tokens | None] = []
    index = 0
    for start, end in spans:
        first, done, made = index, start, []
        while index < len(edits) and edits[index].end <= end:
            made += [*tokens[done : edits[index].start], *edits[index].correction.split()]
            done = edits[index].end
            index += 1
        text = tuple(made) + tokens[done:end] if index > first else None
        texts.append(None if drop_identity and text == tokens[start:end] else text)
    return texts
