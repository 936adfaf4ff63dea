"""Column checks and the one orientation of references."""

import numpy as np
import pandas
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
    square = np.array([["a", "b"], ["c", "d"]])
    columns = check_columns("toy", ["a", "c"], predictions, square, needs_references=True)
    assert columns.references == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("references", "error", "message"),
    [
        (None, ValueError, "toy: needs references; pass one list of references per sentence"),
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


def test_a_missing_or_doubled_line_is_warned_of(caplog):
    sources = [f"{word} was {word}s {word}ed {word}ing ." for word in "abcdefghijklmnopqrstuvwxyz"]
    doubled = [*sources[:10], sources[9], *sources[10:-1]]
    missing = [*sources[:10], *sources[11:], "the end ."]
    check_columns("toy", sources, [source.replace("was", "is") for source in sources])
    check_columns("toy", sources, [*sources[:20], *["Sorry , I cannot do that ."] * 6])
    assert not caplog.records
    for shifted in (doubled, missing):
        check_columns("toy", sources, shifted)
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == ["toy: from predictions[10] on"] * 2
