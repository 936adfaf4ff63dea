"""IMPARA-GED against plain transformers, its settings, and bad input."""

from __future__ import annotations

import pickle
import random

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import geceval
from geceval.core.options import RunTime
from geceval.models.checkpoints import CheckpointError
from geceval.scorers.impara_ged import ImparaGed, Settings

FAMILIES = ["Bert", "DebertaV2", "Electra"]
PUBLISHED = [
    *((family, {}) for family in FAMILIES),
    ("ModernBert", {"classifier_pooling": "cls"}),
    ("ModernBert", {"classifier_pooling": "mean"}),
]
WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "dogs", "run", "likes", "school", "xyz", "."]


def corpus(count=30, seed=0):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 25))) for _ in range(count)] + ["", "the " * 300]


def plain(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()

    def encode(texts):
        batch = tokenizer(texts, padding="max_length", max_length=128, truncation=True, return_tensors="pt")
        return {name: batch[name] for name in ("input_ids", "attention_mask")}

    return model, encode


@pytest.mark.parametrize(("family", "config"), PUBLISHED)
def test_published_checkpoints_score_as_in_transformers(make_checkpoint, family, config):
    folder = make_checkpoint(61, architecture=f"{family}ForSequenceClassification", **config)
    model, encode = plain(folder)
    texts = corpus()
    with torch.no_grad():
        expected = torch.sigmoid(model(**encode(texts)).logits[:, 0]).numpy()
    assert expected.std() > 1e-3
    result = ImparaGed(Settings(model=str(folder))).score(texts, texts)
    assert result.scores == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.score == pytest.approx(expected.mean(), abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_mean_pooling_is_honoured(make_checkpoint, family):
    architecture = f"{family}ForSequenceClassification"
    folder = make_checkpoint(62, architecture=architecture, geceval_pooling="mean")
    model, encode = plain(folder)
    texts = corpus()
    with torch.no_grad():
        batch = encode(texts)
        states = model.base_model(**batch).last_hidden_state
        weights = batch["attention_mask"].unsqueeze(-1).float()
        pooled = (states * weights).sum(1) / weights.sum(1)
        if family == "Electra":
            logits = model.classifier.out_proj(torch.nn.functional.gelu(model.classifier.dense(pooled)))
        else:
            logits = model.classifier(pooled)
        expected = torch.sigmoid(logits[:, 0]).tolist()
    assert ImparaGed(Settings(model=str(folder))).score(texts, texts).scores == pytest.approx(expected, abs=1e-5)


@pytest.fixture(scope="module")
def local(make_checkpoint):
    return {"model": str(make_checkpoint(63, geceval_pooling="mean"))}


@pytest.mark.parametrize("batch_size", [1, 7])
def test_batch_size_and_order_do_not_matter(local, batch_size):
    texts = corpus()
    geceval.clear_caches()
    expected = ImparaGed(Settings(**local)).score(texts, texts).scores
    order = random.Random(batch_size).sample(range(len(texts)), len(texts))
    geceval.clear_caches()
    shuffled = [texts[place] for place in order]
    result = ImparaGed(Settings(**local), RunTime(batch_size=batch_size)).score(shuffled, shuffled)
    assert result.scores == pytest.approx([expected[place] for place in order], abs=1e-5)


def test_the_source_does_not_enter_the_number(local):
    one, other = (ImparaGed(Settings(**local)).score([source], ["the cat sat"]) for source in ("the cat sat", "dogs"))
    assert one.scores == other.scores and one.signature == other.signature


def test_a_checkpoint_of_another_kind_is_refused(make_checkpoint):
    with pytest.raises(CheckpointError, match="has 3 outputs"):
        ImparaGed(Settings(model=str(make_checkpoint(65, num_labels=3)))).load()


def test_answers_that_are_not_finite_are_named(make_checkpoint):
    folder = make_checkpoint(66)
    state = load_file(folder / "model.safetensors")
    state["classifier.bias"] = torch.full_like(state["classifier.bias"], 3e38)
    state["classifier.weight"] = torch.full_like(state["classifier.weight"], 3e38)
    state["bert.pooler.dense.weight"].zero_()
    state["bert.pooler.dense.bias"].fill_(1.0)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ValueError, match=r"^impara_ged: the quality estimator gives inf for predictions\[0\]; use dtype"
    ):
        ImparaGed(Settings(model=str(folder))).score(["a"], ["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": None}, "model must be a string"),
        ({"max_length": 0}, "max_length must be at least 3"),
    ],
)
def test_settings_are_checked(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Settings(**options)


def test_columns_are_checked_before_anything_is_loaded():
    with pytest.raises(ValueError, match="impara_ged: 1 source but 2 predictions"):
        ImparaGed(Settings(model="some-org/never-loaded")).score(["a"], ["a", "b"])


def test_settings_stored_with_the_checkpoint_and_pickling(make_checkpoint):
    scorer = ImparaGed(Settings(model=str(make_checkpoint(67, geceval_max_length=24))))
    result = scorer.score(["a cat"], ["the cat"])
    assert "|max_length:24|" in result.signature
    assert pickle.loads(pickle.dumps(scorer)).score(["a cat"], ["the cat"]) == result
