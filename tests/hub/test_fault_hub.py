"""Repositories of the Hub made to do harm: what they name outside of their folder is neither written nor read."""

import pytest

from geceval.models.checkpoints import CheckpointError, resolve


@pytest.mark.parametrize(
    "name", ["../../evil.json", "/evil.json", "sub/../../../../evil.json", "..\\..\\evil.json", "a/./../../evil.txt"]
)
def test_file_names_that_lead_elsewhere(name, hub, hub_server, at_home, tmp_path):
    from huggingface_hub import constants

    def evil():
        inside = f"{constants.HF_HUB_CACHE}/models--ORG--tiny/"
        return {path for path in tmp_path.parent.rglob("*evil*") if path.is_file() and not str(path).startswith(inside)}

    before = evil()  # what other tests have written
    repo = hub.create("model", "ORG/tiny")
    names = ["config.json", "model.safetensors", name]
    repo.commit({path: hub_server.File(b"{}", False) for path in names}, "weights")
    with at_home(hub):
        try:
            found = resolve("ORG/tiny")
        except CheckpointError as error:
            assert str(error).startswith("ORG/tiny: ")
        else:
            assert found.folder.is_relative_to(constants.HF_HUB_CACHE)
        assert evil() == before


@pytest.mark.parametrize("revision", ["../../x", "..", "/etc", "main/../../x"])
def test_revisions_that_lead_elsewhere(revision, hub, at_home):
    hub.create("model", "ORG/tiny")
    with at_home(hub), pytest.raises(CheckpointError, match="is no revision; pass a branch, a tag or a commit"):
        resolve(f"ORG/tiny@{revision}")
    assert hub.requests == []
