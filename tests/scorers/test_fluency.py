"""Fluency: every normalisation against plain transformers, a text at a time; what is done with texts of any kind."""

from __future__ import annotations

import math
import random
import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import geceval
from geceval import registry
from geceval.core.cache import clear_caches
from geceval.core.options import RunTime
from geceval.models.checkpoints import resolve
from geceval.scorers.attribution.attribute import attribute
from geceval.scorers.fluency import NORMALIZATIONS, Fluency, Settings
from geceval.scorers.learned.unigrams import load_unigrams

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
PROSE_SOURCES = ["He go to school every days.", "I don't like cat, and he do.", "They are happy.", "", "", "a"]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, make_causal):
    return make_causal(9, request.param)


def scorer(folder, runtime=None, **options):
    return Fluency(Settings(model=str(folder), **options), runtime)


def plain(model, tokenizer, text, start=0, end=0):
    """The log-probabilities of a text's tokens as plain transformers has them; of an empty text, that of its end."""
    ids = [start, *(tokenizer(text, add_special_tokens=False).input_ids or [end])]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, :-1].double()
    return torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]].tolist()


def normalised(kind, log_probs, prediction):
    """The definitions, one by one."""
    total, words = math.fsum(log_probs), max(1, len(prediction.split()))
    return {
        "sqrt": total / math.sqrt(words),
        "mean": total / words,
        "sum": total,
        "ge2018": 1 / (1 - total / len(log_probs)),
        "slor": (total - load_unigrams("bundled").log_probability(prediction)) / words,
    }[kind]


