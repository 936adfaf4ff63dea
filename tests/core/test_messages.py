"""Numbers with their nouns, and names that are nearly right."""

import pytest

from geceval.core.messages import counted, did_you_mean


@pytest.mark.parametrize(("number", "text"), [(0, "0 edits"), (1, "1 edit"), (2, "2 edits"), (1312, "1,312 edits")])
def test_counted(number, text):
    assert counted(number, "edit") == text


@pytest.mark.parametrize(
    ("name", "text"),
    [("glue", "; did you mean 'gleu'?"), ("xyzzy", ""), (3, ""), ("", ""), ("gren", "; did you mean 'green'?")],
)
def test_did_you_mean(name, text):
    assert did_you_mean(name, ["gleu", "green", "m2"]) == text
