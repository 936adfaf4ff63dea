"""Fluency: every normalisation against plain transformers, a text at a time; what is done with texts of any kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import transformers

from geceval import registry
from geceval.core.cache import clear_caches
from geceval.core.options import RunTime
from geceval.models.checkpoints import resolve
from geceval.scorers.fluency import Fluency, Settings
from geceval.scorers.learned.likelihoods import load_unigrams

SOURCES = ["He go to school every days .", "I do n't like cat , and he do .", "They are happy .", "", " \t", "a"]
PREDICTIONS = [
    "He goes to school every day .",
    "I do n't like cats , and he does .",
    "They are happy .",
    "New",
    "",
    "a b",
]
PROSE = ["He goes to school every day.", "I don't like cats, and he does.", "They are happy.", "New", "", "a b"]
NORMALIZATIONS = ("sqrt", "ge2018", "slor")


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, make_causal):
    return make_causal(9, request.param)


def scorer(folder, runtime=None, **options):
    return Fluency(Settings(model=str(folder), **options), runtime)


def plain(model, tokenizer, text):
    """The log-probabilities of a text's tokens as plain transformers has them; of an empty text, that of its end."""
    ids = [0, *(tokenizer(text, add_special_tokens=False).input_ids or [0])]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, :-1].double()
    return torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]].tolist()


def normalised(kind, log_probs, prediction):
    """The definitions, one by one."""
    total, words = math.fsum(log_probs), max(1, len(prediction.split()))
    return {
        "sqrt": total / math.sqrt(words),
        "ge2018": 1 / (1 - total / len(log_probs)),
        "slor": (total - load_unigrams().log_probability(prediction)) / words,
    }[kind]


def by_hand(folder, kind, given, read):
    """The scores of texts by the definitions, from a model loaded by plain transformers."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return [
        normalised(kind, plain(model, tokenizer, text), prediction)
        for prediction, text in zip(given, read, strict=True)
    ]


@pytest.mark.parametrize("batch_size", [1, 64])
@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_equals_plain_transformers(folder, kind, batch_size):
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
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    read = plain(model, transformers.AutoTokenizer.from_pretrained(folder), ("x " * 80)[:159])
    assert found == pytest.approx(normalised(kind, np.repeat(np.mean(read), 3999), text), rel=1e-5)


def test_bounds_are_those_of_the_settings():
    for kind, bounds in {"sqrt": (None, 0.0), "ge2018": (0.0, 1.0), "slor": (None, None)}.items():
        assert Fluency(Settings(normalization=kind)).bounds == bounds


def test_every_setting_changes_the_signature(folder, make_causal):
    model = {"model": str(make_causal(10))}
    options = [{}, model, {"normalization": "ge2018"}, {"normalization": "slor"}, {"detokenize": False}]
    options.append({"max_length": 50})
    lines = {
        registry.make_scorer("fluency", {"model": str(folder), **o}).score(["a"], ["a"]).signature for o in options
    }
    assert len(lines) == len(options)
    line = scorer(folder).score(["a"], ["a"]).signature
    start = transformers.AutoTokenizer.from_pretrained(folder).bos_token.replace("|", "\\|")
    assert f"|model:{resolve(folder).identity}|" in line and f"|start:{start}|" in line
    assert "|unigrams:unused|" in line


def test_no_model_is_bundled():
    with pytest.raises(ValueError, match="fluency: no checkpoint 'fluency' is bundled"):
        scorer("bundled").load()


def test_smollm2_equals_plain_transformers(smollm2):
    result = scorer(smollm2).score(SOURCES, PREDICTIONS)
    expected = by_hand(resolve(smollm2).folder, "sqrt", PREDICTIONS, PROSE)
    assert result.scores == pytest.approx(expected, rel=1e-5, abs=1e-4)  # sums are of float32, -44 or so
    assert "|model:smollm2@b179c95|" in result.signature


def test_smollm2_prefers_correct_english(smollm2):
    wrong = ["He go to school every days .", "I am agree with you .", "She have many book ."]
    right = ["He goes to school every day .", "I agree with you .", "She has many books ."]
    gains = np.subtract(*(scorer(smollm2).score(wrong, texts).scores for texts in (right, wrong)))
    assert all(gain > 1 for gain in gains)
