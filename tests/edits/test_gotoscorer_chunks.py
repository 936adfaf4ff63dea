"""Chunks of GoToScorer: cutting, and judging by one walk over both lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit, apply, without_overlaps
from geceval.edits.gotoscorer_chunks import Chunk, Judgment, cut, cut_annotations, judge
from geceval.edits.m2 import parse_m2

SOURCE = "He like cat ."
GOLD = [Edit(1, 2, "likes", "R:VERB:SVA"), Edit(2, 2, "the", "M:DET")]


def spans(chunks: list[Chunk]) -> list[tuple[int, int, str, str]]:
    return [(chunk.start, chunk.end, chunk.source, chunk.correction) for chunk in chunks]


def test_an_edit_is_one_chunk_and_places_lie_between_the_others():
    words = [(0, 1, "He", "He"), (1, 2, "like", "likes"), (2, 3, "cat", "cat"), (3, 4, ".", ".")]
    places = [(place, place, "", "the" if place == 2 else "") for place in range(5)]
    assert spans(cut(SOURCE, GOLD)) == sorted(words + places)
    assert [chunk.type for chunk in cut(SOURCE, GOLD) if chunk.is_edit] == ["R:VERB:SVA", "M:DET"]


@pytest.mark.parametrize(
    ("source", "edit", "expected"),
    [
        # One place fewer than with a final place; the published conll14 files have it so (sentence 441).
        ("Yes", Edit(1, 1, "."), [(0, 0, "", ""), (0, 1, "Yes", "Yes"), (1, 1, "", ".")]),
        # There is no place inside an edit of several tokens.
        ("a b", Edit(0, 2, "x"), [(0, 0, "", ""), (0, 2, "a b", "x"), (2, 2, "", "")]),
    ],
)
def test_places(source, edit, expected):
    assert spans(cut(source, [edit])) == expected


@pytest.mark.parametrize("kind", ["noop", "UNK", "Um"])
def test_types_that_change_nothing_make_no_chunk(kind):
    edit = Edit(-1, -1, "", "noop") if kind == "noop" else Edit(0, 1, "Hi", kind)
    assert cut("Yes .", [edit]) == cut("Yes .", [])


M2 = """S a b c
A 0 1|||UNK|||x|||REQUIRED|||-NONE-|||0
A 0 2|||R:X|||y|||REQUIRED|||-NONE-|||0
A 0 2|||R:X|||y|||REQUIRED|||-NONE-|||0
A 1 3|||R:X|||z|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S d e
A 0 1|||R:X|||f|||REQUIRED|||-NONE-|||1

"""


def test_annotators_who_have_a_line_take_part_and_overlaps_are_repaired():
    first, second = cut_annotations(parse_m2(M2))
    assert spans(first[0]) == spans(cut("a b c", [Edit(0, 2, "y")]))  # UNK, repetition and overlap left out
    assert spans(first[1]) == spans(cut("a b c", []))
    assert [spans(chunks) for chunks in second] == [spans(cut("d e", [Edit(0, 1, "f")]))]


def test_a_chosen_annotator_without_a_line_left_the_sentence_as_it_is():
    assert [len(row) for row in cut_annotations(parse_m2(M2), 0)] == [1, 1]
    assert spans(cut_annotations(parse_m2(M2), 0)[1][0]) == spans(cut("d e", []))
    with pytest.raises(LookupError, match="annotators are 0, 1"):
        cut_annotations(parse_m2(M2), 2)


def judged(system: list[Edit], gold: list[Edit]) -> str:
    """One letter a chunk: correct or wrong, upper case if modified."""
    letters = {(False, True): "c", (True, True): "C", (False, False): "w", (True, False): "W"}
    return "".join(letters[judgment] for judgment in judge(cut(SOURCE, gold), cut(SOURCE, system)))


@pytest.mark.parametrize(
    ("system", "gold", "expected"),
    [
        (GOLD, GOLD, "cccCCcccc"),
        ([], GOLD, "cccwwcccc"),
        ([Edit(1, 2, "liked"), Edit(2, 3, "cats")], GOLD, "cccWwWccc"),  # a wrong correction and a false alarm
        # "very" before "like": the place is wrong, and so is "like", which counts as modified though it was left alone
        ([Edit(1, 1, "very")], GOLD, "ccWWwcccc"),
        ([Edit(3, 3, "too")], GOLD, "cccwwcWcc"),  # before a token that is kept, an insertion spoils the place only
        ([Edit(1, 3, "loves cats")], GOLD, "cccWwWccc"),  # the insertion that a longer edit covers is missed
        ([Edit(0, 4, "Yes")], [], "cWcWcWcWc"),  # a long wrong edit touches every chunk that holds tokens
        ([Edit(1, 2, "liked")], [Edit(1, 2, "likes", alternatives=("liked",))], "cccCccccc"),
        ([Edit(1, 2, "likes")], [Edit(1, 2, "likes", alternatives=("liked",))], "cccCccccc"),
    ],
)
def test_judgments_by_hand(system, gold, expected):
    assert judged(system, gold) == expected


WORDS = ["a", "b", "c", "a b"]


@st.composite
def sentences(draw, annotators: int = 2):
    """A source and the edits of some annotators, without overlaps."""
    tokens = draw(st.lists(st.sampled_from("abc"), max_size=7))
    edits = st.tuples(st.integers(0, len(tokens)), st.integers(0, 3), st.sampled_from(["", *WORDS]))
    rows = []
    for _ in range(annotators):
        made = [
            Edit(start, min(start + size, len(tokens)), text) for start, size, text in draw(st.lists(edits, max_size=5))
        ]
        rows.append(without_overlaps([edit for edit in made if edit.start < edit.end or edit.correction]))
    return " ".join(tokens), *rows


def slow_judge(reference: list[Chunk], system: list[Chunk]) -> list[Judgment]:
    """The definition, chunk by chunk over all chunks of the system."""
    judgments = []
    for gold in reference:
        correct, modified = None, False
        for other in system:
            equal = (gold.start, gold.end) == (other.start, other.end)
            if equal and gold.correction == other.correction:
                correct, modified = True, other.is_edit
                break
            if not equal and gold.start == gold.end:
                continue
            if equal or gold.start <= other.start < gold.end or other.start <= gold.start < other.end:
                correct, modified = False, modified or other.is_edit
        if correct is None:
            correct, modified = not gold.is_edit, False
        judgments.append(Judgment(modified, correct))
    return judgments


@given(sentences())
def test_one_walk_judges_as_the_definition_does(example):
    source, gold, system = example
    reference, other = cut(source, gold), cut(source, system)
    assert judge(reference, other) == slow_judge(reference, other)


@given(sentences(annotators=1))
def test_chunks_tile_the_sentence_and_carry_its_correction(example):
    source, edits = example
    chunks = cut(source, edits)
    assert [chunk.start for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]
    assert (chunks[0].start, chunks[-1].end) == (0, len(source.split()))
    assert " ".join(chunk.source for chunk in chunks if chunk.source) == source
    assert " ".join(chunk.correction for chunk in chunks if chunk.correction) == apply(source, edits)
    assert sum(chunk.is_edit for chunk in chunks) == len(edits)
    places = [chunk.start for chunk in chunks if chunk.is_gap and not chunk.is_edit]
    assert len(set(places)) == len(places)
    assert all(judgment.correct for judgment in judge(chunks, chunks))
