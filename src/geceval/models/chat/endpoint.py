"""A chat model behind an OpenAI-compatible endpoint (`POST <base_url>/chat/completions`).

The API key is read from the environment when the client is made and goes nowhere else: it is removed from every text of
the client or the server before the text enters a reply or a message.
"""

from __future__ import annotations

import contextlib
import email.utils
import json
import math
import os
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from geceval.core.errors import InputError
from geceval.models.chat.base import CallFailed, Messages, Reply

PUBLIC_URL = "https://api.openai.com/v1"
FORMATS = ("json_object", "json_schema", "text")

_NO_KEY = "no-key"  # the client insists on one
_SHORTEST_SECRET = 8  # characters; a shorter key may be a word of the text
_LONGEST_QUOTE = 300  # characters


class EndpointModel:
    """A chat model behind an endpoint."""

    deterministic = False
    parallel = True

    def __init__(
        self,
        model: str,
        base_url: str | None,
        api_key_env: str | None,
        decoding: Mapping[str, Any],
        response_format: str = "json_object",
        timeout: float = 60.0,
    ) -> None:
        import openai

        self.name = model
        self.base_url = check_url(base_url or os.environ.get("OPENAI_BASE_URL") or PUBLIC_URL)
        self._decoding = {name: value for name, value in decoding.items() if value is not None}
        self._format = response_format
        self.fingerprint = {
            "model": model,
            "base_url": self.base_url,
            "response_format": response_format,
            **self._decoding,
        }
        key = _read_key(api_key_env)
        self._secrets = {key, json.dumps(key)[1:-1]} if len(key) >= _SHORTEST_SECRET else set()
        self._client = openai.OpenAI(api_key=key, base_url=self.base_url, timeout=timeout, max_retries=0)

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """See `geceval.models.chat.base.ChatModel`."""
        import openai

        body: dict[str, Any] = {"model": self.name, "messages": messages, **self._decoding}
        if self._format != "text":
            body["response_format"] = {"type": self._format}
        if self._format == "json_schema":
            body["response_format"]["json_schema"] = {"name": "grades", "strict": True, "schema": schema}
        try:
            response = self._client.chat.completions.with_raw_response.create(**body)
            text = response.http_response.text
        except openai.APIStatusError as error:
            problem = self._status_error(error)
        except openai.APITimeoutError:
            problem = CallFailed("timeout", "the endpoint gave no sign of life in time", retryable=True)
        except openai.APIConnectionError as error:
            problem = CallFailed("connection", self._clean(str(error.__cause__ or error)), retryable=True)
        except openai.OpenAIError as error:
            problem = CallFailed("malformed", self._clean(str(error)), retryable=True)
        else:
            return read_reply(self._without_key(text))
        raise problem  # here, so that the client's own exception, which holds the request, is not chained to it

    def _status_error(self, error: Any) -> Exception:
        status, code = error.status_code, str(getattr(error, "code", None) or "")
        said = f"HTTP {status}: {self._clean(_message(error))}"
        wait = retry_after(error.response.headers)
        if status in (401, 403, 404) or code == "insufficient_quota":
            return InputError(
                f"{self.base_url} cannot be used for model {self.name!r} ({said}); check model, base_url, and the key "
                "in the environment"
            )
        if status == 429:
            return CallFailed("rate_limit", said, retryable=True, retry_after=wait)
        if status in (408, 409) or status >= 500:
            return CallFailed("server", said, retryable=True, retry_after=wait)
        kinds = {"content_filter": "refusal", "context_length_exceeded": "too_long"}
        return CallFailed(kinds.get(code, "rejected"), said)

    def _without_key(self, text: str) -> str:
        for form in self._secrets:
            text = text.replace(form, "***")
        return text

    def _clean(self, text: str) -> str:
        """A text of the server or the client for a message: one line, not too long, without the key."""
        return " ".join(self._without_key(text).split())[:_LONGEST_QUOTE]


def check_url(url: str) -> str:
    """The address without a slash at its end."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        bare = not (parts.username or parts.password or parts.query or parts.fragment)
        _ = parts.port
    except ValueError:
        valid = bare = False
    if not valid:
        raise InputError("base_url must be an http or https address such as http://localhost:8000/v1")
    if not bare:
        raise InputError("base_url must hold no user, password, query or fragment; keys come from the environment only")
    return url.rstrip("/")


def check_key_name(name: str | None) -> None:
    """Refuse what cannot be the name of an environment variable; it is not quoted, as it may be the key."""
    if name is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise InputError(
            "api_key_env must be the name of an environment variable, in capitals, that holds the key; never the key"
        )


def _read_key(variable: str | None) -> str:
    check_key_name(variable)
    if variable is None:
        return _NO_KEY
    key = os.environ.get(variable, "").strip()
    if not key:
        which = variable if variable == "OPENAI_API_KEY" else "that api_key_env names"
        raise InputError(
            f"the environment variable {which} is empty; put the key there, or pass api_key_env=None for an endpoint "
            "that wants no key"
        )
    if not re.fullmatch(r"[!-~]+", key):
        raise InputError("the key in the environment holds characters that no HTTP header can; copy it again")
    return key


def _message(error: Any) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message) if message else str(error.response.text or error.message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait before the next request, from `Retry-After` (RFC 9110, section 10.2.3) or OpenAI's own header."""
    with contextlib.suppress(ValueError):
        if "retry-after-ms" in headers:
            return _seconds(float(headers["retry-after-ms"]) / 1000)
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return _seconds(float(value))
    with contextlib.suppress(ValueError, TypeError):
        return _seconds(email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return None


def _seconds(value: float) -> float | None:
    return max(0.0, value) if math.isfinite(value) else None


def read_reply(body: str) -> Reply:
    """The reply in the body of a successful response."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise CallFailed(
            "malformed", "the endpoint did not answer with JSON; is base_url right?", retryable=True
        ) from None
    choices = content.get("choices") if isinstance(content, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise CallFailed("malformed", "the endpoint's answer has no message; is base_url right?", retryable=True)
    text = message.get("content")
    refused = bool(message.get("refusal")) or choice.get("finish_reason") == "content_filter"
    usage = content.get("usage") if isinstance(content.get("usage"), dict) else {}
    return Reply(
        text if isinstance(text, str) else "",
        refused,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
