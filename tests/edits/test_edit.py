"""Edits by span."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit, apply, in_order, overlap, without_overlaps

SOURCE = "a b c d"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], "a b c d"),
        ([Edit(1, 2, "x y")], "a x y c d"),
        ([Edit(1, 3, "")], "a d"),
        ([Edit(0, 0, "x")], "x a b c d"),
        ([Edit(4, 4, "x")], "a b c d x"),
        ([Edit(0, 4, "")], ""),
        ([Edit(2, 3, "z"), Edit(0, 1, "x")], "x b z d"),
        ([Edit(1, 1, "x"), Edit(1, 1, "y")], "a x y b c d"),
        ([Edit(1, 1, "y"), Edit(1, 1, "x")], "a y x b c d"),
        ([Edit(1, 2, "z"), Edit(1, 1, "x")], "a x z c d"),
        ([Edit(1, 1, "x"), Edit(0, 1, "z")], "z x b c d"),
        ([Edit(-1, -1, "", "noop"), Edit(0, 1, "z")], "z b c d"),
        ([Edit(1, 2, "x", alternatives=("y",))], "a x c d"),
        # The span counts, not the type: to ERRANT these miss a word or have one too many, though both sides hold some.
        ([Edit(0, 1, "x a", "M:DET")], "x a b c d"),
        ([Edit(0, 2, "B", "U:DET")], "B c d"),
        ([Edit(2, 3, "c", "UNK")], "a b c d"),
        ([Edit(2, 3, "$DELETE"), Edit(3, 4, "-NONE-")], "a b $DELETE -NONE-"),  # words that look like markers
    ],
)
def test_apply(edits, expected):
    assert apply(SOURCE, edits) == expected


@pytest.mark.parametrize(
    "edits",
    [[Edit(0, 2, "x"), Edit(1, 3, "y")], [Edit(1, 1, "y"), Edit(0, 2, "x")], [Edit(1, 2, "x"), Edit(1, 2, "y")]],
)
def test_apply_refuses_overlaps_and_says_which(edits):
    first, second = in_order(edits)
    with pytest.raises(ValueError) as caught:
        apply(SOURCE, edits)
    assert f"{first} and {second}" in str(caught.value)
    assert overlap(*edits)


def test_apply_refuses_spans_beyond_the_end():
    with pytest.raises(ValueError, match=r"edit \(4, 5, 'x'\) lies beyond the 4 tokens"):
        apply(SOURCE, [Edit(4, 5, "x")])


@pytest.mark.parametrize(("start", "end", "kind"), [(2, 1, ""), (-1, 1, ""), (-1, -1, "R:VERB")])
def test_spans_must_be_spans(start, end, kind):
    with pytest.raises(ValueError, match="0 <= start <= end"):
        Edit(start, end, "x", kind)


def test_m2_lines():
    assert Edit(1, 2, "x y", "R:VERB", 3).to_m2() == "A 1 2|||R:VERB|||x y|||REQUIRED|||-NONE-|||3"
    assert Edit(1, 2, "", "U:DET").to_m2() == "A 1 2|||U:DET||||||REQUIRED|||-NONE-|||0"
    assert Edit(1, 2, "x", "", 0, ("", "y z")).to_m2() == "A 1 2|||UNK|||x||-NONE-||y z|||REQUIRED|||-NONE-|||0"
    assert Edit(-1, -1, "", "noop", 1).to_m2() == "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1"


def test_without_overlaps_keeps_the_first_in_the_list():
    late, early, inside = Edit(2, 4, "x"), Edit(0, 3, "y"), Edit(3, 3, "z")
    apart = [late, Edit(0, 1, "w"), Edit(4, 4, "v")]
    assert without_overlaps([late, early, inside, *apart[1:]]) == apart


SPANS = st.tuples(st.integers(0, 4), st.integers(0, 2), st.text("xy ", max_size=4))
EDITS = SPANS.map(lambda span: Edit(span[0], span[0] + span[1], span[2]))


@given(st.lists(EDITS, max_size=5), st.randoms())
def test_apply_works_exactly_where_no_two_edits_overlap_whatever_their_order(edits, random):
    overlapping = any(overlap(a, b) for k, a in enumerate(edits) for b in edits[k + 1 :])
    legal = all(edit.end <= 4 for edit in edits) and not overlapping
    shuffled = sorted(edits, key=lambda edit: random.random() if edit.start < edit.end else 2)
    if not legal:
        with pytest.raises(ValueError):
            apply(SOURCE, edits)
        return
    removed = sum(edit.end - edit.start for edit in edits)
    added = [token for edit in edits for token in edit.correction.split()]
    corrected = apply(SOURCE, edits).split()
    assert len(corrected) == 4 - removed + len(added)
    kept = [token for k, token in enumerate("abcd") if not any(edit.start <= k < edit.end for edit in edits)]
    assert [token for token in corrected if token in "abcd"] == kept
    assert apply(SOURCE, shuffled) == " ".join(corrected)
    assert apply(SOURCE, without_overlaps(edits)) == " ".join(corrected)
