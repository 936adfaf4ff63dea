"""IMPARA-GED against plain transformers; how it pools, tests/models/test_pooling.py proves for all networks."""

from __future__ import annotations

import random

import pytest
import torch
import transformers

from geceval.scorers.impara_ged import ImparaGed, Settings

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


@pytest.mark.parametrize(("family", "config"), [("Bert", {}), ("ModernBert", {"classifier_pooling": "mean"})])
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


@pytest.fixture(scope="module")
def local(make_checkpoint):
    return {"model": str(make_checkpoint(63, geceval_pooling="mean"))}


def test_the_source_does_not_enter_the_number(local):
    one, other = (ImparaGed(Settings(**local)).score([source], ["the cat sat"]) for source in ("the cat sat", "dogs"))
    assert one.scores == other.scores and one.signature == other.signature


def test_settings_stored_with_the_checkpoint(make_checkpoint):
    scorer = ImparaGed(Settings(model=str(make_checkpoint(67, geceval_max_length=24))))
    result = scorer.score(["a cat"], ["the cat"])
    assert "|max_length:24|" in result.signature
