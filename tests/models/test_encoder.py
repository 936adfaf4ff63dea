"""Batched inference gives the same numbers whatever the batch size, the order and the company."""

import logging
import random

import numpy as np
import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder

WORDS = ["the", "a", "cat", "cats", "sat", "on", "mat", "dogs", "run", "likes", "school", "xyz", ",", "."]


def sentences(count, seed=0):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 30))) for _ in range(count)]


@pytest.fixture(scope="module")
def folder(make_checkpoint):
    return make_checkpoint(21)


@pytest.fixture
def fresh(folder):
    """A function that makes encoders which remember nothing."""
    kept = Encoder.load(resolve(folder), head=True)
    return lambda **options: Encoder(kept.model, kept.tokenizer, **options)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_batch_size_and_order_do_not_matter(fresh, batch_size):
    texts = sentences(100) + sentences(20) + ["", " "]
    expected = fresh().logits(texts, RunTime(batch_size=32))
    order = random.Random(batch_size).sample(range(len(texts)), len(texts))
    shuffled = fresh().logits([texts[place] for place in order], RunTime(batch_size=batch_size))
    assert shuffled == pytest.approx(expected[order], abs=1e-5)
    found, expected = (fresh().embed(texts, RunTime(batch_size=size)) for size in (batch_size, 32))
    assert found == pytest.approx(expected, abs=1e-5)


def test_states_leave_padding_out(fresh, folder):
    encoder = fresh()
    plain = transformers.AutoModel.from_pretrained(folder).eval()
    texts = ["the cat sat", "cats", "the cat sat"]
    for layer in (0, 1, 2, -1):
        for text, (ids, states) in zip(texts, encoder.states(texts, layer=layer), strict=True):
            assert ids == encoder.tokenizer(text)["input_ids"]
            with torch.no_grad():
                expected = plain(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
            assert states.numpy() == pytest.approx(expected.numpy(), abs=1e-5)


def test_pairs_are_read_with_token_types(fresh, folder):
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pairs = [("the cat sat", "a cat sat on the mat"), ("dogs", "dogs run"), ("a " * 90, "the " * 60)]
    with torch.no_grad():
        batch = tokenizer(*map(list, zip(*pairs, strict=True)), padding="max_length", truncation=True, max_length=128,
                          return_tensors="pt")  # fmt: skip
        expected = plain(**batch).logits.numpy()
    assert batch["token_type_ids"].max() == 1
    assert fresh().logits(pairs) == pytest.approx(expected, abs=1e-5)


def test_truncation_is_counted_and_reported_once(fresh, caplog):
    encoder = fresh(name="my-model@1234567", max_length=16)
    texts = ["the " * 2000, "cat " * 15, "the " * 2000, "a cat"]
    with caplog.at_level(logging.WARNING, logger="geceval"):
        cut = encoder.logits(texts)
        encoder.logits(texts)
    told = "longer than 16 tokens and cut: 2 of 3 texts; what lies beyond does not count"
    assert [record.getMessage() for record in caplog.records] == [told]
    assert cut[0] == pytest.approx(fresh(max_length=16).logits(["the " * 14])[0], abs=1e-5)


def test_no_texts_give_no_rows(fresh):
    assert fresh().embed([]).shape[0] == 0
    assert fresh().states([]) == []


def test_one_network_a_process_for_each_way_to_compute(folder):
    checkpoint = resolve(folder)
    encoder = Encoder.load(checkpoint, RunTime(batch_size=3))
    assert Encoder.load(checkpoint, RunTime(batch_size=64, progress=True)) is encoder
    assert Encoder.load(checkpoint, RunTime(dtype="bfloat16")).model.dtype == torch.bfloat16
    assert Encoder.load(checkpoint, max_length=9) is not encoder


def test_length_limits(folder, make_checkpoint):
    assert Encoder.load(resolve(folder)).max_length == 128
    short = resolve(make_checkpoint(22, max_position_embeddings=40))
    assert Encoder.load(short).max_length == 40
    with pytest.raises(ValueError, match="is 41, but .* reads at most 40 tokens; pass max_length=40 or less"):
        Encoder.load(short, max_length=41)
    stored = resolve(make_checkpoint(23, geceval_max_length=64))
    assert Encoder.load(stored).max_length == 64
    roberta = resolve(make_checkpoint(24, architecture="RobertaModel", max_position_embeddings=40))
    assert Encoder.load(roberta).max_length == 39  # its positions are counted from behind the padding id, here 0
    assert np.isfinite(Encoder.load(roberta).embed(["the " * 100])).all()


def test_loading_is_silent(make_checkpoint, capfd):
    folder = make_checkpoint(25)
    capfd.readouterr()  # transformers shows a bar when the test's checkpoint is written
    Encoder.load(resolve(folder), head=True)
    captured = capfd.readouterr()
    assert captured.out == "" and captured.err == ""
