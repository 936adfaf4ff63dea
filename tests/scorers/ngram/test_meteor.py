"""METEOR without its penalty: by hand, and against a search through all alignments."""

from __future__ import annotations

import itertools
import operator
import random

import pytest

from geceval.scorers.ngram.meteor import meteor


def of(matched, left, right):
    precision, recall = matched / left, matched / right
    return precision * recall / (0.85 * precision + 0.15 * recall)


@pytest.mark.parametrize(
    ("prediction", "source", "expected"),
    [
        ("a b c", "a b c", 1.0),
        ("the cats sat", "The cat sits", of(2, 3, 3)),  # the: equal in lower case; cats, cat: one stem
        ("a b", "a b c", of(2, 2, 3)),
        ("a b c", "a b", of(2, 3, 2)),
        ("a a a", "a b", of(1, 3, 2)),  # one to one
        ("b a", "a b", 1.0),  # there is no penalty for the order
        ("walks walking", "walked walk", 1.0),
        ("x y", "a b", 0.0),
        ("", "a", 0.0),
        ("a", " ", 0.0),
        ("", "  ", 1.0),
    ],
)
def test_by_hand(prediction, source, expected):
    assert meteor(prediction, source) == pytest.approx(expected, abs=1e-12)


def test_as_many_words_are_matched_as_have_one_stem():
    """Against the largest matching, by trying all orders of the longer side."""
    import snowballstemmer

    stem = snowballstemmer.stemmer("english").stemWord
    rng = random.Random(1)
    for _ in range(200):
        left, right = (rng.choices(["run", "runs", "cat", "cats", "ran", "of"], k=rng.randint(1, 5)) for _ in "ab")
        short, long = sorted((list(map(stem, left)), list(map(stem, right))), key=len)
        orders = itertools.permutations(long, len(short))
        matched = max(sum(map(operator.eq, short, order)) for order in orders)
        expected = of(matched, len(left), len(right)) if matched else 0.0
        assert meteor(" ".join(left), " ".join(right)) == pytest.approx(expected, abs=1e-12)
