"""Progress of a computation: one bar for all of it, or lines of plain text where there is no terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Show = Callable[[float, str], None]
"""Shows which share of the whole, or of a part of it, is done, in [0, 1], and what is being done."""

STEP = 0.1  # share of the whole after which there is another line

_show: ContextVar[Show | None] = ContextVar("show", default=None)


@contextmanager
def bar(shown: bool, name: str = "") -> Iterator[None]:
    """Within the block, whatever is computed moves one bar on standard error."""
    if not shown or _show.get() is not None:
        yield
        return
    with _display() as display, shown_by(lambda share, what: display(share, _joined(name, what))):
        yield


@contextmanager
def shown_by(display: Show) -> Iterator[None]:
    """Within the block, whatever is computed is shown by a function; what this raises stops the computation."""
    done = 0.0

    def show(share: float, what: str) -> None:
        nonlocal done
        done = max(done, share)  # it never goes back, though a part may be counted several times
        display(done, what)

    token = _show.set(show)
    try:
        yield
        show(1.0, "")
    finally:
        _show.reset(token)


def parts(items: Iterable[Item], name: Callable[[Item], str] | None = None) -> Iterator[Item]:
    """The items again, each while its part of the bar, or of a part of it, is done; all parts are of one size."""
    items, whole = list(items), _show.get()
    if whole is None:
        yield from items
        return
    for index, item in enumerate(items):
        label = name(item) if name else ""

        def show(share: float, what: str, index: int = index, label: str = label) -> None:
            whole((index + share) / len(items), _joined(label, what))

        _show.set(show)
        try:
            if label:
                show(0.0, "")
            yield item
        finally:
            if _show.get() is show:  # else the bar has gone: what it showed has failed
                _show.set(whole)


@contextmanager
def counting(what: str, total: int, shown: bool) -> Iterator[Callable[[], None]]:
    """A function to call after each of `total` steps; it moves the bar that is shown, or one of its own."""
    with bar(shown, what):
        show, done = _show.get(), 0  # another thread may advance, and has no bar of its own

        def advance() -> None:
            nonlocal done
            done += 1
            if show is not None:
                show(done / total, "")

        yield advance


def track(items: Iterable[Item], total: int, what: str, shown: bool) -> Iterator[Item]:
    """The items, of which there are `total`, counted as they are done; see `counting`."""
    with counting(what, total, shown) as advance:
        for item in items:
            yield item
            advance()


def _joined(*names: str) -> str:
    return ", ".join(filter(None, names))


@contextmanager
def _display() -> Iterator[Show]:
    """The bar of rich where standard error is a terminal, else lines."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda share, what: shown.update(task, completed=share, description=what)


def _lines() -> Show:
    """Print a line when something else is done, and when a further tenth of the whole has been; none after 100%."""
    last, printed = "", -STEP

    def show(share: float, what: str) -> None:
        nonlocal last, printed
        if printed < 1.0 and (what != last or share - printed > STEP - 1e-9):
            print(f"geceval: {share:4.0%} {what}".rstrip(), file=sys.stderr, flush=True)
            last, printed = what, share

    return show
