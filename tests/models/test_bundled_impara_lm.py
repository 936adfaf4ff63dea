"""The two IMPARA-LM checkpoints that ship with geceval: what their files say, and how they judge."""

import json

import numpy as np
import pytest

from geceval.core.options import RunTime
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.origins.named import NAMED_MODELS
from geceval.scorers.impara_lm import ImparaLm, Settings

LARGE, SMALL = ASSETS / "smollm2_impara", ASSETS / "impara_lm"
SOURCE = "There is many reason why the childs do not reads ."
PARTIAL = "There are many reasons why the childs do not read ."
FULL = "There are many reasons why the children do not read ."


@pytest.fixture(params=["bundled", "smollm2-impara"])
def model(request):
    """The name of either; the large one where its language model is installed."""
    if request.param != "bundled":
        request.getfixturevalue("smollm2")
    return request.param


def config(folder):
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def test_the_large_one_is_an_adapter_over_the_weights_of_the_package():
    assert sum(path.stat().st_size for path in LARGE.iterdir()) < 10_000_000
    adapter = json.loads((LARGE / "adapter_config.json").read_text(encoding="utf-8"))
    assert adapter["base_model_name_or_path"] == "smollm2"
    assert config(LARGE)["geceval_base_sha256"] == NAMED_MODELS["smollm2"].sha256


def test_the_small_one_is_a_whole_network_of_a_third_of_the_cost():
    assert not (SMALL / "adapter_config.json").exists()
    assert sum(path.stat().st_size for path in SMALL.iterdir()) < 40_000_000
    large, small = config(LARGE), config(SMALL)
    # Multiplications of a token: those of the layers, and in the large one of the output layer.
    layer = 2 * large["hidden_size"] * (large["hidden_size"] + 64 * large["num_key_value_heads"])
    layer += 3 * large["hidden_size"] * large["intermediate_size"]
    whole = large["num_hidden_layers"] * layer + large["hidden_size"] * large["vocab_size"]
    assert (small["geceval_scale"], small["hidden_size"]) == (0, large["hidden_size"])
    assert small["num_hidden_layers"] * layer < 0.32 * whole


def test_the_more_is_corrected_the_better(model):
    scores = ImparaLm(Settings(model=model)).score([SOURCE] * 3, [FULL, PARTIAL, SOURCE]).scores
    assert scores[0] > scores[1] > scores[2]


def test_an_empty_correction_is_the_worst():
    assert np.argmin(ImparaLm().score([SOURCE] * 3, [SOURCE, "", "the the the"]).scores) == 1


def test_scores_are_those_of_any_batch(model):
    pairs = [(SOURCE, FULL), (SOURCE, PARTIAL), (SOURCE, SOURCE), ("a b", "")]
    columns = [list(column) for column in zip(*pairs, strict=True)]
    settings = Settings(model=model)
    together = ImparaLm(settings).score(*columns)
    alone = [ImparaLm(settings, RunTime(batch_size=1)).score([s], [p]).score for s, p in pairs]
    assert together.scores == pytest.approx(alone, abs=1e-4)
    assert np.isfinite(together.scores).all()
    assert f"model:{model}@" in together.signature


def test_without_the_language_model_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GECEVAL_SMOLLM2", str(tmp_path))
    with pytest.raises(CheckpointError, match="impara_lm: .*the base of this adapter cannot be found: smollm2: "):
        ImparaLm(Settings(model="smollm2-impara")).load()
    ImparaLm().load()  # the student needs nothing
    assert resolve("bundled").folder == ASSETS / "encoder"


@pytest.mark.parametrize("model", ["smollm2-impara", "bundled"])
def test_a_control_token_left_in_the_output_does_not_pay(model, request):
    if model != "bundled":
        request.getfixturevalue("smollm2")
    predictions = ["He goes to school .", "He goes to school . <|endoftext|>", "<|endoftext|>", ""]
    good, *others = ImparaLm(Settings(model=model)).score(["He go to school ."] * 4, predictions).scores
    assert max(others) < good - 1


def test_heads_of_another_metric_are_one_line():
    with pytest.raises(CheckpointError, match="config.json is missing.* holds several networks, fluency, gr"):
        ImparaLm(Settings(model="smollm2-some")).load()
