"""What the tests of the training scripts share."""

import csv
import importlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from geceval.learning.loop import last_whole

TRAINING = Path(__file__).resolve().parents[2] / "training"


@pytest.fixture(scope="session")
def load_script():
    """A function from the name of a script to its module."""
    return importlib.import_module


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
def one_thread():
    """Sums of this process are those of the processes that `start_script` starts."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def whole_and_broken(load_script, start_script, one_thread, tmp_path, caplog):
    """A function that trains twice, the second time killed after its first evaluation and started again.

    It takes the name of a script, its arguments, and the patterns of the run that is killed and of the files of
    weights, and gives all weights that each of the two has written. Only what is killed is a process of its own.
    """

    def train(name, arguments, run="**/seed-1", weights_file="*model.safetensors"):
        whole, broken = tmp_path / "whole", tmp_path / "broken"
        process = start_script(name, [*arguments, "--output", str(broken)])
        while not any(map(last_whole, broken.glob(run))):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not (broken / "results.json").exists()
        weights = []
        caplog.set_level("INFO", "geceval")
        for folder in (whole, broken):
            caplog.clear()
            assert load_script(name).main([*arguments, "--output", str(folder)]) == 0
            assert ("continues from" in caplog.text) == (folder == broken)
            files = [path for path in folder.rglob(weights_file) if path.parts[len(folder.parts)] != "run"]
            found = {str(path.relative_to(folder)): load_file(path) for path in files}
            weights.append({(file, key): tensor for file, some in found.items() for key, tensor in some.items()})
        assert weights[0] and weights[0].keys() == weights[1].keys()
        return weights

    return train


@pytest.fixture
def two_processes(start_script):
    """A function from the name of a script and its arguments to what two processes print that share the work."""

    def train(name, arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", port]
        process = start_script(name, arguments, launcher)
        try:
            output = process.communicate(timeout=200)[0]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 0, output
        return output

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


@pytest.fixture(scope="session")
def some_ratings(tmp_path_factory):
    """160 outputs of 80 sources: 'sat' is grammatical, 'the' is fluent, and 'dog' keeps the meaning."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("ratings") / "toy.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "output", "grammer", "fluency", "meaning", "system", "ave_g", "ave_f", "ave_m"])
        for number in range(80):
            source = f"a dog {rng.choice(['sit', 'run'])} on mat {' '.join(rng.choices(['a', 'school'], k=number % 7))}"
            for _ in range(2):
                article, noun, verb = (rng.choice(pair) for pair in (("the", "a"), ("dog", "cat"), ("sat", "sit")))
                output = f"{article} {noun} {verb} on mat {' '.join(rng.choices(['a', 'school'], k=rng.randint(0, 5)))}"
                means = [4.0 if word in output.split() else 2.0 for word in ("sat", "the", "dog")]
                table.writerow([source, output, "", "", "", "x", *means])
    return path
