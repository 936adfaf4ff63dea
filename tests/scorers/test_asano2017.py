"""The metric of Asano et al. (2017): its three parts each against another way to compute it, and their sum."""

import itertools
import operator
import random

import numpy as np
import pytest

from geceval import registry
from geceval.core.cache import clear_caches
from geceval.models.checkpoints import resolve
from geceval.models.detector import Detector
from geceval.scorers.asano2017 import Asano2017, Settings, meteor

SOURCES = ["He go to school every days .", "I do n't like cat , and he do .", "They are happy .", "", "a b", "It are ."]
PREDICTIONS = ["He goes to school every day .", "I do n't like cats .", "They are happy .", "", "", "It are ."]


@pytest.fixture(scope="module")
def folder(make_causal):
    return make_causal(9)


def scored(folder, **options):
    return Asano2017(Settings(model=str(folder), **options)).score(SOURCES, PREDICTIONS)


def test_fluency_is_that_of_fluency_by_slor(folder):
    for options in ({}, {"max_length": 20}):
        slor = {"model": str(folder), "normalization": "slor", "guard": "off", **options}
        fluency = registry.make_scorer("fluency", slor)
        found = scored(folder, **options).details["fluency_scores"]
        assert found == pytest.approx(fluency.score(SOURCES, PREDICTIONS).scores, abs=1e-5)


def test_warnings_come_once_and_under_its_name(folder, caplog):
    texts = ["x " * 200, "b", "c", "d", "e"]
    scorer = Asano2017(Settings(model=str(folder)))
    scorer.load()
    clear_caches()
    scorer.score(["one", "two", "three", "four", "five"], texts)
    found = [record.getMessage().partition(";")[0] for record in caplog.records]
    assert found == [
        "asano2017: predictions keep only 5 % of the sources' tokens",  # single words are compared by character
        "asano2017: longer than 128 tokens and cut: 1 of 5 texts, first on line 1",
        "asano2017: longer than 160 tokens and cut: 1 of 5 texts, first on line 1",
        "asano2017: 5 of 5 predictions would be penalised by guard='surface', first on line 1, which adds 199 words",
    ]


def test_meaning_is_meteor_against_the_source(folder):
    found = scored(folder).details["meaning_scores"]
    assert found == [meteor(*pair) for pair in zip(PREDICTIONS, SOURCES, strict=True)]
    assert found[2:5] == [1.0, 1.0, 0.0]


def test_grammaticality_is_the_share_of_words_without_error(folder, make_checkpoint):
    own = make_checkpoint(8, architecture="BertForTokenClassification", labels=("CORRECT", "INCORRECT"))
    for options, checkpoint in (({}, resolve("bundled:ged")), ({"grammar_model": str(own)}, resolve(own))):
        result = scored(folder, **options)
        errors = Detector.load(checkpoint).label_ids(PREDICTIONS)
        expected = [1 - np.mean(row) if row else 1.0 for row in errors]
        assert result.details["grammaticality_scores"] == pytest.approx(expected, abs=1e-12)
        assert sum(errors[-1]) > 0 or options  # It are .
    assert f"|grammar_model:{own.name}@" in result.signature


@pytest.mark.parametrize(
    ("weights", "numbers"),
    [("some-system", (0.07, 0.83, 0.10)), ("some-sentence", (0.02, 0.82, 0.16)), ([0.5, 0, 2], (0.5, 0.0, 2.0))],
)
def test_the_weighted_sum(folder, weights, numbers):
    result = scored(folder, weights=weights)
    parts = [result.details[f"{part}_scores"] for part in ("grammaticality", "fluency", "meaning")]
    assert result.scores == pytest.approx(np.array(numbers) @ np.array(parts), abs=1e-9)
    assert result.score == pytest.approx(np.mean(result.scores), abs=1e-9)
    for part, scores in zip(("grammaticality", "fluency", "meaning"), parts, strict=True):
        assert result.details[part] == pytest.approx(np.mean(scores), abs=1e-12)
    assert f"|weights:{','.join(map(repr, numbers))}|" in result.signature


def test_models_of_the_wrong_kind(folder, make_checkpoint):
    classifier = make_checkpoint(7)
    with pytest.raises(ValueError, match="asano2017: .*error detection needs a token classifier"):
        scored(folder, grammar_model=str(classifier))
    with pytest.raises(ValueError, match="asano2017: "):
        scored(classifier)


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
