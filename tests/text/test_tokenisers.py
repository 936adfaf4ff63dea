"""Tokenisers by name, and the way back to prose."""

import pytest

from geceval.text.tokenisers import detokenise


@pytest.mark.parametrize(
    ("tokens", "prose"),
    [
        ("I do n't know , he said ( twice ) ; it 's DO N'T !", "I don't know, he said (twice); it's DON'T!"),
        (" a \t b\n  c ", "a b c"),
        ("We ’re n't 's , . ) ( [ x ] { y } 50 % : no ?", "We’ren't's,.) ([x] {y} 50%: no?"),
        ("'sad n'those 'S ,", "'sad n'those'S,"),
        ("non-breaking\u00a0 space ,", "non-breaking space,"),
        ("", ""),
    ],
)
def test_tokens_become_prose(tokens, prose):
    assert detokenise(tokens) == prose
