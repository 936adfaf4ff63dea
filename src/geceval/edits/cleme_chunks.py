"""Chunks of CLEME: a source cut at the edits of a hypothesis and of all references together (Ye et al. 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.edits.edit import Edit, applicable, correct_span, distinct

Tokens = tuple[str, ...]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class JointChunks:
    """One sentence divided in the same way for every target: the spans and texts of its corrected chunks."""

    source: Tokens
    spans: tuple[Span, ...]
    texts: tuple[tuple[Tokens | None, ...], ...]  # [targets][spans]; `None` where the target has no edit

    def unchanged(self) -> list[Span]:
        """The chunks between the corrected ones that hold tokens; the whole of a sentence that nobody corrects."""
        if not self.spans:
            return [(0, len(self.source))]
        ends = [0, *(end for _, end in self.spans)]
        starts = [*(start for start, _ in self.spans), len(self.source)]
        return [(end, start) for end, start in zip(ends, starts, strict=True) if end < start]

    def text(self, target: int, index: int) -> Tokens:
        """The tokens of a corrected chunk in a target."""
        start, end = self.spans[index]
        text = self.texts[target][index]
        return self.source[start:end] if text is None else text


def divide(source: str, targets: Sequence[Sequence[Edit]]) -> JointChunks:
    """Divide a sentence at the edits of all its targets: edits that overlap or touch share a chunk."""
    tokens = tuple(source.split())
    edits = [applicable(source, tokens, distinct(target)) for target in targets]
    spans: list[list[int]] = []
    for start, end in sorted([(edit.start, edit.end) for target in edits for edit in target]):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    borders = tuple((start, end) for start, end in spans)
    texts = (tuple(_text(tokens, span, target) for span in borders) for target in edits)
    return JointChunks(tokens, borders, tuple(texts))


def _text(tokens: Tokens, span: Span, edits: Sequence[Edit]) -> Tokens | None:
    """What one target makes of a span; `None` if it has no edit there."""
    start, end = span
    inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
    return tuple(correct_span(tokens, start, end, inside)) if inside else None
