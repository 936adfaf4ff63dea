"""Warnings that begin with the name of their metric, and come once: for all systems, or as long as a caller says."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from geceval.core.inputs import Columns

logger = logging.getLogger("geceval")

Kind: TypeAlias = tuple[str, str]
"""Metric and format of a message: warnings of one kind differ in their numbers only."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """The metric at work, and the sentences that it scores."""

    metric: str
    columns: Columns


@dataclass(slots=True)
class _Gathered:
    """Warnings held back: kind to message to the systems that it came for, of all that have been begun."""

    systems: list[str] = field(default_factory=list)
    messages: dict[Kind, dict[str, list[str]]] = field(default_factory=dict)

    def begin(self, system: str) -> None:
        self.systems.append(system)

    def add(self, kind: Kind, text: str) -> None:
        concerned = self.messages.setdefault(kind, {}).setdefault(text, [])
        concerned += [system for system in self.systems[-1:] if system not in concerned]


_scored: ContextVar[_Scored | None] = ContextVar("scored", default=None)
_gathered: ContextVar[_Gathered | None] = ContextVar("gathered", default=None)
_issued: ContextVar[set[Kind] | None] = ContextVar("issued", default=None)


@contextmanager
def scoring(metric: str, columns: Columns) -> Iterator[None]:
    """Within the block, warnings are those of a metric that scores these sentences."""
    with _set(_scored, _Scored(metric, columns)):
        yield


@contextmanager
def once(issued: set[Kind]) -> Iterator[None]:
    """Within the block, a warning of a kind in the set is left out, and any other adds its kind."""
    with _set(_issued, issued):
        yield


class _Everything(set[Kind]):
    def __contains__(self, kind: object) -> bool:
        return True


@contextmanager
def muted() -> Iterator[None]:
    """Within the block, warnings are left out."""
    with once(_Everything()):
        yield


@contextmanager
def _set(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def gathered() -> Iterator[Callable[[str], None]]:
    """A function to call with the name of each system before it is scored; warnings of a kind come once, at the end."""
    held = _Gathered()
    try:
        with _set(_gathered, held):
            yield held.begin
    finally:
        for kind, messages in held.messages.items():
            if _is_new(kind):
                logger.warning("%s", _together(messages, len(held.systems)), extra={"kind": kind})


def first_on_line(text: str | Sequence[str]) -> str:
    """`, first on line 7` if the seventh sentence that is being scored has this text, or all of these; else `""`."""
    scored = _scored.get()
    if scored is None:
        return ""
    texts = {" ".join(part.split()) for part in ([text] if isinstance(text, str) else text)}
    columns = scored.columns
    rows = zip(columns.sources, columns.predictions, columns.references or [[]] * len(columns.sources), strict=True)
    for number, (source, prediction, references) in enumerate(rows, start=1):
        if texts <= {" ".join(part.split()) for part in (source, prediction, *references)}:
            return f", first on line {number}"
    return ""


def _together(messages: dict[str, list[str]], systems: int) -> str:
    """One message in place of all that differ in their numbers only: the first, with the systems."""
    (text, first), *later = messages.items()
    if systems == 1 or len(first) == systems:
        return text
    like = dict.fromkeys(system for _, more in later for system in more if system not in first)
    also = f"; the like for {', '.join(like)}" if like else ""
    return f"{text} ({', '.join(first)}{also})"


def _is_new(kind: Kind) -> bool:
    issued = _issued.get()
    if issued is None:
        return True
    new = kind not in issued
    issued.add(kind)
    return new


def _filter(record: logging.LogRecord) -> bool:
    """Name the metric in a warning, and hold it back or leave it out where a block above says so."""
    if record.levelno != logging.WARNING or hasattr(record, "kind"):
        return True
    metric = scored.metric if (scored := _scored.get()) else ""
    text = record.getMessage()
    of_file = hasattr(record, "of_file")  # whichever system is scored when the file is read
    kind = (metric, text if of_file else str(record.msg))
    text = text if not metric or text.startswith(f"{metric}:") else f"{metric}: {text}"
    if (held := _gathered.get()) is not None and not of_file:
        held.add(kind, text)
        return False
    record.msg, record.args = text, ()
    return _is_new(kind)


logger.addFilter(_filter)
