"""Metrics of likelihoods read what several systems made of the same sources together, and score it as one by one."""

from __future__ import annotations

import pytest

import geceval
from geceval import registry
from geceval.models.causal import CausalModel

SOURCES = ["She go to the school yesterday .", "I likes cats .", "It is all right ."]
SYSTEMS = {
    "one": ["She goes to the school yesterday .", "I like cats .", "It is all right ."],
    "two": ["She goes to school yesterday .", "I like the cat .", "It is all right ."],
    "three": ["She went to school yesterday .", "", "It is all right ."],
}


def texts_read(monkeypatch):
    """How many texts a model has read each time."""
    sizes = []
    run = CausalModel._run
    monkeypatch.setattr(CausalModel, "_run", lambda self, *given: sizes.append(len(given[1])) or run(self, *given))
    return sizes


@pytest.mark.parametrize(
    ("metric", "options", "distinct"),
    [
        ("fluency", {}, 7),
        ("fluency", {"relative": True}, 9),
        ("impara_lm", {"relative": True}, 9),
        ("scribendi", {}, 8),  # what no system changed is not read
    ],
)
def test_systems_are_read_together(make_causal, monkeypatch, metric, options, distinct):
    folder = str(make_causal(2, "llama"))
    plain = registry.make_scorer(metric, {"model": folder, **options})
    expected = {name: plain.score(SOURCES, predictions) for name, predictions in SYSTEMS.items()}
    geceval.clear_caches()
    sizes = texts_read(monkeypatch)
    scorer = registry.make_scorer(metric, {"model": folder, **options})
    found = registry.score_systems(scorer, SOURCES, SYSTEMS)
    assert sizes == [distinct]
    for name, result in found.items():
        assert result.scores == pytest.approx(expected[name].scores, abs=1e-4)
        assert result.signature == expected[name].signature


def test_no_more_is_read_together_than_is_remembered(make_causal, monkeypatch):
    monkeypatch.setattr(CausalModel, "cached_texts", 6)
    scorer = registry.make_scorer("fluency", {"model": str(make_causal(2, "llama"))})
    sizes = texts_read(monkeypatch)
    registry.score_systems(scorer, SOURCES, SYSTEMS)
    assert sizes == [3, 2, 2]


def test_what_is_wrong_with_a_system_is_said_of_it(make_causal):
    scorer = registry.make_scorer("fluency", {"model": str(make_causal(2, "llama"))})
    with pytest.raises(TypeError, match=r"fluency: predictions\[1\] must be a string"):
        registry.score_systems(scorer, SOURCES, {"one": SYSTEMS["one"], "two": ["a", None, "b"]})
    with pytest.raises(TypeError, match="fluency: predictions"):
        registry.score_systems(scorer, SOURCES, {"one": SYSTEMS["one"], "two": None})
