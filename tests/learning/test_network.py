"""How a saved checkpoint names the one it stands on."""

import json
import shutil

import pytest
from safetensors.torch import save_file

from geceval.learning.network import new_network, portable_name, save
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.encoder import Encoder


@pytest.fixture
def trained(make_checkpoint, tmp_path, monkeypatch):
    """A folder with a base, `base`, and an adapter over it, `runs/adapter`, that was made within that folder."""
    folder = tmp_path / "here"
    shutil.copytree(make_checkpoint(1), folder / "base")
    monkeypatch.chdir(folder)
    recipe = Recipe(base="base", pooling="mean", lora_rank=2, head_deviation=0.2)
    save_file(new_network(recipe, resolve(recipe.base)).state_dict(), folder / "network.safetensors")
    (folder / "runs/adapter").mkdir(parents=True)
    save(recipe, folder / "network.safetensors", folder / "runs/adapter", {"se_model": "../../base"})
    monkeypatch.chdir(tmp_path)
    return folder


def score(adapter):
    return Encoder.load(resolve(adapter), head=True).logits(["the cat sat"]).item()


def test_a_relative_base_is_found_from_anywhere_and_moves_with_its_adapter(trained, tmp_path, monkeypatch):
    expected = score(trained / "runs/adapter")
    monkeypatch.chdir(tmp_path / "here/runs")
    assert score("adapter") == expected
    assert resolve("adapter").setting("se_model") == str(trained / "base")
    assert resolve("adapter").base.folder == trained / "base"
    trained.rename(tmp_path / "there")  # both
    assert score(tmp_path / "there/runs/adapter") == expected


def test_an_adapter_moved_alone_says_what_is_missing(trained, tmp_path):
    (trained / "runs/adapter").rename(tmp_path / "alone")
    with pytest.raises(CheckpointError, match="alone: the base of this adapter cannot be found: .*no such folder"):
        resolve(tmp_path / "alone")


def test_names_that_hold_everywhere_stay_as_they_were_given(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(trained)
    for name in ("bundled", "bundled:ged_encoder", "ORG/NAME@main", str(trained / "base"), "~/base", "absent"):
        assert portable_name(name, tmp_path) == name
    assert portable_name("base", trained) == "./base"
    assert portable_name("./base/../base", trained / "base") == "./."
    assert portable_name("base", trained / "runs/adapter") == "../../base"
    config = json.loads((trained / "runs/adapter/adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "../../base"
