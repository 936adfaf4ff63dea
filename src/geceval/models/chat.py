"""Language models that answer a chat in JSON of a given schema: behind an OpenAI-compatible endpoint, or local ones."""

import json
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models import bundled
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.models.devices import pick_dtype

PUBLIC_URL = "https://api.openai.com/v1"

Messages = list[dict[str, str]]
"""A chat: `{"role": ..., "content": ...}`, first the instructions, then what they are about."""

_NO_KEY = "no-key"  # the client insists on one
_SHORTEST_SECRET = 8  # characters; a shorter key may be a word of the text
_LONGEST_QUOTE = 300  # characters
_CODES = {"content_filter": "refusal", "context_length_exceeded": "too_long"}
_SLOT = "\0"  # which no JSON holds


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and the tokens it took; 0 where an endpoint does not say."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class CallFailed(Exception):
    """A call without a usable reply; `kind` is one word."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class EndpointModel:
    """A chat model behind an endpoint (`POST <base_url>/chat/completions`)."""

    def __init__(
        self, model: str, base_url: str | None, api_key_env: str | None, retries: int, timeout: float, **decoding: Any
    ) -> None:
        import openai

        self.name = model
        self.base_url = check_url(base_url or os.environ.get("OPENAI_BASE_URL") or PUBLIC_URL)
        self._decoding = {name: value for name, value in decoding.items() if value is not None}
        self.fingerprint = {"model": model, "base_url": self.base_url, **self._decoding}
        self._key = _read_key(api_key_env)
        self._client = openai.OpenAI(api_key=self._key, base_url=self.base_url, timeout=timeout, max_retries=retries)

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """The answer to a chat; the client asks again after 408, 409, 429, 5xx and broken connections."""
        import openai

        schema_format = {"type": "json_schema", "json_schema": {"name": "grades", "strict": True, "schema": schema}}
        try:
            completion = self._client.chat.completions.create(
                model=self.name, messages=messages, response_format=schema_format, **self._decoding
            )
        except openai.APIStatusError as error:
            problem = self._status_error(error)
        except openai.APITimeoutError:
            problem = CallFailed("timeout", "the endpoint gave no sign of life in time")
        except openai.APIConnectionError as error:
            problem = CallFailed("connection", self._clean(str(error.__cause__ or error)))
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            problem = CallFailed("malformed", self._clean(str(error)))
        else:
            return _reply(completion)
        raise problem  # here, so that the client's own exception, which holds the request, is not chained to it

    def _status_error(self, error: Any) -> Exception:
        status, code = error.status_code, str(getattr(error, "code", None) or "")
        said = error.body.get("message") if isinstance(error.body, dict) else None
        text = f"HTTP {status}: {self._clean(str(said or error.response.text or error.message))}"
        if status in (401, 403, 404) or code == "insufficient_quota":
            return InputError(
                f"{self.base_url} cannot be used for model {self.name!r} ({text}); check model, base_url, and the key "
                "in the environment"
            )
        if status == 429:
            return CallFailed("rate_limit", text)
        return CallFailed("server" if status in (408, 409) or status >= 500 else _CODES.get(code, "rejected"), text)

    def _clean(self, text: str) -> str:
        """A text of the server or the client for a message: one line, not too long, without the key."""
        if len(self._key) >= _SHORTEST_SECRET:
            text = text.replace(self._key, "***")
        return " ".join(text.split())[:_LONGEST_QUOTE]


def _reply(completion: Any) -> Reply:
    """The reply in what the client made of a successful response, which it does not check."""
    try:
        choice = completion.choices[0]
        text, refusal = choice.message.content, choice.message.refusal
    except (AttributeError, IndexError, TypeError):
        raise CallFailed("malformed", "the endpoint's answer is no chat completion; is base_url right?") from None
    if refusal or choice.finish_reason == "content_filter":
        raise CallFailed("refusal", "the model refused to answer")
    counts = [getattr(completion.usage, name, 0) for name in ("prompt_tokens", "completion_tokens")]
    return Reply(text if isinstance(text, str) else "", *(count if type(count) is int else 0 for count in counts))


def check_url(url: str) -> str:
    """The address without a slash at its end."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number
        valid = False
    if not valid or parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "base_url must be an http or https address such as http://localhost:8000/v1, without user, password, query "
            "or fragment; keys come from the environment only"
        )
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
    if not re.fullmatch(r"[\w.~+/=-]+", key, re.ASCII):
        which = variable if variable == "OPENAI_API_KEY" else "that api_key_env names"
        raise InputError(
            f"the environment variable {which} is empty or holds no key; put it there, or pass api_key_env=None for an "
            "endpoint that wants no key"
        )
    return key


