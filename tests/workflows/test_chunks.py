"""Tables of chunks: the hand cases of CLEME, worked out on paper from the definitions of Ye et al. (2023)."""

from __future__ import annotations

import pytest

from geceval.workflows.chunks import chunk_tables


@pytest.fixture
def lay_out(tmp_path):
    """Tables of one sentence: edits are `(start, end, correction)`, references by annotator."""

    def write(name, source, targets):
        lines = [f"S {source}"]
        for annotator, edits in targets.items():
            for start, end, text in edits or [(-1, -1, None)]:
                fields = ("noop", "-NONE-") if text is None else ("X", text)
                lines.append(f"A {start} {end}|||{fields[0]}|||{fields[1]}|||REQUIRED|||-NONE-|||{annotator}")
        (tmp_path / name).write_text("\n".join(lines) + "\n\n", encoding="utf-8")
        return tmp_path / name

    def tables(source, hypothesis, *references, **options):
        gold = write("gold.m2", source, dict(enumerate(references)))
        return chunk_tables(predictions_m2=write("own.m2", source, {0: hypothesis}), gold_m2=gold, **options)

    return tables


def cells(table):
    """Rows as `text:label`, without the source."""
    return [" | ".join(f"{c.text}:{c.label}" if c.label else c.text for c in row) for row in table.rows[1:]]


X, Y = (1, 2, "X"), (3, 4, "Y")

# Source, hypothesis, references; spans; the rows with each assumption.
CASES = {
    "touching edits and an insertion between them are one chunk": (
        "a b c d e",
        [[(2, 2, "X")], [(2, 3, "Y")], [(1, 2, "Z")], [(2, 2, "X")]],
        ((0, 1), (1, 3), (3, 5)),
        ["a | b X c:varies | d e", "a | b Y:wrong | d e", "a | Z c:wrong | d e", "a | b X c:hit | d e"],
        ["a | b X c:hit | d e", "a | b Y:changed | d e", "a | Z c:changed | d e", "a | b X c:changed | d e"],
    ),
    "insertions at both ends": (
        "a b c",
        [[(0, 0, "X")], [(3, 3, "Y")], [(0, 0, "X"), (3, 3, "Y")]],
        ((0, 0), (0, 3), (3, 3)),
        ["X:varies | a b c | :under", ":over | a b c | Y:under", "X:hit | a b c | Y:under"],
        ["X:hit | a b c | :under", " | a b c | Y:changed", "X:changed | a b c | Y:changed"],
    ),
    "a reference glues two edits of the hypothesis": (
        "a b c d e f",
        [[X, (4, 5, "W")], [X], [(2, 4, "Y Y")]],
        ((0, 1), (1, 5), (5, 6)),
        ["a | X c d W:wrong | f", "a | X c d e:wrong | f", "a | b Y Y e:wrong | f"],
        ["a | X c d W:wrong | f", "a | X c d e:changed | f", "a | b Y Y e:changed | f"],
    ),
    "two edits that are one of the reference": (
        "a b c d e",
        [[X, Y], [(1, 4, "X c Y")], [X]],
        ((0, 1), (1, 4), (4, 5)),
        ["a | X c Y:varies | e", "a | X c Y:hit | e", "a | X c d:wrong | e"],
        ["a | X c Y:hit | e", "a | X c Y:changed | e", "a | X c d:changed | e"],
    ),
    "an edit that changes nothing": (
        "a b c d e f g",
        [[X, (5, 6, "Y")], [X, (3, 4, "Q")], [(3, 4, "d"), (5, 6, "Y")], [(3, 4, "R"), (5, 6, "V")]],
        ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)),
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
    "everything deleted": (
        "a b",
        [[(0, 2, "")], [(0, 1, "X")], [(1, 2, "Y")]],
        ((0, 2),),
        [":wrong", "X b:wrong", "a Y:wrong"],
        [":wrong", "X b:changed", "a Y:changed"],
    ),
    "nothing to correct": (
        "a b c",
        [[X], []],
        ((0, 1), (1, 2), (2, 3)),
        ["a | X:over | c", "a | b:over | c"],
        ["a | X:over | c", "a | b | c"],
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("assumption", ["dependent", "independent"])
def test_hand_cases(lay_out, case, assumption):
    source, targets, spans, dependent, independent = CASES[case]
    [table] = lay_out(source, *targets, assumption=assumption)
    assert table.spans == spans
    assert " ".join(cell.text for cell in table.rows[0] if cell.text) == source
    assert not any(cell.label for cell in table.rows[0])
    assert cells(table) == (dependent if assumption == "dependent" else independent)


def test_a_reference_without_text_is_left_out_and_the_others_keep_their_names(lay_out):
    [table] = lay_out("c d e", [(0, 1, "C")], [(0, 3, "")], [(0, 1, "C")], [])
    assert table.names == ("source", "correction", "annotator 1", "annotator 2")
    assert cells(table) == ["C:varies | d e", "C:hit | d e", "c:over | d e"]
    [alone] = lay_out("c d e", [(0, 1, "C")], [(0, 3, "")])
    assert cells(alone) == ["C d e:wrong", ":wrong"]


def test_detection_asks_only_where(lay_out):
    [table] = lay_out("a b c d e", [X], [(1, 2, "Y"), (3, 4, "Q")], level="detection")
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
        lay_out("a b c", [], [(0, 2, "X"), (1, 3, "Y")])
