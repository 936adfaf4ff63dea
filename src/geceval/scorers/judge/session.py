"""The client of a judge: asks several questions at once, retries failures, asks none twice, and counts its usage."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, fields

from geceval.core.errors import InputError
from geceval.models.chat.base import CallFailed, ChatModel, Messages
from geceval.scorers.judge.answers import answer_schema, read_grades
from geceval.scorers.judge.cache import AnswerCache, answer_key

FIRST_PAUSE = 1.0  # seconds; doubled after each further failure
LONGEST_PAUSE = 60.0
LONGEST_WAIT = 300.0  # an endpoint that asks to be left alone for longer is not waited for


@dataclass(slots=True)
class Usage:
    """Requests and tokens that the questions used."""

    calls: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0

    def add(self, other: Usage) -> None:
        """Add what another question used."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a question."""

    grades: tuple[int, ...] | None
    failure: str = ""
    reason: str = ""


class JudgeSession:
    """Asks a chat model for grades."""

    def __init__(
        self,
        chat: ChatModel,
        cache: AnswerCache,
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
    ) -> tuple[list[Verdict | None], Usage]:
        """Ask all questions."""
        keys = [answer_key(self._chat.fingerprint, messages) for messages, _ in chats]
        distinct = dict(zip(keys, chats, strict=True))
        verdicts: dict[str, Verdict] = {}
        for key, answer in self._cache.get_many(distinct).items():
            with contextlib.suppress(InputError):
                verdicts[key] = Verdict(read_grades(answer, distinct[key][1]))
                advance()
        usage = Usage(cached=len(verdicts))
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="geceval-judge") as pool:
            running = {pool.submit(self._ask, key, *distinct[key]): key for key in distinct if key not in verdicts}
            try:
                for future in as_completed(running):
                    if (found := future.result()) is not None:
                        verdicts[running[future]], used = found
                        usage.add(used)
                        advance()
            finally:
                self._stopped.set()  # after an error or an interrupt, too, nothing more is asked
        return [verdicts.get(key) for key in keys], usage

    def _ask(self, key: str, messages: Messages, ids: str) -> tuple[Verdict, Usage] | None:
        """Ask until there is a valid answer or asking again is useless; `None` if the client has given up before."""
        if self._stopped.is_set():
            return None
        usage = Usage()
        for attempt in range(self._retries + 1):
            try:
                answer, grades = self._attempt(messages, ids, usage)
            except CallFailed as failed:
                usage.errors[failed.kind] += 1
                verdict, wait = Verdict(None, failed.kind, str(failed)), failed.retry_after or 0.0
                if not failed.retryable or attempt == self._retries or wait > LONGEST_WAIT:
                    break
                self._sleep(max(wait, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)))
                if self._stopped.is_set():
                    break
            except BaseException:
                self._stopped.set()
                raise
            else:
                self._cache.put(key, answer)
                return Verdict(grades), usage
        if self._stop_at_failure:
            self._stopped.set()
        return verdict, usage

    def _attempt(self, messages: Messages, ids: str, usage: Usage) -> tuple[str, tuple[int, ...]]:
        """One request: a valid answer and its grades."""
        usage.calls += 1
        reply = self._chat.ask(messages, answer_schema(ids))
        usage.prompt_tokens += reply.prompt_tokens or 0
        usage.completion_tokens += reply.completion_tokens or 0
        usage.uncounted += reply.prompt_tokens is None or reply.completion_tokens is None
        if reply.refused:
            raise CallFailed("refusal", "the model refused to grade")
        try:
            return reply.text, read_grades(reply.text, ids)
        except InputError as error:
            raise CallFailed("malformed", str(error), retryable=not self._chat.deterministic) from error
