"""Parts of messages: numbers with their nouns, and what somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """`1 sentence`, `1,312 sentences`; the noun takes an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """`; did you mean 'gleu'?` for a name that is nearly one of those known, else `""`."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
