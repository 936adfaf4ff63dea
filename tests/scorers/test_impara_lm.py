"""IMPARA-LM on tiny language models: the formula, its options, bad checkpoints."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from geceval.models.checkpoints import CheckpointError
from geceval.models.origins.hub import QUALITY_HEAD
from geceval.scorers.fluency import Fluency
from geceval.scorers.fluency import Settings as FluencySettings
from geceval.scorers.impara_lm import ImparaLm, Settings

SOURCES = ["He go to school .", "She like cats .", "", "a b"]
PREDICTIONS = ["He goes to school .", "She like cats .", "", "It 's a b ."]


@pytest.fixture(scope="module")
def causal(make_causal):
    return make_causal(4, "llama")


def tuned(causal, target, weight=None, **settings):
    """A copy of a language model with settings of ours and, if there is a weight, a head."""
    shutil.copytree(causal, target)
    config = json.loads((target / "config.json").read_text())
    entries = {f"geceval_{name}": value for name, value in settings.items()}
    (target / "config.json").write_text(json.dumps({**config, **entries}))
    if weight is not None:
        save_file({"weight": weight}, target / QUALITY_HEAD)
    return str(target)


def score(model, **settings):
    return ImparaLm(Settings(model=str(model), guard="off", **settings)).score(SOURCES, PREDICTIONS)


def test_without_tuning_it_is_the_likelihood(causal):
    expected = Fluency(FluencySettings(model=str(causal), guard="off")).score(SOURCES, PREDICTIONS).scores
    expected[2] = -100  # a text without words
    found = score(causal)
    assert found.scores == pytest.approx(expected, abs=1e-9)
    assert found.score == pytest.approx(np.mean(expected), abs=1e-9)


def test_the_scale_multiplies_the_likelihood(causal, tmp_path):
    folder = tuned(causal, tmp_path / "scaled", scale=0.5)
    whole = score(causal).scores
    assert score(folder).scores == pytest.approx([whole[0] / 2, whole[1] / 2, -100, whole[3] / 2], abs=1e-9)


def test_the_head_adds_the_product_with_the_mean_state(causal, tmp_path):
    import transformers

    weight = torch.linspace(-1, 1, 16)
    folder = tuned(causal, tmp_path / "head", weight, head_layer=2)
    model = transformers.AutoModelForCausalLM.from_pretrained(causal).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(causal)
    ids = torch.tensor([[0, *tokenizer("He goes to school.", add_special_tokens=False)["input_ids"]]])
    with torch.no_grad():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states[2]
    found, plain = score(folder).scores, score(causal).scores
    assert found[0] - plain[0] == pytest.approx((states[0, 1:].mean(dim=0) @ weight).item(), abs=1e-5)


def test_without_likelihood_the_head_is_all_and_the_output_layer_is_not_read(causal, tmp_path):
    weight = torch.linspace(-1, 1, 16)
    small = score(tuned(causal, tmp_path / "small", weight, head_layer=2, scale=1e-9)).scores
    folder, calls = tuned(causal, tmp_path / "none", weight, head_layer=2, scale=0), []
    scorer = ImparaLm(Settings(model=folder, guard="off"))
    scorer.load()
    scorer._model.model.lm_head.register_forward_hook(lambda *_: calls.append(1))
    found = scorer.score(SOURCES, PREDICTIONS).scores
    assert [found[index] for index in (0, 1, 3)] == pytest.approx([small[index] for index in (0, 1, 3)], abs=1e-5)
    assert calls == []
    assert found[2] == -100


def test_deleting_everything_does_not_pay(causal):
    deleted = ImparaLm(Settings(model=str(causal))).score(["He go ."], ["\t"])
    assert deleted.scores == [-100] and min(score(causal).scores[:2]) > -60


def test_without_likelihood_and_head_there_is_nothing(causal, tmp_path):
    with pytest.raises(CheckpointError, match="impara_lm: none@.* has no head, and its likelihood does not count"):
        score(tuned(causal, tmp_path / "none", scale=0))
    with pytest.raises(CheckpointError, match="geceval_scale in config.json cannot be -3"):
        score(tuned(causal, tmp_path / "negative", scale=-3))


@pytest.mark.parametrize(
    ("weight", "layer", "message"),
    [
        (None, 1, "quality_head.safetensors cannot be read"),
        (torch.ones(5), 1, r"must hold 16 finite numbers, got \(5,\)"),
        (torch.full((16,), float("nan")), 1, "must hold 16 finite numbers"),
        (torch.ones(16), 3, "geceval_head_layer is 3, but there are 2 layers"),
        (torch.ones(16), "one", "geceval_head_layer in config.json cannot be 'one'"),
    ],
)
def test_damaged_heads(causal, tmp_path, weight, layer, message):
    folder = tuned(causal, tmp_path / "bad", weight, head_layer=layer)
    with pytest.raises(CheckpointError, match=message):
        score(folder)
