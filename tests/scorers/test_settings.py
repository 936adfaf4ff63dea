"""Settings of the metrics of edits and n-grams are checked; tests/test_modules.py finds each in the signature."""

from __future__ import annotations

import pytest

from geceval import registry


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("m2", {"beta": 0}, ValueError),
        ("m2", {"beta": "1"}, TypeError),
        ("m2", {"average": "macro"}, ValueError),
        ("m2", {"max_unchanged_words": -1}, ValueError),
        ("errant", {"level": "spans"}, ValueError),
        ("errant", {"counting": 4}, TypeError),
        ("errant", {"nlp": None}, TypeError),
        ("gleu", {"counting": "2015"}, ValueError),
        ("gleu", {"sampler": "python3"}, ValueError),
        ("gleu", {"iterations": 0}, ValueError),
        ("gleu", {"iterations": 100_001}, ValueError),
        ("gleu", {"smoothing": "yes"}, TypeError),
        ("green", {"unit": "byte"}, ValueError),
        ("green", {"zero_recall": "one"}, ValueError),
        ("i_measure", {"change_weight": 0.0}, ValueError),
    ],
)
def test_bad_settings_are_named(name, options, error):
    with pytest.raises(error, match=f"{name}: {next(iter(options))} "):
        registry.make_scorer(name, options)
