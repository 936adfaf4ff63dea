"""Queues: equal requests are answered from a cache, those of several visitors are scored in one batch."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import scoring
from geceval.core.cache import LRUCache
from geceval.core.result import Result

logger = logging.getLogger("geceval.demo")

QUICK_WAITING, LARGE_WAITING = 16, 8  # requests that a lane may find together, the others queue before it
REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class Request:
    """One sentence under one metric."""

    metric: str
    source: str
    correction: str
    references: tuple[str, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Answer:
    """A result, what geceval warned of, and the seconds besides what was read ahead: 0 where it was known."""

    result: Result
    warnings: tuple[str, ...]
    seconds: float


class Lane:
    """One thread; whatever arrived while it was busy is its next batch."""

    def __init__(self, name: str) -> None:
        self._waiting: SimpleQueue[tuple[Future, Callable[[], Any], Request | None]] = SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, function: Callable[..., Any], *values: Any, request: Request | None = None) -> Future:
        """Have a function called; with a request, what it asks for is prepared together with the others' requests."""
        future: Future = Future()
        self._waiting.put((future, functools.partial(function, *values), request))
        return future

    def score(self, request: Request) -> Future:
        """The future `Answer` to a request."""
        return self.submit(_answer, request, request=request)

    def _work(self) -> None:
        while True:
            batch = [self._waiting.get()]
            while not self._waiting.empty():
                batch.append(self._waiting.get())
            _prepare([request for *_, request in batch if request is not None])
            for future, function, _ in batch:
                try:
                    future.set_result(function())
                except BaseException as error:  # whoever asked is told
                    future.set_exception(error)


_answers: LRUCache[Any, Any] = LRUCache(REMEMBERED)


def _answer(request: Request) -> Answer:
    known = _answers.get(request)
    if known is not None:
        return Answer(*known, 0.0)
    start = time.perf_counter()
    with scoring.noticing() as warnings:
        result = scoring.score(
            request.metric, request.source, request.correction, list(request.references), request.language
        )
    _answers.put(request, (result, tuple(warnings)))
    return Answer(result, tuple(warnings), time.perf_counter() - start)


def _prepare(requests: Sequence[Request]) -> None:
    """Have each metric read all sentences at once: its caches then answer for each one of them."""
    fresh = [each for each in dict.fromkeys(requests) if each not in _answers and each.language == "en"]
    for metric in dict.fromkeys(request.metric for request in fresh):
        own = [request for request in fresh if request.metric == metric]
        if len(own) > 1:
            try:
                scoring.read_ahead(metric, [(each.source, each.correction, list(each.references)) for each in own])
            except Exception as error:  # the lane lives on; each request is scored, and told of its own mistake, alone
                logger.info("%s read nothing ahead: %s", metric, error)


quick, large = Lane("quick"), Lane("large")


def lane(metric: str) -> Lane:
    """The lane of a metric."""
    return large if metric in scoring.large_metrics() else quick


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that the quick lane calls, and that answers the same question at once the next time."""

    @functools.wraps(function)
    def ask(*values: Any) -> Any:
        if not all(isinstance(value, (str, bool, float, int)) for value in values):
            return function(*values)  # which refuses them
        key = (function.__name__, *map(repr, values))
        known = _answers.get(key)
        if known is None:
            known = quick.submit(function, *values).result()
            _answers.put(key, known)
        return known

    return ask
