"""The answer of a judge: its JSON schema, and strict reading of the grades in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from geceval.core.errors import InputError

MAX_GRADE = 5
LONGEST_ANSWER = 20_000  # characters; what is longer is no list of five grades, and is not searched for one


def answer_schema(ids: Sequence[str]) -> dict[str, Any]:
    """JSON schema of an answer that grades these outputs."""

    def exactly(properties: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    grade = {"type": "integer", "enum": list(range(1, MAX_GRADE + 1))}
    return exactly({"scores": exactly(dict.fromkeys(ids, grade))})


def read_grades(text: str, ids: Sequence[str]) -> tuple[int, ...]:
    """The grades in an answer."""
    # Models like to say something before and after the answer, so exactly one of the outermost JSON objects of the text
    # must have the key `"scores"`: with two, it would not be clear which one counts.
    if len(text) > LONGEST_ANSWER:
        raise InputError(f"the answer has {len(text)} characters")
    found = [value for value in _objects(text) if any(name == "scores" for name, _ in value)]
    if len(found) != 1:
        raise InputError(f"the answer has {len(found)} objects with the key 'scores', expected one")
    if len(found[0]) != 1:
        raise InputError("the answer has more than the one key 'scores'")
    grades = found[0][0][1]
    if not isinstance(grades, _Pairs):
        raise InputError("'scores' is not an object")
    if sorted(name for name, _ in grades) != sorted(ids):
        raise InputError(f"'scores' must have each of the ids {', '.join(ids)} once and no other")
    by_id = dict(grades)
    for name in ids:
        if type(by_id[name]) is not int or not 1 <= by_id[name] <= MAX_GRADE:
            raise InputError(f"the grade of {name} is not a whole number from 1 to {MAX_GRADE}")
    return tuple(by_id[name] for name in ids)


class _Pairs(list):
    """A JSON object as its keys and values, repetitions included."""


def _objects(text: str) -> list[_Pairs]:
    """The outermost JSON objects in a text, from left to right."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_refuse)
    found: list[_Pairs] = []
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            raise InputError("the answer nests too deeply") from None
        except ValueError:
            end = start + 1
        else:
            found.append(value)
        start = text.find("{", end)
    return found


def _refuse(constant: str) -> None:
    raise InputError(f"{constant} is not JSON")
