"""A training that is killed and started again, and one that two processes share."""

import importlib
import json
import os
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
from geceval.scorers.some import PARTS

TRAINING = Path(__file__).resolve().parents[2] / "training"


@pytest.fixture(scope="module")
def arguments(corpus, base, some_ratings, make_causal):
    """Script to the arguments of a short training."""
    pairs = f"--m2 {corpus} --pairs 120 --batch-size 16"
    teacher = make_causal(3, "llama", num_hidden_layers=3)
    student = "--texts 200 --held 8 --errors 2 --layers 2 --vocabulary 257 --dtype float32 --max-length 120"
    texts = {
        "train_impara": f"{pairs} --init-from {base} --lr 3e-3 --max-length 32 --epochs 4",
        "train_impara_lm": f"{pairs} --init-from {make_causal(3, 'llama')} --lr 1e-2 --lora-rank 8 --evaluations 3",
        "train_ged": f"--m2 {corpus} --init-from {base} --batch-size 8 --lr 1e-2 --max-length 32 --epochs 4"
        " --partial 0.5 --error-weight 2",
        "train_some": f"--ratings {some_ratings} --init-from {base} --dev 20 --test 20 --batch-size 16 --lr 3e-3"
        " --max-length 32 --epochs 2",
        "distill": f"--m2 {corpus} --init-from {teacher} {student} --batch-size 4 --lr 1e-2 --epochs 2 --evaluations 3",
    }
    return {name: [*text.split(), "--quiet"] for name, text in texts.items()}


@pytest.fixture
def one_thread():
    """Sums of this process are those of the processes that `start` starts."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def start(name, arguments, folder, launcher=()):
    """Start a script in a process group of its own, with `launcher` in place of Python."""
    line = [*(launcher or [sys.executable]), str(TRAINING / f"{name}.py"), *arguments, "--output", str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(line, env=environment, start_new_session=True, **streams)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("train_impara", "seed-1"),
        ("train_impara_lm", "seed-1"),
        pytest.param("train_ged", "seed-1", marks=pytest.mark.slow),
        pytest.param("train_some", "fluency/seed-1", marks=pytest.mark.slow),  # the second of three
        pytest.param("distill", "seed-1", marks=pytest.mark.slow),
    ],
)
def test_killed_and_started_again_it_ends_with_the_same_weights(arguments, one_thread, tmp_path, caplog, name, run):
    """Killed after its first evaluation; only what is killed is a process of its own."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    process = start(name, arguments[name], broken)
    while not last_whole(broken / "run" / run):
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (broken / "results.json").exists()
    weights = []
    caplog.set_level("INFO", "geceval")
    for folder in (whole, broken):
        caplog.clear()
        assert importlib.import_module(name).main([*arguments[name], "--output", str(folder)]) == 0
        assert ("continues from" in caplog.text) == (folder == broken)
        files = {str(path.relative_to(folder)): path for path in folder.rglob("*model.safetensors")}
        saved = {file: load_file(path) for file, path in files.items() if not file.startswith("run/")}
        weights.append({(file, key): tensor for file, some in saved.items() for key, tensor in some.items()})
    assert weights[0] and weights[0].keys() == weights[1].keys()
    assert name != "train_some" or {Path(file).parent.name for file, _ in weights[0]} == set(PARTS.values())
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), [("train_impara", 12), ("train_impara_lm", 3)])
def test_two_processes_share_the_work(arguments, tmp_path, name, steps):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", port]
    process = start(name, arguments[name], tmp_path / "two", launcher)
    try:
        output = process.communicate(timeout=200)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, output
    results = json.loads((tmp_path / "two/results.json").read_text())
    assert results["runs"][0]["steps"] == steps  # 96 pairs, 16 a step and process: 3 an epoch in place of 6
    assert results["test"]["accuracy"] > 0.6
    assert output.count('"test"') == 2  # both processes end with the results of one
    assert "head" not in results
