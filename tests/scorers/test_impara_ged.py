"""IMPARA-GED against plain transformers; how it pools, tests/models/test_pooling.py proves for all networks."""

from __future__ import annotations

import pytest
import torch
import transformers

from geceval.scorers.impara_ged import ImparaGed, Settings


@pytest.fixture(scope="module")
def local(make_checkpoint):
    return {"model": str(make_checkpoint(63, geceval_pooling="mean"))}


def test_scores_equal_plain_transformers(make_checkpoint):
    folder = make_checkpoint(61)
    texts = ["the cat sat on the mat .", "dogs run", "", "the " * 300, "a school likes xyz"]
    batch = transformers.AutoTokenizer.from_pretrained(folder)(
        texts, padding="max_length", max_length=128, truncation=True, return_tensors="pt"
    )
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        expected = torch.sigmoid(model(batch["input_ids"], batch["attention_mask"]).logits[:, 0]).numpy()
    assert expected.std() > 1e-3
    result = ImparaGed(Settings(model=str(folder))).score(texts, texts)
    assert result.scores == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.score == pytest.approx(expected.mean(), abs=1e-5)


def test_the_source_does_not_enter_the_number(local):
    one, other = (ImparaGed(Settings(**local)).score([source], ["the cat sat"]) for source in ("the cat sat", "dogs"))
    assert one.scores == other.scores and one.signature == other.signature


def test_settings_stored_with_the_checkpoint(make_checkpoint):
    scorer = ImparaGed(Settings(model=str(make_checkpoint(67, geceval_max_length=24))))
    result = scorer.score(["a cat"], ["the cat"])
    assert "|max_length:24|" in result.signature
