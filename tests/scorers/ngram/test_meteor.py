"""METEOR without its penalty: by hand, and against a search through all alignments."""

from __future__ import annotations

import itertools
import random

import pytest

from geceval.core.errors import MissingExtraError
from geceval.scorers.ngram import meteor as module
from geceval.scorers.ngram.meteor import matches, meteor


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


def test_recall_counts_for_more():
    assert meteor("a", "a b") < meteor("a b", "a")  # a word lost costs more than a word added


def largest(left, right, fits):
    """The size of a largest matching, by trying all orders of the longer side."""
    short, long = sorted((left, right), key=len)
    return max(sum(map(fits, short, order)) for order in itertools.permutations(long, len(short)))


def test_equal_words_first_then_stems():
    import snowballstemmer

    stem = snowballstemmer.stemmer("english").stemWord
    rng = random.Random(1)
    for _ in range(200):
        left, right = (rng.choices(["run", "runs", "cat", "cats", "ran", "of"], k=rng.randint(1, 5)) for _ in "ab")
        by_stem = largest(left, right, lambda one, other: stem(one) == stem(other))
        assert matches(left, right) == by_stem  # equal words have equal stems: the stages lose nothing


def test_synonyms_are_matched_as_often_as_possible(monkeypatch):
    """The matching on a small thesaurus in place of WordNet, whose files are not on every machine."""
    senses = {"big": "1", "large": "12", "great": "23", "grand": "3", "red": "4"}
    monkeypatch.setattr(module, "_synsets", lambda word: frozenset(senses[word]))
    rng = random.Random(2)
    for _ in range(100):
        left, right = (rng.sample(list(senses), k=rng.randint(1, 4)) for _ in "ab")
        rest = [word for word in left if word not in right], [word for word in right if word not in left]
        by_sense = largest(*rest, lambda one, other: bool(set(senses[one]) & set(senses[other])))
        assert matches(left, right, synonyms=True) == len(left) - len(rest[0]) + by_sense


def test_synonyms_say_what_they_need_or_match():
    try:
        from nltk.corpus import wordnet

        wordnet.synsets("car")
    except (ImportError, LookupError):
        with pytest.raises(MissingExtraError, match="pip install nltk && python -m nltk.downloader wordnet"):
            matches(["car"], ["automobile"], synonyms=True)
        return
    assert matches(["car", "the"], ["automobile", "big"], synonyms=True) == 1
    assert matches(["large", "big"], ["big", "huge"], synonyms=True) == 1 + ("large" == "huge")
