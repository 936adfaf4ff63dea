"""Names of metrics: listing, loading, registering."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from geceval import registry
from geceval.hub.folders import module_folder
from geceval.hub.load import load
from geceval.hub.register import register

ROOT = Path(__file__).resolve().parents[2]


def test_the_folder_is_the_list():
    names = registry.list_metrics()
    assert names == sorted(path.name for path in (ROOT / "metrics").iterdir() if path.is_dir())
    assert {"impara", "errant", "m2", "gleu"} <= set(names)


@pytest.mark.parametrize("name", ["gleau", "GLEU", "frob", "", "..", "../metrics/gleu"])
def test_an_unknown_name_lists_those_that_may_be_meant(name):
    known = "did you mean 'gleu'" if name.lower().startswith("gle") else "the metrics are: .*gleu, .*impara"
    with pytest.raises(ValueError, match=rf"unknown metric .*; {known}"):
        module_folder(name)


def test_lazy_names_of_the_package():
    import geceval

    assert geceval.load is load
    assert {"load", "list_metrics", "register", "__version__"} <= set(dir(geceval))
    with pytest.raises(AttributeError, match="module 'geceval' has no attribute 'laod'"):
        _ = geceval.laod


def test_bare_names_after_register(tmp_path, monkeypatch):
    import evaluate

    scripts = register()
    assert [script.stem for script in scripts] == registry.list_metrics()
    assert register() == scripts  # again does no harm
    first = scripts[0]
    assert first.read_bytes() == (ROOT / "metrics" / first.stem / first.name).read_bytes()
    monkeypatch.chdir(tmp_path)
    module = evaluate.load("gleu")
    assert module.compute(sources=["a b c d"], predictions=["a b c d"], references=["a b c d"])["score"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("variables", [{}, {"HF_HOME": "home"}, {"HF_HOME": "home", "HF_MODULES_CACHE": "modules"}])
def test_the_folder_of_evaluate_is_known_without_it(tmp_path, variables):
    """`geceval doctor --quick` has no time to import it."""
    code = (
        "import sys; from geceval.hub.register import modules_cache, unregistered; unregistered(); "
        "ours = modules_cache(); assert 'evaluate' not in sys.modules; "
        "from evaluate import config; assert ours == config.HF_MODULES_CACHE, (ours, config.HF_MODULES_CACHE)"
    )
    ours = ("HF_HOME", "HF_MODULES_CACHE")
    rest = {name: value for name, value in os.environ.items() if name not in ours}
    given = {name: str(tmp_path / folder) for name, folder in variables.items()}
    subprocess.run([sys.executable, "-c", code], check=True, env=rest | given)


NO_NETWORK = """
import socket

tried = []

def refuse(*arguments, **options):
    tried.append(arguments[:2])
    raise OSError("no network")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
import geceval

columns = {"sources": ["a b c d"], "predictions": ["a b c d"], "references": [["a b c d"]]}
assert geceval.load("gleu").compute(**columns)["score"] == 1.0
assert not tried, tried
geceval.register()
import evaluate
assert evaluate.load("gleu").compute(**columns)["score"] == 1.0
"""


@pytest.mark.slow
def test_loading_by_name_never_asks_the_network(tmp_path):
    """A fresh cache, the Hub not declared offline, and every connection refused."""
    hub = ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_MODULES_CACHE", "HF_METRICS_CACHE")
    environment = {key: value for key, value in os.environ.items() if key not in hub}
    environment["HF_HOME"] = str(tmp_path)
    line = [sys.executable, "-c", NO_NETWORK]
    run = subprocess.run(line, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