class LocalModel:
    """A causal language model that chooses the values of an answer, the form of which is given; one chat at a time."""

    def __init__(self, model: str, runtime: RunTime) -> None:
        if "," in runtime.device:
            raise InputError(f"a local model answers on one device, got {runtime.device!r}")
        checkpoint = resolve(model)
        if bundled.reads(checkpoint):
            raise InputError(f"{model!r} was not made to answer; name a language model that was, e.g. model='smollm2'")
        self._causal = CausalModel.load(checkpoint, runtime)
        self._lock = threading.Lock()
        self.name = self._causal.name
        self.fingerprint = {"model": self.name, "dtype": pick_dtype(runtime)}

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """The answer whose values are, one after the other, the most probable of those that the schema allows."""
        import torch

        form, allowed = _form(schema)
        *parts, end = form.split(_SLOT)
        with self._lock, torch.inference_mode():
            prompt = self.encode(messages)
            size, limit = prompt.shape[1] + self._tokens(form).shape[1], self._causal.max_length
            if limit is not None and size > limit:
                raise CallFailed("too_long", f"question and answer have {size} tokens, but the model reads {limit}")
            text, unread, past = "", prompt, None
            for before, values in zip(parts, allowed, strict=True):
                output = self._causal.model(
                    input_ids=torch.cat([unread, self._tokens(before)], 1), past_key_values=past, use_cache=True
                )
                tokens = [self._tokens(value) for value in values]
                if any(token.shape[1] != 1 for token in tokens):
                    raise InputError(f"{self.name}: its tokenizer has no single tokens for {', '.join(values)}")
                best = int(output.logits[0, -1, torch.cat(tokens, 1)[0]].argmax())
                text += before + values[best]
                unread, past = tokens[best], output.past_key_values
            return Reply(text + end, prompt.shape[1], self._tokens(text + end).shape[1])

    def _tokens(self, text: str) -> Any:
        """Token ids, `[1, tokens]`."""
        options = {"add_special_tokens": False, "return_tensors": "pt", "verbose": False}
        return self._causal.tokenizer(text, **options)["input_ids"].to(self._causal.model.device)

    def encode(self, messages: Messages) -> Any:
        """The chat as token ids, `[1, tokens]`, by the model's chat template if it has one."""
        tokenizer = self._causal.tokenizer
        system, user = messages[0]["content"], messages[1]["content"]
        for token in tokenizer.all_special_tokens:  # within strings of JSON, they are broken by an escape
            if token in user and ord(token[0]) < 0x10000:
                user = user.replace(token, json_escape(token[0]) + token[1:])
        if tokenizer.chat_template is not None:
            return self._tokens(self._apply_template(system, user))
        text = tokenizer(f"{system}\n\n{user}\n\n", return_tensors="pt", verbose=False)
        return text["input_ids"].to(self._causal.model.device)

    def _apply_template(self, system: str, user: str) -> str:
        import jinja2

        template = self._causal.tokenizer.apply_chat_template
        options = {"tokenize": False, "add_generation_prompt": True}
        try:
            return template([{"role": "system", "content": system}, {"role": "user", "content": user}], **options)
        except jinja2.TemplateError:  # some templates know no system message, and say so
            return template([{"role": "user", "content": f"{system}\n\n{user}"}], **options)


def json_escape(character: str) -> str:
    """JSON's escape of a character of the Basic Multilingual Plane, for use within a string."""
    return f"\\u{ord(character):04x}"


def _form(schema: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """An answer in JSON with `_SLOT` in place of each value, and the values that each slot may have, in JSON."""
    if "enum" in schema:
        return _SLOT, [[json.dumps(value) for value in schema["enum"]]]
    parts = {name: _form(value) for name, value in schema["properties"].items()}
    text = ",".join(f"{json.dumps(name)}:{form}" for name, (form, _) in parts.items())
    return f"{{{text}}}", [values for _, allowed in parts.values() for values in allowed]
