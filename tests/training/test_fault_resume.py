"""A training goes on from the files of its own run, which are read as data: pickled code in them is not run."""

from __future__ import annotations

import shutil
import zipfile

import pytest
import torch
import transformers

from geceval.learning.loop import arguments, fit
from geceval.learning.recipe import Recipe

FILES = ["optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"]


class Payload:
    """Unpickling this creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


class Trainer(transformers.Trainer):
    """Learns what it is told, and finds every epoch as good as the others."""

    def evaluate(self, *_, **__):
        metrics = {"eval_x_loss": 0.5, "eval_selection": 0.5}
        self.log(metrics)
        return metrics


@pytest.fixture(scope="module")
def make_trainer(make_checkpoint):
    """A function from the epochs and the folder of a run to its trainer."""
    import datasets

    base = make_checkpoint(90)

    def make(epochs, folder):
        network = transformers.AutoModelForSequenceClassification.from_pretrained(base)
        rows = [{"input_ids": [2, 5 + n, 3], "attention_mask": [1, 1, 1], "labels": 0.5, "length": 3} for n in range(4)]
        recipe = Recipe(batch_size=2, epochs=epochs, warmup=0.0)
        data = datasets.Dataset.from_list(rows)
        return Trainer(network, arguments(recipe, folder, False, True), train_dataset=data, eval_dataset=data)

    return make


@pytest.fixture(scope="module")
def broken_off(make_trainer, tmp_path_factory):
    """The folder of a run of which one epoch is done."""
    folder = tmp_path_factory.mktemp("run") / "seed-1"
    make_trainer(1, folder).train()
    return folder


@pytest.mark.parametrize("name", FILES)
def test_a_payload_in_a_run_is_not_run(name, broken_off, make_trainer, tmp_path):
    folder, harm = tmp_path / "seed-1", tmp_path / "harm"
    shutil.copytree(broken_off, folder)
    (checkpoint,) = folder.glob("checkpoint-*")
    assert zipfile.is_zipfile(checkpoint / name)
    torch.save({"x": Payload(harm)}, checkpoint / name)
    trainer = make_trainer(2, folder)
    if name == "training_args.bin":  # which nothing reads
        assert fit(trainer, trainer.model, 1, lambda metrics: metrics["x_loss"])["epoch"] in (1, 2)
    else:
        with pytest.raises(ValueError, match=rf"{checkpoint}: cannot go on from there"):
            fit(trainer, trainer.model, 1, lambda metrics: metrics["x_loss"])
        assert checkpoint.is_dir()
    assert not harm.exists()
