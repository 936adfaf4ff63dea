"""The client of an endpoint: what it sends, what it makes of each kind of response, and that the key stays inside."""

import email.utils
import json
import logging
import time
import traceback

import pytest

from geceval.core.errors import InputError
from geceval.models.chat.base import CallFailed
from geceval.models.chat.endpoint import EndpointModel, check_url, read_reply, retry_after

KEY = "sk-Secret/0123456789abcdef"
MESSAGES = [{"role": "system", "content": "Grade."}, {"role": "user", "content": '{"outputs": []}'}]
SCHEMA = {"type": "object", "properties": {"A": {"type": "integer"}}}


@pytest.fixture
def endpoint(chat, monkeypatch):
    """A function that starts a server with a behaviour and returns a client of it, and the server."""
    monkeypatch.setenv("JUDGE_KEY", KEY)

    def make(behave, timeout=5.0, response_format="json_object", **decoding):
        server = chat.start(behave)
        return EndpointModel("judge-1", server.url, "JUDGE_KEY", decoding, response_format, timeout), server

    return make


def test_what_is_sent(endpoint):
    client, server = endpoint(lambda *_: "{}", temperature=0.0, seed=3, max_tokens=None)
    reply = client.ask(MESSAGES, SCHEMA)
    assert (reply.text, reply.refused, reply.prompt_tokens, reply.completion_tokens) == ("{}", False, 100, 10)
    assert server.requests == [
        {
            "model": "judge-1",
            "messages": MESSAGES,
            "temperature": 0.0,
            "seed": 3,
            "response_format": {"type": "json_object"},
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_forms_of_answer(endpoint):
    client, server = endpoint(lambda *_: "{}", response_format="json_schema")
    client.ask(MESSAGES, SCHEMA)
    assert server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "grades", "strict": True, "schema": SCHEMA},
    }
    client, server = endpoint(lambda *_: "{}", response_format="text")
    client.ask(MESSAGES, SCHEMA)
    assert "response_format" not in server.requests[0]


def error(message, code=None):
    return json.dumps({"error": {"message": message, "code": code}})


@pytest.mark.parametrize(
    ("status", "code", "headers", "kind", "retryable", "retry_after"),
    [
        (429, "rate_limit_exceeded", {"Retry-After": "7"}, "rate_limit", True, 7.0),
        (429, None, {}, "rate_limit", True, None),
        (429, None, {"retry-after-ms": "250", "Retry-After": "9"}, "rate_limit", True, 0.25),
        (500, None, {}, "server", True, None),
        (503, None, {"Retry-After": "2"}, "server", True, 2.0),
        (408, None, {}, "server", True, None),
        (400, "content_filter", {}, "refusal", False, None),
        (400, "context_length_exceeded", {}, "too_long", False, None),
        (400, "bad_parameter", {}, "rejected", False, None),
        (413, None, {}, "rejected", False, None),
    ],
)
def test_kinds_of_failure(endpoint, chat, status, code, headers, kind, retryable, retry_after):
    client, server = endpoint(lambda *_: chat.Raw(status, error("what  was\nwrong", code), headers))
    with pytest.raises(CallFailed, match=f"HTTP {status}: what was wrong") as caught:
        client.ask(MESSAGES, SCHEMA)
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after) == (kind, retryable, retry_after)
    assert len(server.requests) == 1  # trying again is not the client's business


@pytest.mark.parametrize(("status", "code"), [(401, None), (403, None), (404, None), (429, "insufficient_quota")])
def test_what_ends_everything(endpoint, chat, status, code):
    client, _ = endpoint(lambda *_: chat.Raw(status, error("no", code)))
    with pytest.raises(InputError, match=rf"cannot be used for model 'judge-1' \(HTTP {status}: no\)"):
        client.ask(MESSAGES, SCHEMA)


def test_dropped_and_slow_connections(endpoint, chat):
    client, _ = endpoint(lambda *_: chat.Drop())
    with pytest.raises(CallFailed) as caught:
        client.ask(MESSAGES, SCHEMA)
    assert (caught.value.kind, caught.value.retryable) == ("connection", True)
    client, _ = endpoint(lambda *_: time.sleep(1) or "{}", timeout=0.1)
    with pytest.raises(CallFailed) as caught:
        client.ask(MESSAGES, SCHEMA)
    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)


