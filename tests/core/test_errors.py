"""A missing optional dependency is named with its extra; numbers with their nouns, and names that are nearly right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from geceval.core import errors as module
from geceval.core.errors import EXTRAS, counted, did_you_mean, install_command, naming_the_extra


def test_the_extra_is_named():
    command = re.escape(install_command("edits"))
    wanted = pytest.raises(ImportError, match=f"^errant needs the package spacy: {command}$")
    with wanted, naming_the_extra("errant"):
        raise ModuleNotFoundError("No module named 'spacy.tokens'", name="spacy.tokens")


CALLS = """
import sys, geceval
from geceval.core.errors import MissingExtraError
sys.modules["torch"] = sys.modules["errant"] = None
for call in (
    lambda: geceval.detect(["a b"]),
    lambda: geceval.edit_impacts(["a b"], ["a c"]),
    lambda: geceval.filter_edits(["a b"], ["a c"]),
    lambda: geceval.BatchScorer("errant")({"sources": ["a"], "predictions": ["b"], "references": [["c"]]}),
    lambda: geceval.compare("errant", ["a"], {"a": ["b"], "b": ["c"]}, ["d"]),
    lambda: geceval.rerank("impara", ["a"], [["b"]]),
):
    try:
        call()
    except MissingExtraError as error:
        print(str(error).partition(":")[0])
"""


def test_all_that_users_call_names_the_extra():
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "detect needs the package torch",
        "edit_impacts needs the package errant",
        "filter_edits needs the package errant",
        "errant needs the package errant",
        "errant needs the package errant",
        "impara needs the package torch",
    ]


def test_a_clone_is_installed_from_itself(tmp_path, monkeypatch):
    """No package index need know it; without `setup.py` above the package it came from one."""
    root = Path(module.__file__).parents[3]
    assert install_command("edits") == f"pip install -e '{root}[edits]'"
    monkeypatch.setattr(module, "__file__", str(tmp_path / "lib" / "site-packages" / "geceval" / "core" / "errors.py"))
    assert install_command("edits") == "pip install 'geceval[edits]'"


def test_other_errors_pass():
    with pytest.raises(ModuleNotFoundError, match="frob"), naming_the_extra("errant"):
        import frob  # noqa: F401
    with pytest.raises(ImportError, match="other"), naming_the_extra("errant"):
        raise ImportError("other", name="torch")


def test_each_package_is_in_its_extra(extras):
    for package, extra in EXTRAS.items():
        name = {"ot": "pot"}.get(package, package)  # what is imported, and what is installed
        assert any(re.split(r"[\[>]", need)[0].replace("-", "_") == name for need in extras[extra])


@pytest.mark.parametrize(("number", "text"), [(0, "0 edits"), (1, "1 edit"), (2, "2 edits"), (1312, "1,312 edits")])
def test_counted(number, text):
    assert counted(number, "edit") == text


@pytest.mark.parametrize(
    ("name", "text"),
    [("glue", "; did you mean 'gleu'?"), ("xyzzy", ""), (3, ""), ("", ""), ("gren", "; did you mean 'green'?")],
)
def test_did_you_mean(name, text):
    assert did_you_mean(name, ["gleu", "green", "m2"]) == text
