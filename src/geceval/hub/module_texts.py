"""What `evaluate` shows as the inputs of a module: columns, settings and run-time options, from their dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
import typing
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union

from geceval.scorers.base import Scorer

_COLUMNS = """
Args:
    sources (`list` of `str`): What the learner wrote, one string per sentence; tokenised for metrics of edits, n-grams
        and token labels.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references{references}
"""
_REFERENCES = " (`list` of `list` of `str`): One list of references, or one string, per sentence{unless}."
_NO_REFERENCES = ": Not used; dropped if given, so that the metric can be combined with others."
_WRAP = textwrap.TextWrapper(
    120, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False
)
_RUN_TIME = """
Every option is taken by `load` and by `compute`. All metrics take these run-time options, which say how to compute, and
ignore those that they have no use for:

"""


def inputs_description(text: str, scorer_class: type[Scorer]) -> str:
    """A module's own text, with the columns, unless it describes them itself, the settings and the run-time options."""
    columns, returns, results = text.partition("Returns:\n")
    if "Args:" not in columns:
        columns = _columns(scorer_class)
    settings = f"{columns.rstrip()}\n{_entries(scorer_class.Settings)}\n"
    return f"{settings}\n{returns}{results}{_RUN_TIME}{_entries(scorer_class.RunTime)}\n"


def _columns(scorer_class: type[Scorer]) -> str:
    if not scorer_class().needs_references():
        return _COLUMNS.format(references=_NO_REFERENCES)
    unless = "; not\n        needed with `gold_m2`" if hasattr(scorer_class.Settings(), "gold_m2") else ""
    return _COLUMNS.format(references=_REFERENCES.format(unless=unless))


def _entries(options: type) -> str:
    """One entry for each field of a dataclass: its type, its default, and what the docstrings say of it."""
    texts = {name: text for base in reversed(options.__mro__) for name, text in _attributes(base).items()}
    hints = typing.get_type_hints(options, include_extras=True)
    entries = []
    for field in dataclasses.fields(options):
        default = "" if field.default in (None, dataclasses.MISSING) else f", defaults to {_code(field.default)}"
        entry = f"{field.name} ({_type(hints[field.name])}, *optional*{default}): {texts.get(field.name, '')}"
        entries.append(_WRAP.fill(entry))
    return "\n".join(entries)


def _attributes(options: type) -> dict[str, str]:
    """The section `Attributes:` of a docstring: name to text; `a, b: text` is the text of both."""
    section = inspect.cleandoc(options.__doc__ or "").partition("Attributes:\n")[2]
    entries = re.split(r"^ {4}(\w+(?:, \w+)*): ", section, flags=re.MULTILINE)
    pairs = zip(entries[1::2], entries[2::2], strict=True)
    return {name: " ".join(text.split()) for names, text in pairs for name in names.split(", ")}


def _type(hint: Any) -> str:
    """A type annotation in words: "`str` or `Path`", the choices of a `Literal`, "`list` of `str`"."""
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind is Annotated:
        return "`str`" if isinstance(inner[1], str) else _type(inner[0])  # marked as a path, a model or a pipeline
    if kind in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(part) for part in inner if part is not NoneType))
    if kind is Literal:
        *others, last = map(_code, inner)
        return f"{', '.join(others)} or {last}" if others else last
    return f"`list` of {_type(inner[0])}" if inner else f"`{hint.__name__}`"


def _code(value: Any) -> str:
    return f'`"{value}"`' if isinstance(value, str) else f"`{value!r}`"
