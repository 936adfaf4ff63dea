"""The table by error type."""

from __future__ import annotations

import pytest

from geceval.edits.edit import Edit
from geceval.edits.gotoscorer_chunks import cut
from geceval.scorers.difficulty.chunk_difficulty import Difficulty
from geceval.scorers.difficulty.difficulty_tables import (
    ReferenceDifficulty,
    type_table,
)

TYPED = cut("a b c d e f", [
    Edit(0, 1, "x", "R:NOUN"), Edit(1, 2, "", "U:DET"), Edit(2, 3, "y", "R:NOUN"), Edit(3, 3, "z", "M:NOUN"),
    Edit(4, 5, "w", "Wci"),
])  # fmt: skip
RIGHT = [3 if chunk.type == "M:NOUN" else 0 if chunk.start in (0, 1) else 2 for chunk in TYPED]  # of 4 systems
REFERENCE = ReferenceDifficulty([TYPED], Difficulty(4, [RIGHT]))


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        # means and sample standard deviations by hand
        (1, [("U", 1, 0, 1), ("R", 2 / 3, (1 / 12) ** 0.5, 3), ("M", 0.25, 0, 1)]),
        (2, [("DET", 1, 0, 1), ("NOUN", 7 / 12, (7 / 48) ** 0.5, 3), ("Wci", 0.5, 0, 1)]),
        (3, [("U:DET", 1, 0, 1), ("R:NOUN", 0.75, 0.125**0.5, 2), ("Wci", 0.5, 0, 1), ("M:NOUN", 0.25, 0, 1)]),
    ],
)
def test_types_are_sorted_from_hard_to_easy(level, expected):
    rows = type_table(REFERENCE, level)
    assert [(row.type, row.frequency) for row in rows] == [(kind, frequency) for kind, _, _, frequency in expected]
    assert [row.mean for row in rows] == pytest.approx([mean for _, mean, _, _ in expected])
    assert [row.sd for row in rows] == pytest.approx([sd for _, _, sd, _ in expected])


def test_types_without_operation_get_it_from_the_span():
    chunks = cut("a b", [Edit(0, 0, "x", "Art"), Edit(0, 1, "", "Art"), Edit(1, 2, "y", "Art")])
    nobody = Difficulty(1, [[0] * len(chunks)])
    assert {row.type for row in type_table(ReferenceDifficulty([chunks], nobody), 1)} == {"M", "U", "R"}


def test_there_are_three_levels():
    with pytest.raises(ValueError, match="level must be 1, 2 or 3"):
        type_table(REFERENCE, 4)
