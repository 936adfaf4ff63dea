"""Tokenised sentences as prose, which is what language models have read."""

from __future__ import annotations

import re

RULES = (
    r"(?i) +(?=(?:n't|n’t|['’](?:s|m|re|ve|ll|d|t))(?:\s|$))",
    r" +(?=[.,!?;:%)\]}])",
    r"(?<=[(\[{]) +",
)
"""What is left out, in this order, when runs of white space have become one space: for Python and for tokenizers."""

_RULES = [re.compile(rule) for rule in RULES]


def detokenize(text: str) -> str:
    """A tokenised sentence with spaces as in prose."""
    # No space before `. , ! ? ; : % ) ] }`, none after `( [ {`, contractions (`do n't`, `it 's`) joined; runs of white
    # space become one space. Quotation marks stay as they are, since they do not tell whether they open or close.
    text = " ".join(text.split())
    for rule in _RULES:
        text = rule.sub("", text)
    return text
