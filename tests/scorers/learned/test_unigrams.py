"""Unigram log-probabilities: what a word is, the bundled counts, files of one's own, wordfreq where it is installed."""

from __future__ import annotations

import importlib.util
import math

import pytest

from geceval.core.errors import MissingExtraError
from geceval.scorers.learned.unigrams import COUNTS, count, load_unigrams, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He goes to school .", ["he", "goes", "to", "school", "."]),
        ("He goes to school.", ["he", "goes", "to", "school", "."]),
        ("I don't know, it's Tom's", ["i", "do", "n't", "know", ",", "it", "'s", "tom", "'s"]),
        ("I do n't know , it 's Tom 's", ["i", "do", "n't", "know", ",", "it", "'s", "tom", "'s"]),
        ("can\u2019t they\u2019d", ["ca", "n't", "they", "'d"]),
        ("n't O'Neil 'sword", ["n't", "o", "'", "neil", "'", "sword"]),
        ("10,000 snake_case", ["10", ",", "000", "snake", "_", "case"]),
        ("日本 café 🙂", ["日本", "café", "🙂"]),
        (" \t\u00a0", []),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_rare_words_are_left_out_of_counts():
    assert count(["a a b", "A b c"]) == {"a": 3, "b": 2}
    assert count(["a b"], least=1) == {"a": 1, "b": 1}


def test_bundled():
    found = load_unigrams("bundled")
    counts = dict(line.split("\t") for line in COUNTS.read_text(encoding="utf-8").splitlines())
    assert sum(map(int, counts.values())) == 208_299  # as its card says
    assert found.name.startswith("bundled@")
    assert found.of_word("the") == pytest.approx(math.log(9075 / 208_299), rel=1e-12)
    assert found.of_word("xyzzy") == pytest.approx(math.log(1 / 208_299), rel=1e-12)  # as if seen once
    of_text = found.log_probability("The xyzzy")
    assert of_text == pytest.approx(math.log(9075 / 208_299) + math.log(1 / 208_299), rel=1e-12)
    assert found.log_probability("") == 0


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text("a\t3\nb\t1\n", encoding="utf-8")
    first = load_unigrams(path)
    path.write_text("A\t2\na\t1\nB\t1\n", encoding="utf-8")
    assert load_unigrams(path).of_word("a") == first.of_word("a")  # words are looked up in lower case
    assert first.log_probability("a b c") == pytest.approx(math.log(3 / 4) + 2 * math.log(1 / 4), rel=1e-12)
    path.write_text("a\t1\nb\t1\n", encoding="utf-8")
    again = load_unigrams(path)
    assert again.of_word("a") == pytest.approx(math.log(1 / 2), rel=1e-12)  # read anew
    assert first.name.startswith("mine.tsv@") and first.name != again.name


@pytest.mark.parametrize("line", ["a", "a\t", "\t3", "a\t0", "a\t-1", "a\t1.5", "a\tmany", "a\t1\t1", ""])
def test_lines_that_are_no_counts(line, tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text(f"the\t2\n{line}\nb\t1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine.tsv, line 2: expected a word .* a tab and a positive whole number"):
        load_unigrams(path)


def test_a_word_twice_and_an_empty_file(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text("a\t2\na\t1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: expected a word that no line above has"):
        load_unigrams(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="no counts"):
        load_unigrams(path)
    with pytest.raises(OSError):
        load_unigrams(tmp_path / "none.tsv")


def test_wordfreq():
    if importlib.util.find_spec("wordfreq") is None:
        with pytest.raises(MissingExtraError, match="unigrams='wordfreq' needs wordfreq: pip install wordfreq"):
            load_unigrams("wordfreq")
        return
    import wordfreq

    found = load_unigrams("wordfreq")
    assert found.of_word("the") == pytest.approx(math.log(wordfreq.word_frequency("the", "en")), rel=1e-12)
    assert found.of_word("xqzzyqx") == pytest.approx(math.log(1e-8), rel=1e-12)
