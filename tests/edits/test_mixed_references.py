"""References that combine annotators: which there are, and that none repeats a correction."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit, apply, without_overlaps
from geceval.edits.mixed_references import annotators_choices, plain_choices


def texts(source: str, edits: dict[int, list[Edit]]) -> list[str]:
    choices = annotators_choices(source, edits)
    found = [" ".join(choices.text(pick)) for pick in choices.all_picks()]
    assert len(found) == choices.size
    return found


def test_corrections_of_different_places_combine():
    edits = {0: [Edit(0, 1, "A"), Edit(3, 4, "D")], 1: [Edit(2, 2, "x")]}
    assert texts("a b c d", edits)[:2] == ["A b c D", "a b x c d"]
    assert sorted(texts("a b c d", edits)) == sorted(f"{a} b{x} c {d}" for a in "aA" for x in ("", " x") for d in "dD")


def test_corrections_of_one_place_exclude_each_other():
    edits = {0: [Edit(0, 2, "X")], 1: [Edit(1, 3, "Y"), Edit(3, 4, "d")], 2: []}
    assert sorted(texts("a b c d", edits)) == ["X c d", "a Y d", "a b c d"]


def test_an_insertion_that_touches_another_edit_is_not_combined_with_it():
    edits = {0: [Edit(1, 1, "the")], 1: [Edit(0, 1, "A the")], 2: [Edit(1, 2, "the b")]}
    assert sorted(texts("a b", edits)) == ["A the b", "a the b"]
    assert sorted(texts("a b c", {0: [Edit(1, 1, "x")], 1: [Edit(1, 1, "y")]})) == ["a x b c", "a y b c"]


def test_what_annotators_agree_on_is_in_every_reference():
    edits = {0: [Edit(0, 1, "A"), Edit(2, 3, "C")], 1: [Edit(0, 1, "A")]}
    assert texts("a b c", edits) == ["A b C", "A b c"]


def test_plain_references_are_not_taken_apart():
    choices = plain_choices(["a  b", "a c", "a b"])
    assert [choices.text(pick) for pick in choices.all_picks()] == [("a", "b"), ("a", "c")]


spans = st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from(["", "x", "y z"]))
rows = st.lists(spans.map(lambda e: Edit(e[0], min(4, e[0] + e[1]), e[2])), max_size=3)


@given(st.dictionaries(st.integers(0, 3), rows, min_size=1))
def test_each_annotators_own_reference_comes_first(edits):
    source = "a b c d"
    own = [apply(source, without_overlaps(row)) for row in edits.values()]
    found = texts(source, edits)
    assert set(found[: len(own)]) >= set(own)
    assert len(set(annotators_choices(source, edits).all_picks())) == len(found)
