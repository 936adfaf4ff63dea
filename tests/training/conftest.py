"""What the tests of the training scripts share."""

import csv
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from geceval.learning.loop import last_whole

TRAINING = Path(__file__).resolve().parents[2] / "training"


@pytest.fixture(scope="session")
def load_script():
    """A function from the name of a script to its module."""

    def load(name):
        spec = importlib.util.spec_from_file_location(f"{name}_script", TRAINING / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def start_script():
    """A function that starts a script in a process group of its own, with `launcher` in place of Python."""

    def start(name, arguments, launcher=()):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        return subprocess.Popen(
            [*(launcher or [sys.executable]), str(TRAINING / f"{name}.py"), *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    return start


@pytest.fixture
def whole_and_broken(tmp_path):
    """A function that trains twice, the second time killed after the first epoch and started again.

    It takes a function from a folder to the started process and gives the weights of both.
    """

    def train(start):
        weights = []
        for name in ("whole", "broken"):
            process = start(tmp_path / name)
            if name == "broken":
                while not any(map(last_whole, (tmp_path / name).glob("**/seed-1"))):
                    assert process.poll() is None, process.stdout.read()
                    time.sleep(0.05)
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                assert not (tmp_path / name / "results.json").exists()
                process = start(tmp_path / name)
            printed = process.communicate()[0]
            assert process.returncode == 0, printed
            assert ("continues from" in printed) == (name == "broken")
            (found,) = (tmp_path / name).glob("*model.safetensors")
            weights.append(load_file(found))
        return weights

    return train


@pytest.fixture(scope="session")
def corpus(toy_corpus):
    """An M2 file of 60 sentences with two edits each."""
    return toy_corpus


@pytest.fixture(scope="session")
def base(make_checkpoint):
    """A tiny encoder with random weights."""
    return make_checkpoint(7, hidden_dropout_prob=0.1)


@pytest.fixture(scope="session")
def make_ratings(tmp_path_factory):
    """A function from a number of sources to their outputs in the form of TMU-GFM: people want the cat to sit."""

    def make(sources):
        path = tmp_path_factory.mktemp("ratings") / "toy.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["source", "output", "ave_g", "ave_f", "ave_m"])
            for row in range(sources):
                for verb, mean in (("sits", 3.5), ("sitting", 2.0)):
                    table.writerow([f"the cat sit {row}", f"the cat {verb} {row} times", mean, mean, 4])
        return path

    return make
