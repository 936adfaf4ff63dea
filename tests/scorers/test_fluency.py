"""Fluency: every normalisation against its definition; what is done with texts of any kind."""

import math

import numpy as np
import pytest

from geceval.core.cache import clear_caches
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.scorers.fluency import Fluency, Settings
from geceval.scorers.learned.likelihoods import load_unigrams

SOURCES = ["He go to school every days .", "I do n't like cat , and he do .", "They are happy .", "", " \t", "a"]
PREDICTIONS = ["He goes to school every day .", "I do n't like cats , and he does .", "They are happy ."]
PREDICTIONS += ["New", "", "a b"]
PROSE = ["He goes to school every day.", "I don't like cats, and he does.", "They are happy.", "New", "", "a b"]
NORMALIZATIONS = ("sqrt", "ge2018", "slor")


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, make_causal):
    return make_causal(9, request.param)


def scorer(folder, runtime=None, **options):
    return Fluency(Settings(model=str(folder), guard="off", **options), runtime)


def log_probs(folder, text):
    """Of a text's tokens; of an empty text, that of its end. tests/models/test_causal.py has both from transformers."""
    model = CausalModel.load(resolve(folder))
    return model.token_log_probs([text])[0] if text else [model.end_log_prob()]


def normalised(kind, values, prediction):
    """The definitions, one by one."""
    total, words = math.fsum(values), max(1, len(prediction.split()))
    slor = (total - load_unigrams().log_probability(prediction)) / words
    return {"sqrt": total / math.sqrt(words), "ge2018": 1 / (1 - total / len(values)), "slor": slor}[kind]


def by_hand(folder, kind, given, read):
    """The scores of texts by the definitions."""
    return [normalised(kind, log_probs(folder, text), prediction) for prediction, text in zip(given, read, strict=True)]


@pytest.mark.parametrize("batch_size", [1, 64])
@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_equals_the_definition(folder, kind, batch_size):
    clear_caches()
    result = scorer(folder, RunTime(batch_size=batch_size), normalization=kind).score(SOURCES, PREDICTIONS)
    expected = by_hand(folder, kind, PREDICTIONS, PROSE)
    assert result.scores == pytest.approx(expected, abs=1e-4)
    assert result.score == pytest.approx(np.mean(expected), abs=1e-4)


def test_tokens_as_they_are(folder):
    found = scorer(folder, detokenize=False).score(SOURCES, PREDICTIONS).scores
    assert found == pytest.approx(by_hand(folder, "sqrt", PREDICTIONS, PREDICTIONS), abs=1e-4)
    assert found[0] != pytest.approx(by_hand(folder, "sqrt", PREDICTIONS, PROSE)[0], abs=0.1)


@pytest.mark.parametrize("text", ["", " ", "\t \u00a0"])
def test_without_words_a_text_ends_at_once(folder, text):
    (end,) = by_hand(folder, "sqrt", [""], [""])
    for kind, expected in {"sqrt": end, "slor": end, "ge2018": 1 / (1 - end)}.items():
        for detokenize in (True, False):
            found = scorer(folder, normalization=kind, detokenize=detokenize).score(["a b"], [text]).scores
            assert found == pytest.approx([expected], abs=1e-4)


@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_what_is_cut_counts_as_the_rest_does(folder, kind, caplog):
    clear_caches()
    text = "x " * 2000
    found = scorer(folder, normalization=kind).score([text], [text]).scores[0]
    assert "fluency: longer than 160 tokens and cut: 1 of 1 text, first on line 1" in caplog.text
    read = log_probs(folder, ("x " * 80)[:159])
    assert found == pytest.approx(normalised(kind, np.repeat(np.mean(read), 3999), text), rel=1e-5)


def test_bounds_are_those_of_the_settings():
    for kind, bounds in {"sqrt": (None, 0.0), "ge2018": (0.0, 1.0), "slor": (None, None)}.items():
        assert Fluency(Settings(normalization=kind)).bounds == bounds
