"""Tables of chunks: the hand cases of CLEME, worked out on paper from the definitions of Ye et al. (2023)."""

import cleme_cases as cases
import pytest

from geceval.edits.m2 import M2Sentence, write_m2
from geceval.workflows.chunks import chunk_tables


@pytest.fixture
def lay_out(tmp_path):
    """Tables of one sentence; edits as in `cleme_cases.py`."""

    def tables(source, hypothesis, *references, **options):
        write_m2(tmp_path / "own.m2", [M2Sentence(source, {0: cases.edits(hypothesis)})])
        write_m2(tmp_path / "gold.m2", [M2Sentence(source, dict(enumerate(map(cases.edits, references))))])
        return chunk_tables(predictions_m2=tmp_path / "own.m2", gold_m2=tmp_path / "gold.m2", **options)

    return tables


def cells(table):
    """Rows as `text:label`, without the source."""
    return [" | ".join(f"{c.text}:{c.label}" if c.label else c.text for c in row) for row in table.rows[1:]]


# The rows of the first sentence of each case with each assumption.
ROWS = {
    "boundary insert": (
        ["a | b X c:varies | d e", "a | b Y:wrong | d e", "a | Z c:wrong | d e", "a | b X c:hit | d e"],
        ["a | b X c:hit | d e", "a | b Y:changed | d e", "a | Z c:changed | d e", "a | b X c:changed | d e"],
    ),
    "edges": (
        ["X:varies | a b c | :under", ":over | a b c | Y:under", "X:hit | a b c | Y:under"],
        ["X:hit | a b c | :under", " | a b c | Y:changed", "X:changed | a b c | Y:changed"],
    ),
    "chain": (
        ["a | X c d W:wrong | f", "a | X c d e:wrong | f", "a | b Y Y e:wrong | f"],
        ["a | X c d W:wrong | f", "a | X c d e:changed | f", "a | b Y Y e:changed | f"],
    ),
    "split": (
        ["a | X c Y:varies | e", "a | X c Y:hit | e", "a | X c d:wrong | e"],
        ["a | X c Y:hit | e", "a | X c Y:changed | e", "a | X c d:changed | e"],
    ),
    "identity": (
        [
            "a | X:varies | c | d:varies | e | Y:varies | g",
            "a | X:hit | c | Q:under | e | f:over | g",
            "a | b:over | c | d:changed | e | Y:hit | g",
            "a | b:over | c | R:under | e | V:wrong | g",
        ],
        [
            "a | X:hit | c | d:under | e | Y:hit | g",
            "a | X:changed | c | Q:changed | e | f | g",
            "a | b | c | d:changed | e | Y:changed | g",
            "a | b | c | R:changed | e | V:changed | g",
        ],
    ),
    "empty": ([":wrong", "X b:wrong", "a Y:wrong"], [":wrong", "X b:changed", "a Y:changed"]),
    "no reference edits": (["a | X:over | c", "a | b:over | c"], ["a | X:over | c", "a | b | c"]),
}


@pytest.mark.parametrize("case", ROWS)
@pytest.mark.parametrize(("place", "assumption"), enumerate(["dependent", "independent"]))
def test_hand_cases(lay_out, case, place, assumption):
    source, hypothesis, references = cases.CASES[case][0]
    [table] = lay_out(source, hypothesis, *references, assumption=assumption)
    assert " ".join(cell.text for cell in table.rows[0] if cell.text) == source
    assert not any(cell.label for cell in table.rows[0])
    assert cells(table) == ROWS[case][place]


def test_a_reference_without_text_is_left_out_and_the_others_keep_their_names(lay_out):
    [table] = lay_out("c d e", "0 1 C", "0 3", "0 1 C", "")
    assert table.names == ("source", "correction", "annotator 1", "annotator 2")
    assert cells(table) == ["C:varies | d e", "C:hit | d e", "c:over | d e"]
    [alone] = lay_out("c d e", "0 1 C", "0 3")
    assert cells(alone) == ["C d e:wrong", ":wrong"]


def test_detection_asks_only_where(lay_out):
    [table] = lay_out("a b c d e", "1 2 X", "1 2 Y; 3 4 Q", level="detection")
    assert cells(table) == ["a | X:hit | c | d:under | e", "a | Y:hit | c | Q:under | e"]


def test_texts_are_divided_at_the_edits_of_errant():
    [table] = chunk_tables(["He go to school ."], ["He goes to the school ."], [[None, "He goes to school ."]])
    assert table.names == ("source", "correction", "reference 2")
    assert table.spans == ((0, 1), (1, 2), (2, 3), (3, 3), (3, 5))
    assert cells(table) == ["He | goes:hit | to | the:over | school .", "He | goes:hit | to | :over | school ."]
    assert table.corrected() == [False, True, False, True, False]
    [same] = chunk_tables(["a b"], ["a b"], ["a b"])
    assert (same.spans, same.corrected(), same.labels()) == (((0, 2),), [False], [])


def test_some_lines_of_a_file():
    columns = ["a", "b", "c"], ["a", "X", "c"], ["a", "b", "Z"]
    assert [table.line for table in chunk_tables(*columns, lines=[3, 2, 3])] == [2, 3]
    with pytest.raises(ValueError, match=r"line must be one of the 3 sentences, counted from 1, got 4"):
        chunk_tables(*columns, lines=[4])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "chunks needs the sources"),
        ({"sources": ["a"], "references": ["a"]}, "chunks needs the predictions"),
        ({"sources": ["a"], "predictions": ["a"]}, "chunks: needs references"),
        ({"assumption": "both"}, "assumption must be one of"),
        ({"level": "word"}, "level must be one of"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ValueError, match=message):
        chunk_tables(**options)


def test_overlapping_edits_name_the_sentence(lay_out):
    with pytest.raises(ValueError, match=r"chunks: sources\[0\]: edits .* overlap"):
        lay_out("a b c", "", "0 2 X; 1 3 Y")
