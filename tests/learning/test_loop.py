"""Where a killed training goes on."""

import logging

import pytest

from geceval.learning.loop import last_whole


@pytest.fixture
def checkpoint(tmp_path):
    """A function that writes a checkpoint folder with this text in its last file; with `None`, without that file."""

    def write(step, state):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"")
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
        return str(folder)

    return write


def test_the_newest_by_number_not_by_name(tmp_path, checkpoint):
    checkpoint(90, '{"global_step": 90}')
    newest = checkpoint(100, '{"global_step": 100}')
    assert last_whole(tmp_path) == newest


@pytest.mark.parametrize("state", [None, "", '{"global_step": 2', "{}"])
def test_one_that_was_cut_off_is_passed_over(tmp_path, checkpoint, state, caplog):
    whole = checkpoint(10, '{"global_step": 10}')
    cut = checkpoint(20, state)
    with caplog.at_level(logging.WARNING, "geceval"):
        assert last_whole(tmp_path) == whole
    assert (cut in caplog.text) == (state is not None)


def test_none_to_go_on_from(tmp_path, checkpoint):
    assert last_whole(tmp_path / "absent") is None
    checkpoint(5, None)
    assert last_whole(tmp_path) is None
