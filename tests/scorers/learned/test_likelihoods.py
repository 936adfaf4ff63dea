"""Metrics of likelihoods read what several systems made together, and score it as one by one; unigrams."""

import math

import pytest

import geceval
from geceval import registry
from geceval.models.causal import CausalModel
from geceval.scorers.learned.likelihoods import load_unigrams, words

SOURCES = ["She go to the school yesterday .", "I likes cats .", "It is all right ."]
SYSTEMS = {
    "one": ["She goes to the school yesterday .", "I like cats .", "It is all right ."],
    "two": ["She goes to school yesterday .", "I like the cat .", "It is all right ."],
    "three": ["She went to school yesterday .", "", "It is all right ."],
}


@pytest.mark.parametrize(
    ("metric", "distinct"),
    [("fluency", 7), ("impara_lm", 7), ("scribendi", 8)],  # what none changed is not read
)
def test_systems_are_read_together(make_causal, monkeypatch, metric, distinct):
    folder = str(make_causal(2, "llama"))
    plain = registry.make_scorer(metric, {"model": folder})
    expected = {name: plain.score(SOURCES, predictions) for name, predictions in SYSTEMS.items()}
    geceval.clear_caches()
    sizes, run = [], CausalModel._run  # how many texts the model reads each time
    monkeypatch.setattr(CausalModel, "_run", lambda self, *given: sizes.append(len(given[1])) or run(self, *given))
    scorer = registry.make_scorer(metric, {"model": folder})
    found = registry.score_systems(scorer, SOURCES, SYSTEMS)
    assert sizes == [distinct]
    for name, result in found.items():
        assert result.scores == pytest.approx(expected[name].scores, abs=1e-4)
        assert result.signature == expected[name].signature


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


def test_the_bundled_counts():
    unigrams = load_unigrams()
    assert sum(unigrams.counts.values()) == 208_299  # as their card says
    assert unigrams.name.startswith("bundled@")
    the, unseen = math.log(9075 / 208_299), math.log(1 / 208_299)  # as if seen once
    assert unigrams.log_probability("The xyzzy") == pytest.approx(the + unseen, rel=1e-12)
    assert unigrams.log_probability("") == 0
