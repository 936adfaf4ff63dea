"""A missing optional dependency is named with the extra that brings it."""

import re

import pytest

from geceval.core.extras import EXTRAS, naming_the_extra


def test_the_extra_is_named():
    wanted = pytest.raises(ImportError, match=r"^errant needs spacy: pip install 'geceval\[edits\]'$")
    with wanted, naming_the_extra("errant"):
        raise ModuleNotFoundError("No module named 'spacy.tokens'", name="spacy.tokens")


def test_other_errors_pass():
    with pytest.raises(ModuleNotFoundError, match="frob"), naming_the_extra("errant"):
        import frob  # noqa: F401
    with pytest.raises(ImportError, match="other"), naming_the_extra("errant"):
        raise ImportError("other", name="torch")


def test_each_package_is_in_its_extra(extras):
    for package, extra in EXTRAS.items():
        assert any(re.split(r"[\[>]", need)[0] == package for need in extras[extra])
