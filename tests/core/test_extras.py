"""A missing optional dependency is named with the extra that brings it."""

import re
from pathlib import Path

import pytest

from geceval.core import extras as module
from geceval.core.extras import EXTRAS, install_command, naming_the_extra


def test_the_extra_is_named():
    wanted = pytest.raises(ImportError, match=f"^errant needs spacy: {re.escape(install_command('edits'))}$")
    with wanted, naming_the_extra("errant"):
        raise ModuleNotFoundError("No module named 'spacy.tokens'", name="spacy.tokens")


def test_a_clone_is_installed_from_itself(tmp_path, monkeypatch):
    """No package index need know it; without `setup.py` above the package it came from one."""
    root = Path(module.__file__).parents[3]
    assert install_command("edits") == f"pip install -e '{root}[edits]'"
    monkeypatch.setattr(module, "__file__", str(tmp_path / "lib" / "site-packages" / "geceval" / "core" / "extras.py"))
    assert install_command("edits") == "pip install 'geceval[edits]'"


def test_other_errors_pass():
    with pytest.raises(ModuleNotFoundError, match="frob"), naming_the_extra("errant"):
        import frob  # noqa: F401
    with pytest.raises(ImportError, match="other"), naming_the_extra("errant"):
        raise ImportError("other", name="torch")


def test_each_package_is_in_its_extra(extras):
    for package, extra in EXTRAS.items():
        assert any(re.split(r"[\[>]", need)[0] == package for need in extras[extra])
