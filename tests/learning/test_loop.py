"""Where a killed training goes on: from the files of its own run, which are read as data; code in them is not run."""

import shutil
import zipfile

import datasets
import pytest
import torch

from geceval.learning.loop import Objective, ObjectiveTrainer, fit, last_whole
from geceval.learning.recipe import Recipe


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
    assert last_whole(tmp_path) == whole
    assert (cut in caplog.text) == (state is not None)


def test_none_to_go_on_from(tmp_path, checkpoint):
    assert last_whole(tmp_path / "absent") is None
    checkpoint(5, None)
    assert last_whole(tmp_path) is None


class Tokens(Objective):
    """Learns what it is told, and finds every epoch as good as the others."""

    def encode(self, rows, tokenizer, max_length):
        return datasets.Dataset.from_list(rows)

    def cost(self, model, batch):
        answers = model(batch["input_ids"], batch["attention_mask"]).logits[:, 0]
        return ((answers - 0.5) ** 2).mean(), answers, torch.full_like(answers, 0.5)

    def metrics(self, answers, expected):
        return {}

    def selection(self, metrics):
        return 0.5


@pytest.fixture(scope="module")
def run(make_checkpoint):
    """From the epochs and the folder of a run to the arguments of `fit`."""
    base = str(make_checkpoint(90))
    rows = [{"input_ids": [2, 5 + n, 3], "length": 3} for n in range(4)]

    def arguments(epochs, folder):
        return Tokens(), Recipe(base=base, batch_size=2, epochs=epochs), rows, rows, folder

    return arguments


@pytest.fixture(scope="module")
def broken_off(run, tmp_path_factory):
    """The folder of a run of which one epoch is done."""
    folder = tmp_path_factory.mktemp("run") / "seed-1"
    ObjectiveTrainer(*run(1, folder)).train()
    return folder


@pytest.mark.parametrize("name", ["optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"])
def test_a_payload_in_a_run_is_not_run(name, broken_off, run, tmp_path, payload):
    folder, harm = tmp_path / "seed-1", tmp_path / "harm"
    shutil.copytree(broken_off, folder)
    (checkpoint,) = folder.glob("checkpoint-*")
    assert zipfile.is_zipfile(checkpoint / name)
    torch.save({"x": payload(harm)}, checkpoint / name)
    if name == "training_args.bin":  # which nothing reads
        assert fit(*run(2, folder))["epoch"] in (1, 2)
    else:
        with pytest.raises(ValueError, match=rf"{checkpoint}: cannot go on from there"):
            fit(*run(2, folder))
        assert checkpoint.is_dir()
    assert not harm.exists()
