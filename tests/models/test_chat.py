"""The client of an endpoint: what it sends, what it makes of each kind of response, and that the key stays inside."""

import json
import logging
import time
import traceback

import pytest

from geceval.core.errors import InputError
from geceval.models.chat import CallFailed, EndpointModel, check_url

KEY = "sk-Secret/0123456789abcdef"
MESSAGES = [{"role": "system", "content": "Grade."}, {"role": "user", "content": '{"outputs": []}'}]
SCHEMA = {"type": "object", "properties": {"A": {"type": "integer"}}}


@pytest.fixture
def endpoint(chat, monkeypatch):
    """A function that starts a server with a behaviour and returns a client of it, and the server."""
    monkeypatch.setenv("JUDGE_KEY", KEY)

    def make(behave, retries=0, timeout=5.0, **decoding):
        server = chat.start(behave)
        return EndpointModel("judge-1", server.url, "JUDGE_KEY", retries, timeout, **decoding), server

    return make


def test_what_is_sent(endpoint):
    client, server = endpoint(lambda *_: "{}", temperature=0.0, seed=None)
    reply = client.ask(MESSAGES, SCHEMA)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("{}", 100, 10)
    schema = {"name": "grades", "strict": True, "schema": SCHEMA}
    response_format = {"type": "json_schema", "json_schema": schema}
    assert server.requests == [
        {"model": "judge-1", "messages": MESSAGES, "temperature": 0.0, "response_format": response_format}
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def error(message, code=None):
    return json.dumps({"error": {"message": message, "code": code}})


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "rate_limit_exceeded", "rate_limit"),
        (503, None, "server"),
        (408, None, "server"),
        (400, "content_filter", "refusal"),
        (400, "context_length_exceeded", "too_long"),
        (400, "bad_parameter", "rejected"),
        (413, None, "rejected"),
    ],
)
def test_kinds_of_failure(endpoint, chat, status, code, kind):
    client, server = endpoint(lambda *_: chat.Raw(status, error("what  was\nwrong", code)))
    with pytest.raises(CallFailed, match=f"HTTP {status}: what was wrong") as caught:
        client.ask(MESSAGES, SCHEMA)
    assert caught.value.kind == kind
    assert len(server.requests) == 1


def test_what_may_pass_is_asked_again(endpoint, chat):
    now = {"retry-after-ms": "1"}
    script = [chat.Raw(429, error("slow"), now), chat.Raw(500, "oops", now), "{}"]
    client, server = endpoint(lambda request, number: script[number], retries=2)
    assert client.ask(MESSAGES, SCHEMA).text == "{}"
    assert len(server.requests) == 3


@pytest.mark.parametrize(("status", "code"), [(401, None), (403, None), (404, None), (429, "insufficient_quota")])
def test_what_ends_everything(endpoint, chat, status, code):
    client, _ = endpoint(lambda *_: chat.Raw(status, error("no", code)))
    with pytest.raises(InputError, match=rf"cannot be used for model 'judge-1' \(HTTP {status}: no\)"):
        client.ask(MESSAGES, SCHEMA)


def test_connections_that_break(endpoint, chat):
    dropped, server = endpoint(lambda *_: chat.Drop())
    slow, _ = endpoint(lambda *_: time.sleep(1) or "{}", timeout=0.1)
    for client, kind in ((dropped, "connection"), (slow, "timeout")):
        with pytest.raises(CallFailed) as caught:
            client.ask(MESSAGES, SCHEMA)
        assert caught.value.kind == kind
    server.close()
    with pytest.raises(CallFailed, match="refused"):
        dropped.ask(MESSAGES, SCHEMA)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        *(("<html>", "text/html"), ("<html>", "application/json"), ("[" * 9999, "application/json")),
        *((body, "application/json") for body in ("[]", "null", "{}", '{"choices": []}', '{"choices": [3]}')),
        ('{"choices": [{"message": "x"}]}', "application/json"),
    ],
)
def test_bodies_that_are_no_completion(endpoint, chat, body, content_type):
    client, _ = endpoint(lambda *_: chat.Raw(200, body, {"Content-Type": content_type}))
    with pytest.raises(CallFailed) as caught:
        client.ask(MESSAGES, SCHEMA)
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": None, "refusal": "I will not."}},
        {"message": {"content": "x"}, "finish_reason": "content_filter"},
    ],
)
def test_refusals(endpoint, chat, choice):
    client, _ = endpoint(lambda *_: chat.Raw(body=json.dumps({"choices": [choice]})))
    with pytest.raises(CallFailed, match="refused") as caught:
        client.ask(MESSAGES, SCHEMA)
    assert caught.value.kind == "refusal"


@pytest.mark.parametrize("usage", [None, 3, {"prompt_tokens": "many"}, {}])
def test_odd_contents_and_missing_counts(endpoint, chat, usage):
    body = json.dumps({"choices": [{"message": {"content": ["x"]}}], "usage": usage})
    client, _ = endpoint(lambda *_: chat.Raw(body=body))
    reply = client.ask(MESSAGES, SCHEMA)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("", 0, 0)


def test_the_key_is_in_no_message(endpoint, chat, caplog):
    """Also where the server repeats it, and in nothing that is chained to the exception."""
    caplog.set_level(logging.DEBUG)
    behaviours = [chat.Raw(status, error(f"bad key {KEY}", code)) for status, code in ((401, ""), (500, ""), (400, ""))]
    behaviours += [chat.Raw(418, f"teapot {KEY}"), chat.Drop()]
    for behaviour in behaviours:
        client, server = endpoint(lambda *_, behaviour=behaviour: behaviour)
        with pytest.raises((CallFailed, InputError)) as caught:
            client.ask(MESSAGES, SCHEMA)
        assert caught.value.__context__ is None and caught.value.__cause__ is None
        assert server.headers[0]["authorization"].endswith(KEY)  # it was sent, so it could have come back
        assert KEY not in "".join(traceback.format_exception_only(caught.value)) + repr(caught.value.__dict__)
        assert KEY not in json.dumps(client.fingerprint)
    assert KEY not in caplog.text


def test_keys_that_are_none(chat, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="the environment variable OPENAI_API_KEY is empty"):
        EndpointModel("m", None, "OPENAI_API_KEY", 0, 1.0)
    with pytest.raises(InputError, match="name of an environment variable") as caught:
        EndpointModel("m", None, KEY, 0, 1.0)  # the key where its name should be
    assert KEY not in str(caught.value)
    monkeypatch.setenv("JUDGE_KEY", "two words ü")
    with pytest.raises(InputError, match="holds no key") as caught:
        EndpointModel("m", None, "JUDGE_KEY", 0, 1.0)
    assert "words" not in str(caught.value)
    monkeypatch.setenv("JUDGE_KEY", f" {KEY}\n")
    server = chat.start()
    EndpointModel("m", server.url, "JUDGE_KEY", 0, 5.0).ask(MESSAGES, SCHEMA)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://x/v1", "http://", "http://me:pass@x/v1", "http://x/v1?key=a", "http://x:y/"]
)
def test_addresses_that_are_none(url):
    with pytest.raises(InputError, match="base_url must") as caught:
        check_url(url)
    assert "pass@" not in str(caught.value)


def test_the_address_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert EndpointModel("m", None, None, 0, 1.0).fingerprint["base_url"] == "http://localhost:1/v1"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert EndpointModel("m", None, None, 0, 1.0).base_url == "https://api.openai.com/v1"
