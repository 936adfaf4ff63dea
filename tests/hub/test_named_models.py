"""A named model from the Hub: its local cache first, then the Hub itself, at a branch or a commit."""

import dataclasses
import json

import pytest
import torch
from safetensors.torch import save_file

from geceval.models.causal import CausalModel
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.origins import named
from geceval.models.regressors import load_regressor


@pytest.fixture
def small(monkeypatch):
    """A named model that only the Hub has."""
    names = {"variable": "GECEVAL_SMALL", "package": "small_weights", "hub_id": "ORG/small"}
    settings = {"geceval_start_token": "a"}
    monkeypatch.setitem(
        named.NAMED_MODELS, "small", dataclasses.replace(named.NAMED_MODELS["smollm2"], **names, settings=settings)
    )  # fmt: skip


@pytest.fixture
def repository(hub, hub_server, make_causal):
    """The model on the Hub in two commits, the first with the tag `v1`."""
    repo = hub.create("model", "ORG/small")
    for seed in (1, 2):
        files = {path.name: path.read_bytes() for path in make_causal(seed, "llama").iterdir()}
        files |= {"onnx/model.onnx": b"never fetched"}
        stored = {name: hub_server.File(data, len(data) > hub_server.LARGE) for name, data in files.items()}
        hub.large |= {file.sha256: file.data for file in stored.values() if file.large}
        repo.commit(stored, f"seed {seed}")
        repo.tags.setdefault("v1", repo.head)
    return repo


def test_it_is_fetched_once_and_named_by_its_commit(small, repository, hub, at_home):
    with at_home(hub):
        checkpoint = resolve("small")
        assert checkpoint.identity == f"ORG/small@{repository.head[:7]}" and checkpoint.digest == repository.head
        assert not [path for _, path in hub.requests if path.endswith(".onnx")]
        asked = len(hub.requests)
        assert resolve("small") == checkpoint
        assert len(hub.requests) == asked  # nor is the Hub asked whether there is something new
        assert CausalModel.load(checkpoint).start_token == "a"


def test_a_revision(small, repository, hub, at_home):
    first = repository.commits[1][0]
    with at_home(hub):
        assert resolve("small@v1").identity == resolve(f"small@{first}").identity == f"ORG/small@{first[:7]}"
        assert resolve("small").digest == repository.head
        with pytest.raises(CheckpointError, match="ORG/small: the Hub has no revision 'v9'"):
            resolve("small@v9")


def test_offline(small, repository, hub, at_home):
    with at_home(hub), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        with pytest.raises(CheckpointError, match=r"cannot be fetched \(HF_HUB_OFFLINE is set\)"):
            resolve("small")
        assert hub.requests == []
        patch.delenv("HF_HUB_OFFLINE")
        resolve("small")
        asked = len(hub.requests)
        patch.setenv("HF_HUB_OFFLINE", "1")
        assert resolve("small").digest == repository.head
        assert len(hub.requests) == asked


def test_a_package_comes_before_the_hub(small, repository, hub, at_home, tmp_path, monkeypatch):
    monkeypatch.setenv("GECEVAL_SMALL", str(tmp_path))
    with at_home(hub):
        with pytest.raises(CheckpointError, match="does not exist; set GECEVAL_SMALL"):
            resolve("small")  # damaged, so that nothing else is taken in its place
        assert hub.requests == []


def test_a_head_trained_over_the_weights_of_the_package(small, repository, hub, at_home, tmp_path, caplog):
    sha256 = named.NAMED_MODELS["small"].sha256
    settings = {"geceval_base": "small", "geceval_base_sha256": sha256, "geceval_head_layer": 1}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    save_file({"weight": torch.linspace(-1, 1, 16)}, tmp_path / "quality_head.safetensors")
    with at_home(hub):
        checkpoint = resolve(tmp_path)
        assert checkpoint.identity.endswith(f"+ORG/small@{repository.head[:7]}")
        assert load_regressor(checkpoint).logits(["a cat"]).shape == (1, 1)
    assert f"over weights with SHA-256 {sha256[:12]}..., but those of its base 'ORG/small'" in caplog.text
