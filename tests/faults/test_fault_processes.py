"""Several processes at once, and processes that are stopped: nothing is lost, and nothing is left behind.

Killed trainings: tests/training/ (`..._ends_with_the_same_weights`); writers of a cache: tests/core/test_disk_cache.py;
workers: tests/workflows/test_ray.py; a publication that breaks off: tests/hub/test_publish_mistakes.py.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

from geceval import registry

PATIENCE = 600  # seconds; only a command that hangs takes so long, on however busy a machine


def start(*arguments, **environment):
    line = [sys.executable, "-m", "geceval", *map(str, arguments)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    kept |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **environment}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A job in the background would ignore the signal.
    return subprocess.Popen(line, env=kept, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **streams)


LOAD = """
import evaluate
perfect = dict(sources=["a b c d"], predictions=["a b c d"], references=["a b c d"])
print(evaluate.load("gleu").compute(**perfect)["score"])
"""


@pytest.mark.slow
def test_two_processes_register_at_once(tmp_path):
    home = str(tmp_path / "home")
    processes = [start("register", HF_HOME=home) for _ in range(2)]
    for process in processes:
        shown, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, error
        assert shown.startswith(f"registered {len(registry.list_metrics())} metrics in ")
    scripts = sorted((tmp_path / "home").rglob("*.py"))
    assert {path.stem for path in scripts} == {"__init__", *registry.list_metrics()}
    assert not [path for path in (tmp_path / "home").rglob("*") if path.name.startswith(".new-")]
    environment = {**os.environ, "HF_HOME": home, "HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    for name in ("HF_MODULES_CACHE", "HF_METRICS_CACHE"):
        environment.pop(name, None)
    line = [sys.executable, "-c", LOAD]
    done = subprocess.run(line, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "1.0\n", done.stderr


@pytest.mark.slow
def test_two_processes_open_a_cache_at_once(tmp_path):
    corpus, cache = tmp_path / "s.txt", tmp_path / "cache"
    corpus.write_text("".join(f"He go to school {n} .\n" for n in range(30)))
    corrected = tmp_path / "p.txt"
    corrected.write_text("".join(f"He goes to school {n} .\n" for n in range(30)))
    files = ["-s", corpus, "-p", corpus, corrected, "-r", corrected, "--format", "tsv"]
    processes = [start("score", "-m", "errant", *files, "-o", "nlp=bundled", "--cache", cache) for _ in range(2)]
    shown = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], shown
    assert shown[0] == shown[1] and shown[0][1] == ""
    assert [path.name for path in cache.iterdir()] == ["geceval-1.sqlite"]


@pytest.mark.parametrize("when", ["while it imports", "while it reads"])
def test_an_interrupted_command_leaves_nothing(when, tmp_path):
    (tmp_path / "p.txt").write_text("a\n")
    (tmp_path / "out.txt").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    files = ["-s", tmp_path / "pipe", "-p", tmp_path / "p.txt", "-r", tmp_path / "p.txt"]
    process = start("score", "-m", "gleu", *files, "--output", tmp_path / "out.txt", "--cache", tmp_path / "cache")
    if when == "while it imports":
        time.sleep(0.3)
        writer = None
    else:
        writer = (tmp_path / "pipe").open("wb")  # waits until somebody reads
    process.send_signal(signal.SIGINT)
    shown, error = process.communicate(timeout=PATIENCE)
    if writer is not None:
        writer.close()
    if when == "while it reads" or process.returncode != -signal.SIGINT:  # before Python could answer
        assert (process.returncode, shown, error) == (130, "", "geceval: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "p.txt", "pipe"]
    assert (tmp_path / "out.txt").read_text() == "old"


@pytest.mark.slow
def test_threads_that_load_the_first_networks_at_once():
    """Two lanes of a server that has just started; transformers replaces its own module while it is imported."""
    script = """
import concurrent.futures, threading
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder

together = threading.Barrier(2)
def load(name):
    together.wait()
    return Encoder.load(resolve(name)).name
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    print(*pool.map(load, ["bundled", "bundled:ged_encoder"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2
