"""The networks that come with geceval, read in plain torch, against transformers and peft."""

import shutil
import subprocess
import sys

import pytest
import torch

from geceval.core.options import RunTime
from geceval.models import bundled
from geceval.models.batched_model import pad
from geceval.models.causal import CausalModel, states_after
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.models.loading import load_network
from geceval.models.pooling import logits, pooling_of
from geceval.models.tokenizers import NOTHING_SPECIAL, encode_words, load_tokenizer
from geceval.scorers.impara import Impara

TEXTS = [
    "He go to school every day , but don't like it .",
    "",
    "  İstanbul ﬁrst\u00a0naïve 中文 Größe \u202eabc ",
    "[CLS] a [SEP] <|endoftext|> b <|im_end|>",
    "👨‍👩‍👧 \ufffd \x07 a\u0301",
    "word " * 60 + "a" * 130,
]
ENCODERS = [("encoder", ""), ("ged_encoder", ""), ("impara", ""), ("impara_ged", ""), ("meaning", ""), ("ged", "")]
ENCODERS += [("ged_25", ""), ("some", "fluency"), ("some", "grammer"), ("some", "meaning")]


def found(asset, part=""):
    return resolve(f"bundled:{asset}", part=part)


def batch(rows):
    return {"input_ids": pad(rows, 0), "attention_mask": pad([[1] * len(row) for row in rows], 0)}


def test_every_bundled_network_is_compared_here():
    folders = {path.parent.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*model.safetensors")}
    assert folders - {"smollm2_impara"} == {f"{asset}/{part}".strip("/") for asset, part in ENCODERS} | {"impara_lm"}


@pytest.mark.parametrize(("asset", "part"), ENCODERS)
def test_encoders_compute_what_transformers_does(asset, part):
    checkpoint = found(asset, part)
    network, tokenizer = bundled.load(checkpoint)
    expected = load_network(checkpoint)
    inputs = batch(tokenizer(TEXTS)["input_ids"])
    real = inputs["attention_mask"].bool()
    with torch.inference_mode():
        ours, theirs = (each.base_model(**inputs, output_hidden_states=True) for each in (network, expected))
        for left, right in zip(ours.hidden_states, theirs.hidden_states, strict=True):
            torch.testing.assert_close(left[real], right[real], atol=1e-5, rtol=0)
        if asset.endswith("encoder"):
            return
        if asset.startswith("ged"):
            left, right = (each(**inputs).logits[real] for each in (network, expected))
            assert network.config.id2label == expected.config.id2label
        else:
            left, right = (logits(each, inputs, pooling_of(checkpoint)) for each in (network, expected))
        torch.testing.assert_close(left, right, atol=1e-5, rtol=0)


def test_pairs_and_the_lowest_layers_are_read_as_by_transformers():
    network, tokenizer = bundled.load(found("encoder"), layers=2)
    encoded = tokenizer(TEXTS, TEXTS[::-1], truncation=True, max_length=24)
    inputs = batch(encoded["input_ids"]) | {"token_type_ids": pad(encoded["token_type_ids"], 0)}
    real = inputs["attention_mask"].bool()
    with torch.inference_mode():
        expected = load_network(found("encoder"))(**inputs, output_hidden_states=True).hidden_states[2]
        states = network.base_model(**inputs).last_hidden_state
    torch.testing.assert_close(states[real], expected[real], atol=1e-5, rtol=0)


def test_the_language_model_computes_what_transformers_does():
    network, tokenizer = bundled.load(found("impara_lm"))
    expected = load_network(found("impara_lm"))
    inputs = batch([[0, *ids] for ids in tokenizer(TEXTS, **NOTHING_SPECIAL)["input_ids"]])
    real = inputs["attention_mask"].bool()
    with torch.inference_mode():
        left, right = (each(**inputs, output_hidden_states=True) for each in (network, expected))
        torch.testing.assert_close(left.logits[real], right.logits[real], atol=1e-3, rtol=1e-4)  # of up to 40
        for layers in (5, 12):
            torch.testing.assert_close(left.hidden_states[layers][real], right.hidden_states[layers][real])
            torch.testing.assert_close(states_after(network, inputs, layers), left.hidden_states[layers])
    assert CausalModel.load(found("impara_lm"))._most_nodes == sys.maxsize  # prefixes are shared


def test_tokenizers_give_what_those_of_transformers_give():
    ours, theirs = bundled.Tokenizer(found("encoder")), load_tokenizer(found("encoder"))
    for columns, options in [((TEXTS,), {}), ((TEXTS, TEXTS[::-1]), {"truncation": True, "max_length": 20})]:
        expected = theirs(*columns, **options)
        for name in ("input_ids", "token_type_ids"):
            assert ours(*columns, **options)[name] == expected[name]
    words = [text.split() for text in TEXTS]
    for limit in (None, 16):
        assert encode_words(ours, words, limit) == encode_words(theirs, words, limit)
    assert ours(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]  # nothing is left of a limit
    ours, theirs = bundled.Tokenizer(found("impara_lm")), load_tokenizer(found("impara_lm"))
    assert ours(TEXTS, **NOTHING_SPECIAL)["input_ids"] == theirs(TEXTS, **NOTHING_SPECIAL)["input_ids"]
    for name in ("bos_token", "eos_token", "pad_token_id", "cls_token_id", "sep_token_id"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_bundled_networks_compute_in_single_precision_and_share_what_no_adapter_changes():
    plain, head = Encoder.load(resolve("bundled")), Encoder.load(found("impara"), head=True)
    assert {values.dtype for values in head.model.weights.values()} == {torch.float32}
    words = "embeddings.word_embeddings.weight"
    assert head.model.weights[words] is plain.model.weights[words]
    assert head.model.weights["encoder.layer.0.output.dense.weight"] is not plain.model.weights[words]
    halved = Encoder.load(resolve("bundled"), RunTime(dtype="bfloat16"))
    assert halved.model.dtype == torch.bfloat16
    assert plain.model.dtype == torch.float32


def test_other_checkpoints_are_left_to_transformers(make_checkpoint):
    assert not bundled.reads(resolve(make_checkpoint(1)))
    assert not bundled.reads(found("ged"), "ForSequenceClassification")
    with pytest.raises(CheckpointError, match="the head has 2 outputs"):
        Impara(Impara.Settings(model="bundled:encoder")).load()


def test_damaged_weights_are_named(tmp_path, monkeypatch):
    shutil.copytree(ASSETS / "encoder", tmp_path / "encoder")
    weights = tmp_path / "encoder" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    monkeypatch.setattr("geceval.models.checkpoints.ASSETS", tmp_path)
    with pytest.raises(CheckpointError, match="encoder: the weights cannot be read .*; install geceval again"):
        Encoder.load(resolve("bundled"))


def test_metrics_of_bundled_networks_import_neither_transformers_nor_peft():
    code = (
        "import sys; from geceval import registry\n"
        "for name in ('impara', 'impara_ged', 'impara_lm', 'some', 'meaning'):\n"
        "    registry.make_scorer(name).score(['He go .'], ['He goes .'])\n"
        "print({'transformers', 'peft', 'scipy', 'spacy', 'pandas'} & sys.modules.keys())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
