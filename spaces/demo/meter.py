"""How far a comparison is, about how long it still takes, and the button that stops it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from geceval.core.progress import shown_by
from limits import Refused

UNSEEN = 0.01  # seconds a sentence score, of a metric that this process has not yet timed
_pace: dict[str, float] = {}
_running: dict[str | None, threading.Event] = {}


class StoppedError(Exception):
    """The visitor does not want to wait any longer."""


class Meter:
    """The work of a comparison, metric by metric."""

    def __init__(self, names: Sequence[str], scores: int, show: Callable[..., None], stop: threading.Event) -> None:
        self._ahead = list(names)
        self._scores = scores  # of each metric
        self._show = show
        self._begin = time.perf_counter()
        self._stop = stop
        self._shown = 0.0  # a bar never goes back

    @contextmanager
    def metric(self, name: str) -> Iterator[None]:
        """Within the block, a metric is computed."""
        self._ahead.remove(name)
        begin = time.perf_counter()

        def show(share: float, what: str) -> None:
            if self._stop.is_set():
                raise StoppedError
            now = time.perf_counter()
            known = _pace.get(name, UNSEEN) * self._scores
            whole = (now - begin) / share if share > 0.1 else known
            left = max(whole - (now - begin), 0) + sum(_pace.get(each, UNSEEN) * self._scores for each in self._ahead)
            done = now - self._begin
            self._shown = max(self._shown, done / (done + left) if done else 0.0)
            self._show(self._shown, desc=f"{what or name}: {in_words(left)}")

        show(0.0, name)
        with shown_by(show):
            yield
        _pace[name] = (time.perf_counter() - begin) / self._scores


def in_words(seconds: float) -> str:
    """About how long it still takes."""
    if seconds < 90:
        return f"about {max(5 * round(seconds / 5), 5)} s left"
    return f"about {round(seconds / 60)} minutes left"


@contextmanager
def running(names: Sequence[str], scores: int, show: Callable[..., None], visitor: str | None) -> Iterator[Meter]:
    """Within the block, a visitor's comparison is computed, and may be stopped."""
    event = _running[visitor] = threading.Event()
    try:
        yield Meter(names, scores, show, event)
    except StoppedError as error:
        raise Refused("Stopped.") from error
    finally:
        if _running.get(visitor) is event:  # else a later run of the visitor has begun
            del _running[visitor]


def stop(visitor: str | None) -> bool:
    """Have a visitor's comparison stop at its next step; whether there is one."""
    event = _running.get(visitor)
    if event is not None:
        event.set()
    return event is not None
