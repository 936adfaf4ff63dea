"""Chunks of CLEME: one partition for a hypothesis and all references."""

import random

import cleme_cases as cases
import pytest

from geceval.edits.cleme_chunks import divide
from geceval.edits.edit import Edit, apply
from geceval.scorers.edit_based.chunk_classes import COLUMNS, classify, count, unit_weight

edits = cases.edits


def test_chunks_that_nobody_touches():
    assert divide("a b c d e f", [edits("1 2 X; 4 5 W"), edits("2 4 Y Y")]).unchanged() == [(0, 1), (5, 6)]
    assert divide("a b c", [edits("0 0 X"), edits("3 3 Y")]).unchanged() == [(0, 3)]
    assert divide("a b", [edits("0 2"), edits("0 1 X")]).unchanged() == []
    assert divide("a b", [[], []]).unchanged() == [(0, 2)]


def test_edits_may_be_unsorted_and_repeated_and_may_be_noops():
    tidy = divide("a b c", [edits("0 1 X; 2 2 Y"), []])
    typed = Edit(2, 2, "Y", "M:NOUN")
    assert divide("a b c", [[typed, *edits("0 1 X; 2 2 Y")], [Edit(-1, -1, "", "noop")]]) == tidy


def test_insertions_at_one_offset_keep_their_order():
    assert divide("a b", [edits("1 1 X; 1 1 Y"), edits("1 1 Y; 1 1 X")]).texts == ((("X", "Y"),), (("Y", "X"),))


@pytest.mark.parametrize(
    ("text", "message"),
    [("0 2 X; 1 3 Y", "edits .0, 2, 'X'. and .1, 3, 'Y'. .* overlap"), ("2 4 X", "beyond the 3 tokens of 'a b c'")],
)
def test_edits_that_cannot_be_made(text, message):
    with pytest.raises(ValueError, match=message):
        divide("a b c", [[], edits(text)])


@pytest.mark.parametrize("assumption", ["dependent", "independent"])
@pytest.mark.parametrize("level", ["correction", "detection"])
def test_as_by_a_slow_version(assumption, level):
    draw = random.Random(f"{assumption} {level}")
    for _ in range(400):
        source, hypothesis, references = cases.draw_sentence(draw)
        targets = [hypothesis, *references]
        chunks = divide(source, targets)
        assert list(chunks.spans) == cases.slow_spans(targets)
        for target, own in enumerate(targets):
            assert made(chunks, target) == apply(source, own)
        counts = count(chunks, classify(chunks, assumption, level), unit_weight)
        slow = cases.slow_counts(source, targets, assumption, level)
        assert [dict(zip(COLUMNS, row, strict=True)) for row in counts] == slow


def made(chunks, target: int) -> str:
    """The text of a target, put together from all chunks."""
    parts, done = [], 0
    for index, (start, end) in enumerate(chunks.spans):
        parts += [*chunks.source[done:start], *chunks.text(target, index)]
        done = end
    return " ".join([*parts, *chunks.source[done:]])
