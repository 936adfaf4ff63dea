"""How far a computation has come: one bar for all of it, or lines of plain text where there is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")
Show = Callable[[float, str], None]
"""Shows which share of all is done, in [0, 1], and what is being done."""

STEP = 0.1  # share of all after which there is another line


@dataclass(slots=True)
class _Bar:
    """A bar that is shown: how, the part that is being done, as a share of the whole, and its names."""

    show: Show
    names: list[str] = field(default_factory=list)
    start: float = 0.0
    size: float = 1.0
    done: float = 0.0

    def reach(self, share: float) -> None:
        """A share of the current part is done; the bar never goes back, though a part may be counted several times."""
        self.done = max(self.done, self.start + share * self.size)
        self.show(self.done, ", ".join(self.names))


_current: ContextVar[_Bar | None] = ContextVar("bar", default=None)


@contextmanager
def bar(shown: bool, name: str = "") -> Iterator[None]:
    """Within the block, whatever is computed moves one bar on standard error."""
    if not shown or _current.get() is not None:
        yield
        return
    with _display() as show:
        whole = _Bar(show, [name] if name else [])
        token = _current.set(whole)
        try:
            yield
            whole.reach(1.0)
        finally:
            _current.reset(token)


def parts(items: Iterable[Item], name: Callable[[Item], str] | None = None) -> Iterator[Item]:
    """The items again, each while its part of the bar, or of a part of it, is done; all parts are of one size."""
    items, current = list(items), _current.get()
    if current is None:
        yield from items
        return
    start, size, names = current.start, current.size, current.names
    for index, item in enumerate(items):
        current.start, current.size = start + index * size / len(items), size / len(items)
        if name is not None:
            current.names = [*names, name(item)]
            current.reach(0.0)
        try:
            yield item
        finally:
            current.start, current.size, current.names = start, size, names


@contextmanager
def counting(what: str, total: int, shown: bool) -> Iterator[Callable[[], None]]:
    """A function to call after each of `total` steps; it moves the bar that is shown, or one of its own."""
    with bar(shown, what):
        current, done = _current.get(), 0  # another thread may advance, and has no bar of its own

        def advance() -> None:
            nonlocal done
            done += 1
            if current is not None:
                current.reach(done / total)

        yield advance


def track(items: Sequence[Item], what: str, shown: bool) -> Iterator[Item]:
    """The items, counted as they are done; see `counting`."""
    with counting(what, len(items), shown) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def _display() -> Iterator[Show]:
    """A bar where standard error is a terminal, else lines."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda share, what: shown.update(task, completed=share, description=what)


def _lines() -> Show:
    """Prints a line when something else is done, and when a further tenth of the whole has been; none after 100%."""
    last, shown = "", -STEP

    def show(share: float, what: str) -> None:
        nonlocal last, shown
        if shown < 1.0 and (what != last or share - shown > STEP - 1e-9):
            print(f"geceval: {share:4.0%} {what}".rstrip(), file=sys.stderr, flush=True)
            last, shown = what, share

    return show
