"""Pooling and heads: published checkpoints as transformers computes them, mean pooling as written down here."""

import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.models.pooling import mean_pool, pooling_of

TEXTS = ["the cat sat on the mat .", "dogs run", "the " * 40, "", "a school likes xyz"]
ARCHITECTURES = [(name, {}) for name in ("Bert", "DebertaV2", "Electra", "Roberta")]
ARCHITECTURES += [("ModernBert", {"classifier_pooling": pooling}) for pooling in ("cls", "mean")]


def padded_batch(folder, texts):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer(texts, padding="max_length", max_length=128, truncation=True, return_tensors="pt")
    return {name: batch[name] for name in ("input_ids", "attention_mask")}


@pytest.mark.parametrize(("family", "config"), ARCHITECTURES)
def test_published_checkpoints_score_as_in_transformers(make_checkpoint, family, config):
    folder = make_checkpoint(1, architecture=f"{family}ForSequenceClassification", **config)
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        expected = plain(**padded_batch(folder, TEXTS)).logits.numpy()
    assert expected.std() > 0.01
    found = Encoder.load(resolve(folder), head=True).logits(TEXTS, RunTime(batch_size=2))
    assert found == pytest.approx(expected, abs=1e-5)


def deeper(activation):
    """The answers of a classifier of two layers."""
    return lambda classifier, means: classifier.out_proj(activation(classifier.dense(means)))


@pytest.mark.parametrize(
    ("family", "answer"),
    [
        *((family, lambda classifier, means: classifier(means)) for family in ("Bert", "DebertaV2")),
        ("Electra", deeper(torch.nn.functional.gelu)),
        ("Roberta", deeper(torch.tanh)),
    ],
)
def test_mean_pooling_hands_the_mean_to_the_classifier(make_checkpoint, family, answer):
    folder = make_checkpoint(3, architecture=f"{family}ForSequenceClassification", geceval_pooling="mean")
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    batch = padded_batch(folder, TEXTS)
    with torch.no_grad():
        states = plain.base_model(**batch).last_hidden_state
        rows = zip(states, batch["attention_mask"], strict=True)
        means = torch.stack([row[mask == 1].mean(dim=0) for row, mask in rows])
        expected = answer(plain.classifier, means).numpy()
    assert Encoder.load(resolve(folder), head=True).logits(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_mean_pool_leaves_padding_out():
    states = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [100.0, 100.0]], [[7.0, 8.0], [9.0, 9.0], [9.0, 9.0]]])
    mask = torch.tensor([[1, 1, 0], [0, 0, 0]])
    # (1 + 3) / 2 and (2 + 6) / 2; a text without tokens has no mean and gives zeros
    assert mean_pool(states, mask).tolist() == [[2.0, 4.0], [0.0, 0.0]]


def test_an_unknown_pooling_is_refused(make_checkpoint):
    checkpoint = resolve(make_checkpoint(5, geceval_pooling="max"))
    with pytest.raises(CheckpointError, match="geceval_pooling must be 'first' or 'mean', got 'max'"):
        pooling_of(checkpoint)
