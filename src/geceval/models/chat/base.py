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
    """What a model replied, usable or not."""

    text: str
    refused: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class CallFailed(Exception):
    """A call without a usable reply."""

    def __init__(self, kind: str, message: str, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.retryable, self.retry_after = kind, retryable, retry_after


class ChatModel(Protocol):
    """A language model that answers chats."""

    name: str
    fingerprint: dict[str, Any]
    deterministic: bool
    parallel: bool

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """The reply to a chat."""
        ...
