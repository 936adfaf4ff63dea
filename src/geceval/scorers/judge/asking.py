"""Asking a judge: several questions at once, again after a failure, nothing twice; and what all of it took."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from geceval.models.chat.reply import CallFailed, Chat, Messages
from geceval.scorers.judge.answers import read_grades
from geceval.scorers.judge.cache import AnswerCache, DamagedEntry, key_of

logger = logging.getLogger("geceval")

FIRST_PAUSE = 1.0  # seconds; doubled after each further failure
LONGEST_PAUSE = 60.0
LONGEST_WAIT = 300.0  # an endpoint that wants to be left alone for longer is not waited for


@dataclass(slots=True)
class Tally:
    """What asking took.

    Attributes:
        calls: Requests, those that failed included.
        cached: Questions that the cache on disk answered.
        damaged: Entries of that cache that were not whole, and were asked for again.
        prompt_tokens: Tokens read, as far as the endpoint said.
        completion_tokens: Tokens written, as far as the endpoint said.
        uncounted: Answers whose tokens the endpoint did not state.
        errors: Requests that brought no valid answer, by kind; a later request may have brought one.
    """

    calls: int = 0
    cached: int = 0
    damaged: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add what another question took."""
        for name in ("calls", "cached", "damaged", "prompt_tokens", "completion_tokens", "uncounted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.errors.update(other.errors)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a question.

    Attributes:
        grades: One whole number an output, in the order of the question; `None` if there is no valid answer.
        failure: The kind of the last failure, if there is no valid answer.
        reason: What the last failure said.
    """

    grades: tuple[int, ...] | None
    failure: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    verdict: Verdict
    took: Tally
    answer: str = ""


class Asker:
    """Asks a judge.

    Args:
        chat: The model.
        cache: Keeps valid answers; `None` keeps none.
        retries: How often a question is asked again.
        concurrency: Questions in flight at once.
        stop: Give up at the first question that stays without a valid answer; those in flight still come in.
        sleep: Waits for some seconds. By default a wait that ends early when the others give up.
    """

    def __init__(
        self,
        chat: Chat,
        cache: AnswerCache | None = None,
        retries: int = 4,
        concurrency: int = 4,
        stop: bool = False,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._chat, self._cache = chat, cache
        self._retries, self._concurrency = retries, concurrency if chat.parallel else 1
        self._stop_at_failure = stop
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait

    def ask_all(
        self, chats: Sequence[tuple[Messages, str]], advance: Callable[[], object]
    ) -> tuple[list[Verdict | None], Tally]:
        """Ask all questions.

        Args:
            chats: Messages and the ids of the outputs to be graded, one pair a question. Equal ones are asked once.
            advance: Called after each distinct question.

        Returns:
            A `Verdict` a question, in the order given, `None` for those not asked because of `stop`; and what it took.

        Raises:
            JudgeError: If the judge cannot be used at all.
            OSError: If the cache cannot be read or written.
        """
        keys = [key_of(self._chat.fingerprint, messages) for messages, _ in chats]
        distinct = dict(zip(keys, chats, strict=True))
        verdicts: dict[str, Verdict] = {}
        total = Tally()
        for key, (_, ids) in distinct.items():
            grades = self._look_up(key, ids, total)
            if grades is not None:
                verdicts[key] = Verdict(grades)
                advance()
        missing = {key: chat for key, chat in distinct.items() if key not in verdicts}
        with contextlib.closing(self._answers(missing)) as answers:
            for key, asked in answers:
                if asked.answer and self._cache is not None:
                    self._cache.put(key, asked.answer)  # in this thread only: writing looks at the process's umask
                verdicts[key] = asked.verdict
                total.add(asked.took)
                advance()
        if total.damaged:
            logger.warning("%d entries of the cache of answers were damaged and were asked for again", total.damaged)
        return [verdicts.get(key) for key in keys], total

    def _look_up(self, key: str, ids: str, total: Tally) -> tuple[int, ...] | None:
        if self._cache is None:
            return None
        try:
            grades = self._cache.get(key, ids)
        except DamagedEntry:
            total.damaged += 1
            return None
        if grades is None:
            return None
        total.cached += 1
        return tuple(grades.values())

    def _answers(self, chats: dict[str, tuple[Messages, str]]) -> Generator[tuple[str, _Asked], None, None]:
        """Keys and what came of them, as they come."""
        waiting = iter(chats.items())
        running: dict[Future[_Asked], str] = {}
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="geceval-judge")
        try:
            while True:
                while len(running) < self._concurrency and not self._stopped.is_set():
                    key, chat = next(waiting, ("", None))
                    if chat is None:
                        break
                    running[pool.submit(self._ask, *chat)] = key
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    asked = future.result()
                    if self._stop_at_failure and asked.verdict.grades is None:
                        self._stopped.set()
                    yield running.pop(future), asked
        finally:
            self._stopped.set()
            pool.shutdown(cancel_futures=True)

    def _ask(self, messages: Messages, ids: str) -> _Asked:
        """One question, until there is a valid answer or no use in asking again."""
        took = Tally()
        verdict = Verdict(None)
        for attempt in range(self._retries + 1):
            if attempt and self._stopped.is_set():
                break
            took.calls += 1
            pause: float | None = None
            try:
                reply = self._chat.ask(messages, ids)
            except CallFailed as failed:
                verdict, again, pause = Verdict(None, failed.kind, str(failed)), failed.again, failed.wait
            else:
                self._count(reply.prompt_tokens, reply.completion_tokens, took)
                if reply.refused:
                    verdict, again = Verdict(None, "refusal", "the model refused to grade"), False
                else:
                    try:
                        grades = read_grades(reply.text, ids)
                    except ValueError as error:
                        verdict, again = Verdict(None, "malformed", str(error)), not self._chat.steady
                    else:
                        return _Asked(Verdict(tuple(grades.values())), took, reply.text)
            took.errors[verdict.failure] += 1
            if not again or attempt == self._retries or (pause or 0) > LONGEST_WAIT:
                break
            self._sleep(max(pause or 0.0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)))
        return _Asked(verdict, took)

    @staticmethod
    def _count(read: int | None, written: int | None, took: Tally) -> None:
        took.prompt_tokens += read or 0
        took.completion_tokens += written or 0
        took.uncounted += read is None or written is None
