"""Questions to a judge: several asked at once, answers from the cache where it has them, and each new one kept."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.disk_cache import DiskCache
from geceval.core.errors import InputError
from geceval.core.files import expanded
from geceval.models.chat import CallFailed, EndpointModel, LocalModel, Messages
from geceval.scorers.judge.prompts import MAX_GRADE

FORMAT = 2  # of the entries in the cache; change it when their meaning changes

Grades = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a question: grades, or the kind of a failure and its message; and what it took."""

    grades: Grades | None
    failure: str = ""
    reason: str = ""
    cached: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


def ask_all(
    chat: EndpointModel | LocalModel,
    questions: Sequence[tuple[Messages, str]],
    cache: DiskCache[str, Grades],
    concurrency: int,
    stop_at_failure: bool,
    advance: Callable[[], object],
) -> list[Verdict | None]:
    """The verdict on each question, a chat and the ids of its outputs; `None` for those not asked after a failure."""
    keys = [json.dumps([chat.fingerprint, messages], sort_keys=True) for messages, _ in questions]
    verdicts = {key: Verdict(grades, cached=True) for key, grades in cache.get_many(keys).items()}
    for _ in verdicts:
        advance()
    stopped = threading.Event()

    def ask(key: str, messages: Messages, ids: str) -> Verdict | None:
        if stopped.is_set():
            return None
        try:
            verdict = _ask(chat, messages, ids)
        except BaseException:
            stopped.set()
            raise
        if verdict.grades is not None:
            cache.put_many({key: verdict.grades})
        elif stop_at_failure:
            stopped.set()
        return verdict

    with ThreadPoolExecutor(concurrency, thread_name_prefix="geceval-judge") as pool:
        missing = [(key, *question) for key, question in zip(keys, questions, strict=True) if key not in verdicts]
        running = {pool.submit(ask, *question): question[0] for question in missing}
        try:
            for future in as_completed(running):
                if (verdict := future.result()) is not None:
                    verdicts[running[future]] = verdict
                    advance()
        finally:
            stopped.set()  # after an error or an interrupt, too, nothing more is asked
    return [verdicts.get(key) for key in keys]


def _ask(chat: EndpointModel | LocalModel, messages: Messages, ids: str) -> Verdict:
    try:
        reply = chat.ask(messages, answer_schema(ids))
    except CallFailed as failed:
        return Verdict(None, failed.kind, str(failed))
    tokens = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
    try:
        return Verdict(read_grades(reply.text, ids), **tokens)
    except InputError as error:
        return Verdict(None, "malformed", str(error), **tokens)


def answer_cache(folder: str | Path | None) -> DiskCache[str, Grades]:
    """The valid answers in a folder, which must be writable: they have been paid for."""
    if folder is not None:
        path = expanded(folder)
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(f"{path}: the cache cannot be written; pass another folder")
    return DiskCache(
        folder, ["judge", FORMAT], lambda grades: json.dumps(grades).encode(), lambda data: tuple(json.loads(data))
    )


def answer_schema(ids: Sequence[str]) -> dict[str, Any]:
    """JSON schema of an answer that grades these outputs."""

    def exactly(properties: dict[str, Any]) -> dict[str, Any]:
        required = {"required": list(properties), "additionalProperties": False}
        return {"type": "object", "properties": properties, **required}

    grade = {"type": "integer", "enum": list(range(1, MAX_GRADE + 1))}
    return exactly({"scores": exactly(dict.fromkeys(ids, grade))})


def read_grades(text: str, ids: Sequence[str]) -> Grades:
    """The grades in an answer, whether or not the endpoint has kept to the schema."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("the answer is no JSON") from None
    grades = answer["scores"] if isinstance(answer, dict) and list(answer) == ["scores"] else None
    if not isinstance(grades, dict) or sorted(grades) != sorted(ids):
        raise InputError(f"the answer has not one grade for each of {', '.join(ids)} under 'scores'")
    for name, grade in grades.items():
        if type(grade) is not int or not 1 <= grade <= MAX_GRADE:
            raise InputError(f"the grade of {name} is not a whole number from 1 to {MAX_GRADE}")
    return tuple(grades[name] for name in ids)
