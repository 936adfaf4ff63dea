"""SOME's heads over causal models that stay as they are."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import geceval
import train_some
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.models.regressors import pooled
from recipes import some
from recipes.some import learn_head, ridge


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(200, 4)) * [1, 5, 0.1, 2] + 3
    return states, states @ [1.0, 0.2, -3.0, 0.0] + 7 + rng.normal(size=200) * 0.01


def test_without_a_penalty_it_is_least_squares(data):
    states, ratings = data
    expected = np.linalg.lstsq(np.column_stack([states, np.ones(200)]), ratings, rcond=None)[0]
    weight, bias = ridge(states, ratings, 1e-9)
    assert weight.dtype == np.float32
    assert [*weight, bias] == pytest.approx(expected.tolist(), abs=1e-5)


def test_the_penalty_is_chosen_on_the_dev_fold(make_causal, monkeypatch):
    # Ratings are a direction of the states and noise: a small penalty learns the noise by heart, a huge one flattens
    # nothing but the scale, so the one between has the highest correlation.
    base, rng = str(make_causal(5, "llama")), np.random.default_rng(2)
    words = ["the", "a", "cat", "dog", "sat", "sit", "on", "mat"]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    states = pooled(CausalModel.load(resolve(base)), texts, 1)
    ratings = (states @ rng.normal(size=states.shape[1])) / states.std() + rng.normal(size=60) * 3
    rows = list(zip(texts, ratings.tolist(), strict=True))
    penalties = (1e-6, 3.0, 1e6)
    monkeypatch.setattr(some, "RIDGE", penalties)
    head, found = learn_head(base, 1, rows[:40], rows[40:], RunTime())
    dev = {}
    for penalty in penalties:
        weight, bias = ridge(states[:40], ratings[:40], penalty)
        dev[penalty] = np.corrcoef(states[40:] @ weight + bias, ratings[40:])[0, 1]
    assert {entry["penalty"]: entry["pearson"] for entry in found["tried"]} == pytest.approx(dev, abs=1e-4)
    assert found["penalty"] == max(dev, key=dev.get)
    assert found["dev"]["pearson"] == pytest.approx(max(dev.values()), abs=1e-4)
    assert torch.equal(head.head.weight, torch.from_numpy(ridge(states[:40], ratings[:40], found["penalty"])[0]))


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_heads_alone_answer_as_by_hand(kind, make_causal, some_ratings, tmp_path, monkeypatch):
    monkeypatch.setattr("recipes.some.RIDGE", (0.01, 100.0))
    folder, causal = tmp_path / "some", make_causal(5, kind)
    options = ["--ratings", str(some_ratings), "--dev", "20", "--test", "20", "--init-from", str(causal), "--quiet"]
    assert train_some.main([*options, "--output", str(folder), "--head-layer", "1"]) == 0
    results = json.loads((folder / "results.json").read_text())
    assert results["parts"]["fluency"]["test"]["pearson"] > 0.9
    assert results["parts"]["fluency"]["head"]["penalty"] == 0.01
    assert {path.name for path in (folder / "meaning").iterdir()} == {"config.json", "quality_head.safetensors"}
    pairs = [("a cat sit 1", "the dog sat"), ("a cat sit 2", "the dog sit"), ("a cat", "a dog , sat"), ("a cat", "")]
    sources, predictions = (list(column) for column in zip(*pairs, strict=True))
    found = geceval.load("some", model=str(folder)).compute(sources=sources, predictions=predictions)
    language_model = CausalModel.load(resolve(str(causal)))
    for part, name in [("grammer", "grammaticality"), ("fluency", "fluency"), ("meaning", "meaning")]:
        config = json.loads((folder / part / "config.json").read_text())
        weight = load_file(folder / part / "quality_head.safetensors")["weight"].double().numpy()
        expected = []
        for pair in pairs:
            source, output = language_model.mean_states([text.replace(" ,", ",") for text in pair], 1).astype(float)
            read = np.sqrt(np.abs(source - output)) if part == "meaning" else output
            rating = read @ weight + config["geceval_head_bias"]
            expected.append((rating - 1) / 3 if pair[1] or part == "meaning" else 0)  # no words, the lowest rating
        assert found[f"{name}_scores"] == pytest.approx(expected, abs=1e-4)
