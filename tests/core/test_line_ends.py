"""Only a line feed ends a line, in every file that is read: else rows of sources, edits and scores would shift."""

import pytest

from geceval.core.files import read_lines, split_lines
from geceval.corpora.ratings import read_rows
from geceval.edits.m2 import read_m2
from geceval.meta.scores import read_scores
from geceval.scorers.difficulty.chunk_difficulty import read_difficulty

SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]

pytestmark = pytest.mark.parametrize("mark", SEPARATORS, ids=ascii)


@pytest.fixture
def write(tmp_path):
    def make(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return make


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences(write, mark, end):
    assert len(f"a{mark}b".splitlines()) == 2
    assert split_lines(f"a{mark}b{end}c{end}") == [f"a{mark}b", "c"]
    assert read_lines(write(f"a{mark}b{end}{end}c")) == [f"a{mark}b", "", "c"]


def test_edits(write, mark):
    text = f"S a{mark}b c\nA 1 2|||R:NOUN|||d{mark}e|||REQUIRED|||-NONE-|||0\n\nS f\n\n"
    first, second = read_m2(write(text))
    assert (first.source, second.source) == ("a b c", "f")  # tokens are joined by one space
    assert first.edits[0][0].correction.split() == ["d", "e"]


def test_weights(write, mark):
    assert read_difficulty(write(f"3\n1{mark}2\n0\n")).correct == [[1, 2], [0]]


def test_scores_of_a_metric(write, mark):
    rows = f"one{mark}more\t1\t0.1\none{mark}more\t2\t0.2\n"
    (found,) = read_scores(write(f"system\tline\ttoy\n{rows}", "scores.tsv"), [f"one{mark}more"], 2)
    assert found.sentences.tolist() == [[0.1, 0.2]]


def test_ratings(write, mark):
    rows = read_rows(write(f'source,output\n"a{mark}b",c\nd,e\n', "ratings.csv"), ["source", "output"])
    assert [row["source"] for _, row in rows] == [f"a{mark}b", "d"]
