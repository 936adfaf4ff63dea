"""SOME's heads over tiny causal models; classifiers over them are refused."""

import csv
import json
import random
import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

import geceval
from geceval.models.checkpoints import CheckpointError

QUICK = ["--batch-size", "8", "--lr", "1e-2", "--max-length", "150", "--quiet"]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def causal(kind, make_causal):
    return make_causal(5, kind)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """90 outputs of 45 sources; the verb at the end of an output decides all three ratings."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("ratings") / "toy.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "output", "grammer", "fluency", "meaning", "system", "ave_g", "ave_f", "ave_m"])
        for number in range(45):
            for _ in range(2):
                verb = rng.choice(["sat", "sit"])
                output = f"{rng.choice(['the', 'a'])} {rng.choice(['cat', 'dog'])} {verb}"
                table.writerow([f"a cat sit {number}", output, "", "", "", "x", *[4.0 if verb == "sat" else 2.0] * 3])
    return path


def rated(ratings, base, folder, *options):
    arguments = ["--ratings", str(ratings), "--dev", "15", "--test", "15", "--init-from", str(base), *QUICK]
    return [*arguments, "--output", str(folder), *options]


def state_by_hand(base, text, layer):
    """The mean state of a text's tokens, from plain transformers; zeros for a text without words."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    start = tokenizer.convert_tokens_to_ids(tokenizer.bos_token or "<|endoftext|>")
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    network = transformers.AutoModelForCausalLM.from_pretrained(base).eval()
    with torch.no_grad():
        states = network(torch.tensor([[start, *ids]]), output_hidden_states=True).hidden_states[layer]
    return states[0, 1:].sum(0).double().numpy() / max(1, len(ids))


def test_heads_alone_answer_as_by_hand(load_script, causal, ratings, tmp_path, monkeypatch):
    monkeypatch.setattr("recipes.some.RIDGE", (0.01, 100.0))
    folder = tmp_path / "some"
    options = [*rated(ratings, causal, folder), "--head-layer", "1"]
    assert load_script("train_some").main(options) == 0
    results = json.loads((folder / "results.json").read_text())
    assert results["parts"]["fluency"]["test"]["pearson"] > 0.9
    assert results["parts"]["fluency"]["head"]["penalty"] == 0.01
    assert {path.name for path in (folder / "meaning").iterdir()} == {"config.json", "quality_head.safetensors"}
    pairs = [("a cat sit 1", "the dog sat"), ("a cat sit 2", "the dog sit"), ("a cat", "a dog , sat"), ("a cat", "")]
    found = geceval.load("some", model=str(folder)).compute(
        sources=[source for source, _ in pairs], predictions=[output for _, output in pairs]
    )
    for part, name in [("grammer", "grammaticality"), ("fluency", "fluency"), ("meaning", "meaning")]:
        config = json.loads((folder / part / "config.json").read_text())
        weight = load_file(folder / part / "quality_head.safetensors")["weight"].double().numpy()
        expected = []
        for pair in pairs:
            source, output = (state_by_hand(causal, text.replace(" ,", ","), 1) for text in pair)
            read = np.sqrt(np.abs(source - output)) if part == "meaning" else output
            rating = read @ weight + config["geceval_head_bias"]
            expected.append((rating - 1) / 3 if pair[1] or part == "meaning" else 0)  # no words, the lowest rating
        assert found[f"{name}_scores"] == pytest.approx(expected, abs=1e-4)
    good, bad = found["fluency_scores"][:2]
    assert good > bad + 0.2


def test_heads_and_what_they_cannot_be(load_script, causal, ratings, tmp_path, capsys, make_checkpoint):
    script = load_script("train_some")
    for options, message in [
        (["--head-layer", "9"], "head_layer is 9, but the base has 2 layers"),
        (["--head-layer", "0"], "head_layer must be at least 1"),
        (["--head-layer", "1", "--lora-rank", "2"], "head_layer leaves the base as it is"),
    ]:
        assert script.main(rated(ratings, causal, tmp_path / "some", *options)) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "some").exists()
    options = rated(ratings, make_checkpoint(3), tmp_path / "some", "--head-layer", "1")
    capsys.readouterr()
    assert script.main(options) == 2
    error = capsys.readouterr().err
    assert error.startswith("train_some: ") and error.count("\n") == 1


def test_a_head_without_its_language_model(load_script, make_causal, ratings, tmp_path):
    base = shutil.copytree(make_causal(5, "llama"), tmp_path / "base")
    folder = tmp_path / "some"
    assert load_script("train_some").main([*rated(ratings, base, folder), "--head-layer", "1"]) == 0
    config = json.loads((folder / "fluency/config.json").read_text())
    assert config["geceval_base"] == str(base)

    def message() -> str:
        with pytest.raises(CheckpointError) as raised:
            geceval.load("some", model=str(folder)).compute(sources=["a"], predictions=["a"])
        return str(raised.value)

    shutil.copy(make_causal(6, "llama") / "model.safetensors", base)
    assert "this head was trained over weights with SHA-256" in message()
    shutil.rmtree(base)
    assert "the base of this head cannot be found" in message()
    config.update(geceval_base=str(make_causal(5, "llama")), geceval_head_layer=None)
    for part in ("grammer", "fluency", "meaning"):
        (folder / part / "config.json").write_text(json.dumps(config))
    assert "has geceval_base, and lacks geceval_head_layer" in message()


def test_a_classifier_over_a_causal_model_is_refused(load_script, causal, ratings, tmp_path, capsys):
    assert load_script("train_some").main(rated(ratings, causal, tmp_path / "some")) == 2
    assert "a causal language model, whose tokens do not see what follows" in capsys.readouterr().err
