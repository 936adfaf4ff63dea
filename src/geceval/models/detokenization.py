"""Tokenised sentences as prose, which is what language models have read."""

from __future__ import annotations

import re

_CONTRACTIONS = r"(?:n't|n’t|['’](?:s|S|m|re|ve|ll|d|t))"
_RULES = [
    (re.compile(rf" +({_CONTRACTIONS})(?=\s|$)", re.IGNORECASE), r"\1"),
    (re.compile(r" +([.,!?;:%)\]}])"), r"\1"),
    (re.compile(r"([(\[{]) +"), r"\1"),
]


def detokenize(text: str) -> str:
    """A tokenised sentence with spaces as in prose.

    No space before `. , ! ? ; : % ) ] }`, none after `( [ {`, contractions (`do n't`, `it 's`) joined; runs of white
    space become one space. Quotation marks stay as they are, since they do not tell whether they open or close.
    """
    text = " ".join(text.split())
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
