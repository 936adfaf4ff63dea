"""Column checks and the one orientation of references."""

import numpy as np
import pandas
import pyarrow
import pytest

from geceval.core.inputs import check_columns


def test_columns_are_copied_and_references_left_out_unless_needed():
    sources = ("a b", "")
    columns = check_columns("toy", sources, ["a", "c"], [["x"], ["y"]])
    assert columns.sources == ["a b", ""]
    assert columns.predictions == ["a", "c"]
    assert columns.references is None


@pytest.mark.parametrize(
    ("sources", "predictions", "error", "message"),
    [
        ("a b", ["a b"], TypeError, "toy: sources must be a list of strings, got str"),
        (["a"], None, TypeError, "toy: predictions must be a list of strings, got None"),
        (["a", None], ["a", "b"], TypeError, r"toy: sources\[1\] must be a string, got None"),
        (["a"], [3], TypeError, r"toy: predictions\[0\] must be a string, got int"),
        (np.array([1.5]), ["a"], TypeError, r"toy: sources\[0\] must be a string, got float"),
        (None, ["a"], TypeError, r"toy: needs sources, the learners' sentences: pass sources=\[\.\.\.\]"),
        ((text for text in ["a"]), ["a"], TypeError, r"got generator; pass list\(sources\)"),
        (pandas.DataFrame({"a": ["b"]}), ["a"], TypeError, "got DataFrame; pass one of its columns$"),
        (pyarrow.table({"a": ["b"]}), ["a"], TypeError, "got Table; pass one of its columns$"),
        ({"a": 1}, ["a"], TypeError, "got dict$"),
        (["a"], ["b\ud800"], ValueError, r"toy: predictions\[0\] has '\\ud800' at position 1, half a surrogate pair"),
        ([], [], ValueError, "toy: sources and predictions are empty"),
        (["a"], [], ValueError, "toy: 1 source but 0 predictions; row 0 has no partner"),
        (["a"], ["a", "b"], ValueError, "toy: 1 source but 2 predictions; row 1 has no partner"),
    ],
)
def test_bad_columns_name_the_metric_the_row_and_the_fix(sources, predictions, error, message):
    with pytest.raises(error, match=message):
        check_columns("toy", sources, predictions)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([["a", "b"], ["c"]], [["a", "b"], ["c"]]),  # ragged
        ([["a", None], [None, "c"]], [["a"], ["c"]]),  # None is a missing annotator
        (["a", "c"], [["a"], ["c"]]),  # one string a sentence is one reference
        ([("a",), "c"], [["a"], ["c"]]),
        ([[""], ["c"]], [[""], ["c"]]),  # an empty string is a reference
    ],
)
def test_references_come_into_one_shape(given, wanted):
    assert check_columns("toy", ["a", "b"], ["a", "b"], given, needs_references=True).references == wanted


def test_arrays_and_columns_of_tables_are_lists():
    table = pandas.DataFrame({"source": ["a b", "c"], "references": [["a"], ["c", "d"]]})
    predictions = np.array(["a", "c"])
    columns = check_columns("toy", table["source"], predictions, table["references"], needs_references=True)
    assert columns.sources == ["a b", "c"] and columns.references == [["a"], ["c", "d"]]
    assert columns.predictions == ["a", "c"] and type(columns.predictions[0]) is str
    arrow = pyarrow.table({"source": ["a b", "c"], "references": [["a"], ["c", "d"]]})
    assert check_columns("toy", arrow["source"], predictions, arrow["references"], needs_references=True) == columns
    square = np.array([["a", "b"], ["c", "d"]])
    columns = check_columns("toy", ["a", "c"], predictions, square, needs_references=True)
    assert columns.references == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("references", "error", "message"),
    [
        (None, ValueError, "toy: needs references; pass one list of references per sentence"),
        (zip("abc", "def", strict=True), TypeError, r"got zip; pass list\(references\)"),
        ("a b", TypeError, "references must be a list, one entry per sentence, got str"),
        ([["a"]], ValueError, "1 reference but 3 sources"),
        ([["a"], [], ["b"]], ValueError, r"references\[1\] is empty"),
        ([["a"], [None], ["b"]], ValueError, r"references\[1\] is empty"),
        ([["a"], None, ["b"]], TypeError, r"references\[1\] must be a list of strings or a string, got None"),
        (["a", "\udcff", "c"], ValueError, r"references\[1\] has '\\udcff' at position 0"),
        ([["a"], ["b", "\udcff"], ["c"]], ValueError, r"references\[1\]\[1\] has '\\udcff'"),
        ([["a"], ["b", 3], ["c"]], TypeError, r"references\[1\]\[1\] must be a string, got int"),
        ([["a", "b", "c"], ["a", "b", "c"]], ValueError, "look transposed.*zip"),
    ],
)
def test_bad_references_name_the_row(references, error, message):
    with pytest.raises(error, match=message):
        check_columns("toy", ["a", "b", "c"], ["a", "b", "c"], references, needs_references=True)


