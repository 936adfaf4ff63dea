"""A named model whose weights are small, and the command that uses them in a process of its own."""

import dataclasses
import hashlib
import os
import subprocess
import sys

import pytest

from geceval.models.origins import named


@pytest.fixture(scope="session")
def gguf_files():
    import gguf_files

    return gguf_files


@pytest.fixture(scope="session")
def weights(gguf_files, tmp_path_factory):
    """The GGUF of the small model `"small"`."""
    return gguf_files.write_gguf(tmp_path_factory.mktemp("weights") / "small.gguf")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of de-quantised weights, empty."""
    monkeypatch.setenv("GECEVAL_MODEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small(weights, cache, monkeypatch):
    """`"small"` as a named model that is nowhere yet."""
    names = {"variable": "GECEVAL_SMALL", "package": "small_weights", "file": "small.gguf", "hub_id": "ORG/small"}
    content = {"sha256": hashlib.sha256(weights.read_bytes()).hexdigest(), "size": weights.stat().st_size}
    settings = {"requirement": "small-weights==1.0", **names, **content}
    model = dataclasses.replace(named.NAMED_MODELS["smollm2"], **settings)
    monkeypatch.setitem(named.NAMED_MODELS, "small", model)
    return model


@pytest.fixture
def in_environment(small, weights, monkeypatch):
    """The same, found in the folder that the environment names."""
    monkeypatch.setenv("GECEVAL_SMALL", str(weights.parent))
    return small


@pytest.fixture
def as_package(small, weights, tmp_path, monkeypatch):
    """The same, found in an installed package; importing it fails."""
    package = tmp_path / "site" / "small_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('its own dependencies are not installed')")
    (package / "small.gguf").write_bytes(weights.read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return package


@pytest.fixture(scope="session")
def python():
    """A function that starts Python with this package on a piece of code; what still runs at the end is killed."""
    started = []

    def start(code: str) -> subprocess.Popen:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
