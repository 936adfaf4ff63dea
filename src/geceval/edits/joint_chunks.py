"""Chunks of CLEME: a source cut at the edits of a hypothesis and of all references together (Ye et al. 2023).

Edits that overlap or touch, whoever made them, fall into one chunk, so every target divides the source in the same way
and targets can be compared chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.edits.edit import Edit, distinct, in_order

Tokens = tuple[str, ...]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class JointChunks:
    """One sentence, divided.

    Attributes:
        source: Its tokens.
        spans: The corrected chunks, which hold an edit of at least one target, in order: offsets of the first token
            and behind the last; equal for a place where tokens are only inserted.
        texts: What each target has in each corrected chunk, `[targets][spans]`; `None` where it has no edit.
    """

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


def divide(source: str, targets: Sequence[Sequence[Edit]], merge_distance: int = 0) -> JointChunks:
    """Divide a sentence at the edits of all its targets.

    Args:
        source: The tokenised source.
        targets: The edits of the hypothesis, then those of each reference. Noops are left out; an edit that repeats
            another one of its target counts once.
        merge_distance: Edits with at most so many tokens between them fall into one chunk.

    Raises:
        ValueError: If an edit lies beyond the end of the source or two edits of a target overlap.
    """
    tokens = tuple(source.split())
    edits = [in_order(distinct(own)) for own in targets]
    for own in edits:
        _check(source, tokens, own)
    spans: list[list[int]] = []
    for start, end in sorted([(edit.start, edit.end) for own in edits for edit in own]):
        if spans and start <= spans[-1][1] + merge_distance:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    found = tuple((start, end) for start, end in spans)
    return JointChunks(tokens, found, tuple(tuple(_texts(tokens, found, own)) for own in edits))


def _check(source: str, tokens: Tokens, edits: Sequence[Edit]) -> None:
    done, previous = 0, None
    for edit in edits:
        if edit.end > len(tokens):
            raise InputError(f"edit {edit} lies beyond the {len(tokens)} tokens of {source!r}")
        if edit.start < done:
            raise InputError(f"edits {previous} and {edit} of {source!r} overlap")
        done, previous = edit.end, edit


def _texts(tokens: Tokens, spans: Sequence[Span], edits: Sequence[Edit]) -> list[Tokens | None]:
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
        texts.append(tuple(made) + tokens[done:end] if index > first else None)
    return texts
