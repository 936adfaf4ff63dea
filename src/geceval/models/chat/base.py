"""What a chat model is: its messages, its replies, and how a call fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Messages = list[dict[str, str]]
"""A chat: `{"role": ..., "content": ...}`, the oldest message first."""


def json_escape(character: str) -> str:
    """JSON's escape of a character of the Basic Multilingual Plane, for use within a string."""
    return f"\\u{ord(character):04x}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied, usable or not.

    Attributes:
        text: What the model wrote.
        refused: Whether the endpoint says that the model refused to answer, or that a filter stopped it.
        prompt_tokens: Tokens read; `None` if the endpoint does not say.
        completion_tokens: Tokens written; `None` if the endpoint does not say.
    """

    text: str
    refused: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class CallFailed(Exception):
    """A call without a usable reply.

    Attributes:
        kind: Why, in one word, for counts.
        retryable: Whether the same call may succeed later.
        retry_after: Seconds that the endpoint asks to wait before the next call; `None` if it does not say.
    """

    def __init__(self, kind: str, message: str, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.retryable, self.retry_after = kind, retryable, retry_after


class ChatModel(Protocol):
    """A language model that answers chats.

    Attributes:
        name: Its name for signatures.
        fingerprint: Everything that a reply depends on apart from the messages, as plain values.
        deterministic: Whether the same messages always get the same reply, so that a second call is useless.
        parallel: Whether it may be called several times at once.
    """

    name: str
    fingerprint: dict[str, Any]
    deterministic: bool
    parallel: bool

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """The reply to a chat.

        Args:
            messages: The chat.
            schema: JSON schema of the answer, for models that can be held to one.

        Raises:
            CallFailed: If there is no reply; another chat may succeed.
            ValueError: If the model cannot be used at all.
        """
        ...