def test_a_square_transposed_matrix_is_warned_of(caplog):
    sources = ["the cat sat", "dogs run fast"]
    by_sentence = [["the cat sat", "a cat sat"], ["dogs run fast", "dogs run quickly"]]
    transposed = [list(row) for row in zip(*by_sentence, strict=True)]
    check_columns("toy", sources, sources, by_sentence, needs_references=True)
    assert not caplog.records
    check_columns("toy", sources, sources, transposed, needs_references=True, warn=False)
    assert not caplog.records
    check_columns("toy", sources, sources, transposed, needs_references=True)
    assert "fit the sources better transposed" in caplog.text


def test_misaligned_files_are_warned_of(caplog):
    sources = [f"{word} {word}s and {word}ing" for word in ("run", "sleep", "work", "walk", "talk", "jump")]
    shifted = [f"{number} {number} {number} {number}" for number in range(6)]
    check_columns("toy", sources, [source + " ." for source in sources])
    assert not caplog.records
    check_columns("toy", sources, shifted)
    assert "are they in the order of the sources?" in caplog.text


ENGLISH = [f"{word} was {word}s {word}ed {word}ing ." for word in "abcdefghijklmnopqrstuvwxyz"]
CHINESE = [f"{chr(0x4E00 + 9 * row)}在{chr(0x4E05 + 9 * row)}{chr(0x4E07 + 9 * row)}的地方。" for row in range(26)]


@pytest.mark.parametrize("sources", [ENGLISH, ENGLISH[:5], [line for line in ENGLISH for line in (line, "")], CHINESE])
def test_a_missing_or_doubled_line_is_warned_of(caplog, sources):
    corrected = [source.replace("was", "is").replace("的", "得") for source in sources]
    middle = len(sources) // 2 if len(sources) > 8 else 0
    missing = [*corrected[:middle], *corrected[middle + 1 :], "the end ."]
    doubled = [*corrected[:middle], "a title .", *corrected[middle:-1]]
    check_columns("toy", sources, corrected, corrected, needs_references=True)
    assert not caplog.records
    check_columns("toy", sources, missing)
    check_columns("toy", sources, doubled)
    check_columns("toy", sources, corrected, missing, needs_references=True)
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == [
        f"toy: from predictions[{middle}] on",
        f"toy: from predictions[{middle + 1}] on",
        f"toy: from references[{middle}] on",
    ]


@pytest.mark.parametrize(
    "predictions",
    [
        [*ENGLISH[:20], *["Sorry , I cannot do that ."] * 6],
        [*ENGLISH[:20], *[""] * 6],
        [source.split()[0] + " becomes another thing" for source in ENGLISH],  # free
    ],
)
def test_bad_predictions_in_their_places_are_not_warned_of(caplog, predictions):
    check_columns("toy", ENGLISH, predictions)
    near = [f"I has {1 + row // 3} dogs ." for row in range(26)]  # repeated and nearly equal lines
    check_columns("toy", near, [line.replace("has", "have") for line in near])
    assert not caplog.records
