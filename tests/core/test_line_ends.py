"""Only a line feed ends a line, in every file that is read: else rows of sources, edits and scores would shift."""

import pytest

from geceval.core.files import read_lines, split_lines
from geceval.corpora.ratings import read_rows
from geceval.edits.m2 import read_m2
from geceval.meta.scores import read_scores
from geceval.scorers.difficulty.chunk_difficulty import read_difficulty


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_no_other_mark_ends_a_line(mark, tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    for end in ("\n", "\r\n"):
        assert split_lines(f"a{mark}b{end}c{end}") == [f"a{mark}b", "c"]
        assert read_lines(write(f"a{mark}b{end}{end}c")) == [f"a{mark}b", "", "c"]

    m2 = f"S a{mark}b c\nA 1 2|||R:NOUN|||d{mark}e|||REQUIRED|||-NONE-|||0\n\nS f\n\n"
    first, second = read_m2(write(m2))
    assert (first.source, second.source) == ("a b c", "f")  # tokens are joined by one space
    assert first.edits[0][0].correction.split() == ["d", "e"]

    assert read_difficulty(write(f"3\n1{mark}2\n0\n")).correct == [[1, 2], [0]]

    rows = f"one{mark}more\t1\t0.1\none{mark}more\t2\t0.2\n"
    (found,) = read_scores(write(f"system\tline\ttoy\n{rows}", "scores.tsv"), [f"one{mark}more"], 2)
    assert found.sentences.tolist() == [[0.1, 0.2]]

    ratings = read_rows(write(f'source,output\n"a{mark}b",c\nd,e\n', "ratings.csv"), ["source", "output"])
    assert [row["source"] for _, row in ratings] == [f"a{mark}b", "d"]
