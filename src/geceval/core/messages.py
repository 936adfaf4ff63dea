"""Parts of messages: numbers with their nouns, and what somebody may have meant."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 sentence`, `1,312 sentences`; the noun takes an s where no plural is given."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """`; did you mean 'gleu'?` for a name that is nearly, or in other case, or begins one of those known, else `""`."""
    names = {each.lower(): each for each in known}
    wanted = str(name).lower()
    begun = [each for each in names if len(wanted) > 1 and each.startswith(wanted)]
    near = difflib.get_close_matches(wanted, names, n=1) or (begun if len(begun) == 1 else [])
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def p_bound(value: float, resamples: int) -> str:
    """A p-value that is the least which so many resamples can show, as a bound: `< .001`; `""` for others."""
    if value * (resamples + 1) > 1.5:
        return ""
    digits = -math.floor(math.log10(value))
    bound = (math.floor(value * 10**digits) + 1) / 10**digits
    return f"< {bound:.{digits}f}".rstrip("0").replace("0.", ".", 1)
