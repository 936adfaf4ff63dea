"""Likelihoods, states and quality of texts under a causal model, against plain transformers."""

import json
import math
import random
import shutil

import numpy as np
import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models import causal
from geceval.models.causal import SINK, CausalModel, QualityHead, states_after
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.loading import load_encoder
from geceval.models.regressors import LOWEST, StateRegressor

TEXTS = ["He go to school every days .", "a", "", "日本語 🙂 naïve", " two  spaces "]
TEXTS.insert(3, "The cat sat on the mat , and it was the very mat on which no cat had ever sat before .")


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, make_causal):
    return make_causal(5, request.param)


def fresh(folder, **options):
    """A model that remembers nothing."""
    kept = CausalModel.load(resolve(folder), RunTime())
    return CausalModel(kept.model, kept.tokenizer, **{"max_length": kept.max_length, **options})


def alone(folder, text):
    """One text, one token at a time: the start token, then the bytes of the text, in the model's own class."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    vocabulary = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()
    by_byte = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
    ids = [0, *(vocabulary[letter] for piece, _ in by_byte for letter in piece)]
    total = 0.0
    for place in range(1, len(ids)):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids[:place]])).logits[0, -1].double()
        total -= float(torch.log_softmax(logits, -1)[ids[place]])
    return math.exp(total / (len(ids) - 1)) if len(ids) > 1 else math.inf


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_equals_a_plain_loop(folder, batch_size):
    found = fresh(folder).perplexities(TEXTS, RunTime(batch_size=batch_size))
    assert found.tolist() == pytest.approx([alone(folder, text) for text in TEXTS], rel=1e-5)
    assert found.dtype == np.float64


def test_order_company_and_slices_do_not_matter(folder, monkeypatch):
    rng = random.Random(1)
    texts = ["".join(rng.choices("abc de.", k=rng.randint(0, 60))) for _ in range(40)]
    expected = fresh(folder).perplexities(texts)
    order = rng.sample(range(40), 40)
    monkeypatch.setattr(causal, "LARGEST_OUTPUT", 257 * 100)  # a row or two at once
    assert fresh(folder).perplexities([texts[place] for place in order]) == pytest.approx(expected[order], rel=1e-5)


def test_long_texts_are_cut_at_the_models_positions_and_reported(folder, caplog):
    long = "x" * 200
    model = fresh(folder)
    assert model.perplexities([long, "a"])[0] == pytest.approx(alone(folder, "x" * 159), rel=1e-5)  # 160 positions
    assert "longer than 160 tokens and cut: 1 of 2 texts" in caplog.text


def test_log_probs_of_tokens(folder):
    found = fresh(folder).token_log_probs(TEXTS)
    expected = [-math.log(alone(folder, text)) if text else 0.0 for text in TEXTS]
    assert [row.sum() / max(len(row), 1) for row in found] == pytest.approx(expected, abs=1e-5)
    assert [len(row) for row in found] == [len(text.encode()) for text in TEXTS]  # its tokens are bytes
    assert {row.dtype for row in found} == {np.dtype(np.float32)}


def test_another_start(make_causal, tmp_path):
    folder = make_causal(5)

    def starting_with(token):
        other = shutil.copytree(folder, tmp_path / token)
        config = json.loads((other / "config.json").read_text())
        (other / "config.json").write_text(json.dumps({**config, "geceval_start_token": token}))
        return CausalModel.load(resolve(other))

    found = starting_with("a").token_log_probs(["bc"])[0]
    within = CausalModel.load(resolve(folder), RunTime()).model(input_ids=torch.tensor([ids_of(folder, "abc")])).logits
    expected = torch.log_softmax(within[0, :-1], -1)[range(2), ids_of(folder, "bc")]
    assert found == pytest.approx(expected.numpy(), abs=1e-5)
    with pytest.raises(CheckpointError, match="its tokenizer has no token '<start>'"):
        starting_with("<start>")


def ids_of(folder, text):
    return transformers.AutoTokenizer.from_pretrained(folder)(text, add_special_tokens=False)["input_ids"]


def test_logits_that_the_network_caps(make_causal, tmp_path):
    # Gemma 2 maps logits x to c * tanh(x / c), which its output layer alone does not.
    folder = shutil.copytree(make_causal(5, "llama"), tmp_path / "gemma2")
    torch.manual_seed(0)
    config = transformers.Gemma2Config(
        vocab_size=257, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, head_dim=8,
        num_key_value_heads=2, final_logit_softcapping=0.5, initializer_range=0.3, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    transformers.Gemma2ForCausalLM(config).save_pretrained(folder)
    assert fresh(folder).perplexities(TEXTS).tolist() == pytest.approx([alone(folder, t) for t in TEXTS], rel=1e-5)


def test_an_adapter_changes_its_base(make_causal, tmp_path):
    import peft

    base = make_causal(5, "llama")
    network = transformers.AutoModelForCausalLM.from_pretrained(base)
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules="all-linear", init_lora_weights=False)
    adapted = peft.get_peft_model(network, settings)
    adapted.save_pretrained(tmp_path / "adapter")
    shutil.copy(base / "config.json", tmp_path / "adapter")
    adapted.merge_and_unload().save_pretrained(tmp_path / "merged")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(base / name, tmp_path / "merged")
    expected = [alone(tmp_path / "merged", text) for text in TEXTS]
    assert fresh(tmp_path / "adapter").perplexities(TEXTS).tolist() == pytest.approx(expected, rel=1e-4)
    assert expected[0] != pytest.approx(alone(base, TEXTS[0]), rel=1e-3)


def copied(folder, target, **changes):
    """A copy of a checkpoint with other entries in its `tokenizer_config.json`."""
    shutil.copytree(folder, target)
    path = target / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return target


def test_without_bos_the_end_of_text_starts_a_text(make_causal, tmp_path):
    folder = make_causal(5)
    other = copied(folder, tmp_path / "no-bos", bos_token=None)
    model = CausalModel.load(resolve(other), RunTime())
    assert model.tokenizer.bos_token_id is None
    assert model.perplexities(TEXTS) == pytest.approx(fresh(folder).perplexities(TEXTS), rel=1e-6)


def test_an_empty_text_ends_with_the_end_of_text_else_with_eos(make_causal, tmp_path):
    for kind, end in {"gpt2": "<|endoftext|>", "llama": "x"}.items():  # that of the vocabulary comes first
        other = copied(make_causal(5, kind), tmp_path / kind, eos_token="x")
        model = transformers.AutoModelForCausalLM.from_pretrained(other).eval()
        token = transformers.AutoTokenizer.from_pretrained(other).get_vocab()[end]
        with torch.no_grad():
            expected = torch.log_softmax(model(input_ids=torch.tensor([[0]])).logits[0, 0].double(), -1)[token].item()
        assert CausalModel.load(resolve(other), RunTime()).end_log_prob() == pytest.approx(expected, abs=1e-5)


def test_tokens_are_counted_uncut(folder):
    assert fresh(folder).token_counts(["", "a b", "x" * 200]) == [0, 3, 200]
    assert fresh(folder).token_counts([]) == []


def test_without_any_start_it_is_refused(make_causal, tmp_path):
    folder = copied(make_causal(5, "llama"), tmp_path / "no-start", bos_token=None)
    with pytest.raises(CheckpointError, match="neither a BOS token nor <|endoftext|>"):
        CausalModel.load(resolve(folder), RunTime())


def test_the_base_alone_loads_with_its_tied_output_layer(make_causal, tmp_path):
    # The form of the published GPT-2: names without "transformer.", no output layer.
    folder = make_causal(5)
    target = tmp_path / "base"
    shutil.copytree(folder, target)
    transformers.AutoModel.from_pretrained(folder).save_pretrained(target)
    found = CausalModel.load(resolve(target), RunTime()).perplexities(TEXTS)
    assert found == pytest.approx(fresh(folder).perplexities(TEXTS), rel=1e-6)


def test_other_networks_are_refused(make_checkpoint):
    with pytest.raises(CheckpointError, match="parameters are missing"):
        CausalModel.load(resolve(make_checkpoint(1)), RunTime())
    with pytest.raises(CheckpointError, match="no causal language model, its tokens see those that follow"):
        CausalModel.load(resolve(make_checkpoint(1, "BertForMaskedLM")), RunTime())


INPUTS = {
    "input_ids": torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]),
}


@pytest.fixture(params=["gpt2", "llama"])
def body(request, make_causal):
    return load_encoder(resolve(make_causal(3, request.param)))


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_they_are_the_hidden_states_of_transformers(body, layers):
    with torch.inference_mode():
        expected = body(**INPUTS, output_hidden_states=True).hidden_states
        found = states_after(body, INPUTS, layers)
        again = body(**INPUTS, output_hidden_states=True).hidden_states
    assert torch.equal(found, expected[layers])
    assert len(again) == 3 and all(torch.equal(one, other) for one, other in zip(expected, again, strict=True))


@pytest.fixture
def with_sinks(make_causal):
    """A network whose states of `#` are far longer than others, with a head."""
    model = CausalModel.load(resolve(str(make_causal(4, "llama"))))
    model.head = QualityHead(1, torch.linspace(-1, 1, 16))
    mark = model.tokenizer.convert_tokens_to_ids("#")
    with torch.no_grad():
        model.model.get_input_embeddings().weight[mark] *= 100 * SINK
    return model


def test_a_sink_adds_nothing_to_the_mean(with_sinks):
    plain, marked, alone = with_sinks.mean_states(["the cat", "the cat#", "##"], 1)
    assert marked == pytest.approx(plain, abs=1e-5) and plain.any()
    assert not alone.any()


def test_nor_to_the_head_whether_or_not_likelihoods_are_read(with_sinks):
    texts = ["the cat", "the cat#", "##", "#"]
    values = with_sinks.head_values(texts)
    assert values[1] == pytest.approx(values[0], abs=1e-5) and values[0] != 0
    assert values[2] == values[3] == 0
    rows, together = with_sinks.log_probs_and_heads(texts)
    assert together == pytest.approx(values, abs=1e-5)
    assert [len(row) for row in rows] == [7, 8, 2, 1] and all(np.isfinite(row).all() for row in rows)


def test_a_text_of_sinks_has_the_lowest_rating(with_sinks):
    regressor = StateRegressor(with_sinks, with_sinks.head, bias=3.0)
    plain, alone, empty = regressor.logits(["the cat", "##", ""])[:, 0]
    assert alone == empty == LOWEST != plain


def test_what_looks_like_a_special_token_is_text(make_causal):
    model = CausalModel.load(resolve(str(make_causal(4))))
    assert model.token_counts(["a<|endoftext|>"]) == [1 + len("<|endoftext|>")]  # a token a byte
    (row,) = model.token_log_probs(["<|endoftext|>"])
    assert row.sum() < model.end_log_prob()


def test_the_warning_of_cut_texts_says_what_becomes_of_the_rest(with_sinks, caplog):
    with_sinks.max_length = 4
    with_sinks.head_values(["the cat sat"])
    assert caplog.messages[-1].endswith("; what lies beyond does not count")
    with_sinks.token_log_probs(["the cat sat"])
    assert caplog.messages[-1].endswith("; what lies beyond is taken to be as probable as what was read")