def test_nobody_listens(chat, monkeypatch):
    server = chat.start()
    server.close()
    with pytest.raises(CallFailed, match="refused") as caught:
        EndpointModel("m", server.url, None, {}).ask(MESSAGES, SCHEMA)
    assert caught.value.kind == "connection"


@pytest.mark.parametrize(
    "body",
    [
        "<html>",
        "[]",
        "null",
        "{}",
        '{"choices": []}',
        '{"choices": [3]}',
        '{"choices": [{"message": "x"}]}',
        "[" * 9999,
    ],
)
def test_bodies_that_are_no_completion(endpoint, chat, body):
    client, _ = endpoint(lambda *_: chat.Raw(200, body, {"Content-Type": "text/html"}))
    with pytest.raises(CallFailed, match="is base_url right") as caught:
        client.ask(MESSAGES, SCHEMA)
    assert (caught.value.kind, caught.value.retryable) == ("malformed", True)


def test_refusals_and_missing_counts():
    refused = read_reply('{"choices": [{"message": {"content": null, "refusal": "I will not."}}]}')
    assert (refused.text, refused.refused, refused.prompt_tokens) == ("", True, None)
    filtered = read_reply('{"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}], "usage": 3}')
    assert filtered.refused
    odd = read_reply('{"choices": [{"message": {"content": ["x"]}}], "usage": {"prompt_tokens": "many"}}')
    assert (odd.text, odd.refused, odd.prompt_tokens) == ("", False, None)


def test_retry_after_as_a_date():
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert 27 < retry_after({"retry-after": soon}) <= 30
    assert retry_after({"retry-after": email.utils.formatdate(0, usegmt=True)}) == 0.0
    for nonsense in ("soon", "nan", "inf", ""):
        assert retry_after({"retry-after": nonsense}) is None


def test_the_key_is_in_no_message(endpoint, chat, caplog):
    """Also where the server repeats it, and in nothing that is chained to the exception."""
    caplog.set_level(logging.DEBUG)
    behaviours = [chat.Raw(status, error(f"bad key {KEY}", code)) for status, code in ((401, ""), (500, ""), (400, ""))]
    behaviours += [chat.Raw(418, f"teapot {KEY}"), chat.Drop()]
    for behaviour in behaviours:
        client, server = endpoint(lambda *_, behaviour=behaviour: behaviour)
        try:
            client.ask(MESSAGES, SCHEMA)
        except (CallFailed, InputError) as caught:
            assert caught.__context__ is None and caught.__cause__ is None
            text = "".join(traceback.format_exception(caught)) + repr(caught.__dict__)
        assert server.headers[0]["authorization"].endswith(KEY)  # it was sent, so it could have come back
        assert KEY not in text
        assert KEY not in json.dumps(client.fingerprint)
    client, _ = endpoint(lambda *_: f"your key is {KEY}")
    assert client.ask(MESSAGES, SCHEMA).text == "your key is ***"
    assert KEY not in caplog.text


def test_keys_that_are_none(chat, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="the environment variable OPENAI_API_KEY is empty"):
        EndpointModel("m", None, "OPENAI_API_KEY", {})
    with pytest.raises(InputError, match="name of an environment variable") as caught:
        EndpointModel("m", None, KEY, {})  # the key where its name should be
    assert KEY not in str(caught.value)
    monkeypatch.setenv("JUDGE_KEY", "two words ü")
    with pytest.raises(InputError, match="no HTTP header") as caught:
        EndpointModel("m", None, "JUDGE_KEY", {})
    assert "words" not in str(caught.value)
    monkeypatch.setenv("JUDGE_KEY", f" {KEY}\n")
    server = chat.start()
    EndpointModel("m", server.url, "JUDGE_KEY", {}).ask(MESSAGES, SCHEMA)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://x/v1", "http://", "http://me:pass@x/v1", "http://x/v1?key=a", "http://x:y/"]
)
def test_addresses_that_are_none(url):
    with pytest.raises(InputError, match="base_url must") as caught:
        check_url(url)
    assert "pass" not in str(caught.value).replace("password", "")


def test_the_address_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert EndpointModel("m", None, None, {}).fingerprint["base_url"] == "http://localhost:1/v1"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert EndpointModel("m", None, None, {}).base_url == "https://api.openai.com/v1"
