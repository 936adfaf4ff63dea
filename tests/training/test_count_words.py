"""The script that counts words writes what `fluency` reads."""

import math

import pytest

import count_words
from geceval.scorers.learned.likelihoods import load_unigrams


def test_counts_are_written_and_read(tmp_path, capsys):
    text, counts = tmp_path / "text.txt", tmp_path / "counts.tsv"
    text.write_text("The cat does n't sit .\nThe cats don't .\n", encoding="utf-8")
    assert count_words.main([str(text), "--output", str(counts)]) == 0
    assert counts.read_text(encoding="utf-8") == ".\t2\nn't\t2\nthe\t2\n"
    assert capsys.readouterr().out == f"{counts}: 3 words, 6 occurrences\n"
    assert load_unigrams(counts).log_probability("the") == pytest.approx(math.log(2 / 6))


def test_rare_words_are_left_out_of_counts():
    assert count_words.count(["a a b", "A b c"]) == {"a": 3, "b": 2}
    assert count_words.count(["a b"], least=1) == {"a": 1, "b": 1}
