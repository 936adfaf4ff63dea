"""What a language model gives back when it is asked, and the ways in which it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from geceval.core.errors import InputError

Messages = list[dict[str, str]]
"""A chat: `{"role": ..., "content": ...}`, the oldest first."""

MOST_POINTS = 5


def escape(character: str) -> str:
    """JSON's escape of a character of the Basic Multilingual Plane, for use within a string."""
    return f"\\u{ord(character):04x}"


class JudgeError(InputError):
    """A judge that cannot be used, or that left sentences ungraded; the message says what to do. It holds no key."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, right or wrong.

    Attributes:
        text: What the model wrote.
        refused: Whether the endpoint says that the model refused, or that a filter cut it off.
        prompt_tokens: Tokens read; `None` if the endpoint does not say.
        completion_tokens: Tokens written; `None` if the endpoint does not say.
    """

    text: str
    refused: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class CallFailed(Exception):
    """No answer came.

    Attributes:
        kind: Why, in one word, for counts.
        again: Whether the same question may be answered later.
        wait: Seconds that the endpoint wants to be left alone; `None` if it does not say.
    """

    def __init__(self, kind: str, message: str, again: bool = False, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.again, self.wait = kind, again, wait


class Chat(Protocol):
    """A language model that answers chats.

    Attributes:
        name: Its name for signatures.
        fingerprint: Everything but the messages that an answer depends on, as plain values.
        steady: Whether the same question has the same answer always, so that asking again is of no use.
        parallel: Whether several questions may be asked at once.
    """

    name: str
    fingerprint: dict[str, Any]
    steady: bool
    parallel: bool

    def ask(self, messages: Messages, ids: Sequence[str]) -> Reply:
        """The answer to a chat.

        Args:
            messages: The chat.
            ids: Names of the outputs to be graded, for models that can be held to a form of answer.

        Raises:
            CallFailed: If no answer came; another chat may fare better.
            JudgeError: If no chat at all can be answered.
        """
        ...
