"""`geceval detect`: marks, formats, and mistakes in one line."""

from __future__ import annotations

import functools
import json

import pytest

import geceval
from geceval.cli.detect import mark
from geceval.edits.ged_labels import LABELS
from geceval.workflows.detect import Word

TEXT = "the cat sat on a mat"


@pytest.fixture(scope="module")
def two(make_checkpoint):
    return str(make_checkpoint(71, architecture="BertForTokenClassification", labels=LABELS[2]))


@pytest.fixture(scope="module")
def many(make_checkpoint):
    return str(make_checkpoint(72, architecture="BertForTokenClassification", labels=LABELS[25]))


@pytest.fixture
def call(call):
    """Run `geceval detect`."""
    return functools.partial(call, "detect")


def test_marks_in_text(call, two, many):
    words = geceval.detect([TEXT], model=two)[0]
    expected = " ".join(f"[{word.text}]" if word.is_error else word.text for word in words)
    assert call(TEXT, "--model", two) == (0, expected + "\n", "")
    everything = " ".join(f"[{word}]" for word in TEXT.split())
    assert call(TEXT, "--model", two, "--threshold", "0") == (0, everything + "\n", "")
    assert call(TEXT, "--model", many, "--threshold", "0", "--classes", "2") == (0, everything + "\n", "")
    typed = geceval.detect([TEXT], model=many, threshold=0.0)[0]
    expected = " ".join(f"[{word.text}|{word.label}]" for word in typed)
    assert call(TEXT, "--model", many, "--threshold", "0") == (0, expected + "\n", "")


def test_colour_is_for_terminals():
    word = Word("go", "INCORRECT", 0.9)
    assert mark(word, False) == "[go]"
    assert mark(word, True) == "\x1b[31m\x1b[1m[go 90%]\x1b[0m"
    assert mark(Word("go", "CORRECT", 0.1), True) == "go"


def test_files_keep_their_lines(call, two, tmp_path):
    path, output = tmp_path / "source.txt", tmp_path / "marked.txt"
    path.write_bytes(b"the cat\r\n\r\ndogs  run\n")
    assert call("-s", path, "--model", two, "--threshold", "0", "--output", output) == (0, "", "")
    assert output.read_text() == "[the] [cat]\n\n[dogs] [run]\n"


def test_tsv_has_every_word_and_its_probability(call, two):
    code, out, err = call(TEXT, "dogs run", "--model", two, "--format", "tsv")
    assert (code, err) == (0, "")
    columns, *rows = [line.split("\t") for line in out.splitlines()]
    assert columns == ["line", "token", "word", "label", "error"]
    words = [word for row in geceval.detect([TEXT, "dogs run"], model=two) for word in row]
    assert [row[2:] for row in rows] == [[word.text, word.label, repr(word.error)] for word in words]
    assert [row[:2] for row in rows[-3:]] == [["1", "5"], ["2", "0"], ["2", "1"]]


def test_json_has_one_sentence_a_line(call, two):
    _, out, _ = call(TEXT, "dogs run", "--model", two, "--format", "json")
    first, second = map(json.loads, out.splitlines())
    assert (first["line"], second["line"]) == (1, 2)
    assert " ".join(word["text"] for word in first["words"]) == TEXT
    assert all(0 <= word["error"] <= 1 and word["label"] in LABELS[2] for word in second["words"])


def test_the_table_has_the_errors(call, two):
    for threshold, caption in (("0", "1 sentence, 6 errors"), ("1", "1 sentence, 0 errors")):
        _, out, _ = call(TEXT, "--model", two, "--threshold", threshold, "--format", "table")
        assert out.splitlines()[-1] == caption


def test_no_sentences(call, two, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("")
    assert call("-s", path, "--model", two) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "detect takes either sentences, or -s FILE"),
        (["a", "--threshold", "2"], "threshold must lie between 0 and 1, got 2.0"),
        (["a", "--classes", "4"], "the bundled detectors have 2 or 25 classes, not 4; pass model=FOLDER"),
        (["a", "--classes", "3"], "classes must be one of 2, 4, 25, 55, got 3"),
        (["a", "--model", "./nowhere"], "./nowhere: no such folder"),
        (["a", "--format", "latex"], "'latex' is not one of 'text', 'table', 'tsv', 'json'"),
        (["-s", "nowhere.txt"], "nowhere.txt: No such file or directory"),
    ],
)
def test_mistakes_are_one_line(fails, arguments, message):
    assert message in fails(*arguments)