def by_hand(folder, kind, given, read, **special):
    """The scores of texts by the definitions, from a model loaded by plain transformers."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return [
        normalised(kind, plain(model, tokenizer, text, **special), prediction)
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


@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_relative_subtracts_the_source(folder, kind):
    result = scorer(folder, normalization=kind, relative=True).score(SOURCES, PREDICTIONS)
    after, before = by_hand(folder, kind, PREDICTIONS, PROSE), by_hand(folder, kind, SOURCES, PROSE_SOURCES)
    assert result.scores == pytest.approx(np.subtract(after, before), abs=1e-4)
    assert result.scores[2] == 0  # left alone


def test_tokens_as_they_are(folder):
    found = scorer(folder, detokenize=False, normalization="sum").score(SOURCES, PREDICTIONS).scores
    assert found == pytest.approx(by_hand(folder, "sum", PREDICTIONS, PREDICTIONS), abs=1e-4)
    assert found[0] != pytest.approx(by_hand(folder, "sum", PREDICTIONS, PROSE)[0], abs=0.1)


def test_another_start(folder):
    found = scorer(folder, start="x", normalization="sum").score(SOURCES, PREDICTIONS).scores
    start = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()["x"]
    assert found == pytest.approx(by_hand(folder, "sum", PREDICTIONS, PROSE, start=start), abs=1e-4)


def test_a_start_that_is_no_token(folder):
    with pytest.raises(ValueError, match="fluency: .*its tokenizer has no token 'xyz'"):
        scorer(folder, start="xyz").load()


def test_order_and_company_do_not_matter(folder):
    rng = random.Random(1)
    texts = ["".join(rng.choices("abc de.", k=rng.randint(0, 80))) for _ in range(40)]
    clear_caches()
    together = scorer(folder, RunTime(batch_size=7)).score(texts, texts).scores
    clear_caches()
    turned = scorer(folder, RunTime(batch_size=5)).score(texts[::-1], texts[::-1]).scores
    assert turned[::-1] == pytest.approx(together, abs=1e-4)


@pytest.mark.parametrize("text", ["", " ", "\t \u00a0"])
def test_without_words_a_text_ends_at_once(folder, text):
    (end,) = by_hand(folder, "sum", [""], [""])
    for kind, expected in {"sqrt": end, "mean": end, "sum": end, "slor": end, "ge2018": 1 / (1 - end)}.items():
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


def test_a_text_of_2000_words_is_read_to_its_end(make_causal):
    folder = make_causal(9, max_position_embeddings=8192)
    rng = random.Random(2)
    text = " ".join("".join(rng.choices("abcde", k=3)) for _ in range(2000))
    found = scorer(folder).score([text], [text]).scores
    assert found == pytest.approx(by_hand(folder, "sqrt", [text], [text]), rel=1e-5)


def test_bounds_hold_and_are_those_of_the_settings():
    expected = {
        "sqrt": (None, 0.0),
        "mean": (None, 0.0),
        "sum": (None, 0.0),
        "ge2018": (0.0, 1.0),
        "slor": (None, None),
    }
    for kind, bounds in expected.items():
        assert Fluency(Settings(normalization=kind)).bounds == bounds
    assert Fluency(Settings(relative=True)).bounds == (None, None)
    assert Fluency(Settings(normalization="ge2018", relative=True)).bounds == (-1.0, 1.0)


def test_every_setting_changes_the_signature(folder, make_causal, tmp_path):
    counts = tmp_path / "counts.tsv"
    counts.write_text("a\t3\n", encoding="utf-8")
    options = [
        {},
        {"model": str(make_causal(10))},
        {"normalization": "mean"},
        {"normalization": "slor"},
        {"normalization": "slor", "unigrams": str(counts)},
        {"detokenize": False},
        {"start": "x"},
        {"relative": True},
        {"max_length": 50},
    ]
    lines = {
        registry.make_scorer("fluency", {"model": str(folder), **o}).score(["a"], ["a"]).signature for o in options
    }
    assert len(lines) == len(options)
    line = scorer(folder).score(["a"], ["a"]).signature
    start = transformers.AutoTokenizer.from_pretrained(folder).bos_token.replace("|", "\\|")
    assert f"|model:{resolve(folder).identity}|" in line and f"|start:{start}|" in line
    assert "|unigrams:unused|" in line


def test_the_checkpoints_start_is_in_the_signature_as_if_it_had_been_given(folder):
    start = transformers.AutoTokenizer.from_pretrained(folder).bos_token
    assert scorer(folder).score(["a"], ["a"]).signature == scorer(folder, start=start).score(["a"], ["a"]).signature


def test_attribution_divides_the_gain(folder):
    (found,) = attribute(scorer(folder), ["He go to school every days ."], ["He goes to school every day ."])
    before, after = by_hand(
        folder, "sqrt", [SOURCES[0], PREDICTIONS[0]], ["He go to school every days.", "He goes to school every day."]
    )
    assert len(found.scores) == 2
    assert sum(found.scores) == pytest.approx(after - before, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"normalization": "words"},
            ValueError,
            "normalization must be one of 'sqrt', 'mean', 'sum', 'ge2018', 'slor'",
        ),
        ({"detokenize": "no"}, TypeError, "detokenize must be a bool, got str"),
        ({"relative": 1}, TypeError, "relative must be a bool, got int"),
        ({"start": ""}, ValueError, "start must be a token of the model's vocabulary"),
        ({"start": 0}, TypeError, "start must be a string"),
        ({"max_length": 1}, ValueError, "max_length must be at least 2, got 1"),
        ({"model": None}, TypeError, "model must be a string"),
    ],
)
def test_bad_settings(options, error, message):
    with pytest.raises(error, match=message):
        Settings(**options)


def test_bad_unigrams(folder, tmp_path):
    with pytest.raises(OSError, match="none.tsv"):
        scorer(folder, normalization="slor", unigrams=str(tmp_path / "none.tsv")).load()
    scorer(folder, unigrams=str(tmp_path / "none.tsv")).load()  # not read


def test_weights_that_are_no_numbers(make_causal, tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(make_causal(9), folder)
    weights = load_file(folder / "model.safetensors")
    weights["transformer.ln_f.bias"][0] = math.nan
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match="fluency: .*ln_f.bias has values that are not finite"):
        scorer(folder).score(["a"], ["a"])


def test_no_model_is_bundled_and_none_is_taken_silently(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="fluency: no checkpoint 'fluency' is bundled"):
        scorer("bundled").load()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ValueError, match="gpt2: .*the Hub is switched off.*hf download gpt2"):
        geceval.load("fluency", model="gpt2", cache_dir=str(tmp_path))


@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_smollm2_equals_plain_transformers(smollm2, kind):
    result = scorer(smollm2, normalization=kind).score(SOURCES, PREDICTIONS)
    expected = by_hand(resolve(smollm2).folder, kind, PREDICTIONS, PROSE)
    assert result.scores == pytest.approx(expected, rel=1e-5, abs=1e-4)  # sums are of float32, -44 or so
    assert "|model:smollm2@b179c95|" in result.signature


def test_smollm2_prefers_correct_english(smollm2):
    wrong = ["He go to school every days .", "I am agree with you .", "She have many book ."]
    right = ["He goes to school every day .", "I agree with you .", "She has many books ."]
    gains = scorer(smollm2, relative=True).score(wrong, right).scores
    assert all(gain > 1 for gain in gains)
