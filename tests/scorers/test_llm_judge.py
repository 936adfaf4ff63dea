"""The judge against a stand-in of an endpoint."""

import dataclasses
import json
import logging
import math
import pickle
import threading

import numpy as np
import pytest

from geceval import registry
from geceval.core.disk_cache import FILE
from geceval.core.errors import InputError
from geceval.scorers.llm_judge import JudgeRunTime, LlmJudge, Settings

SOURCES = ["He go to school .", "She like cats .", "They is happy .", "He go to school ."]
SYSTEMS = {
    "one": ["He goes to school .", "She likes cats .", "They are happy .", "He goes to school ."],
    "two": ["He goes to the school .", "She likes cats .", "They is happy .", "He goes to school ."],
    "three": ["He go to school .", "She liked the cats .", "They are happy .", "He went to school ."],
}


@pytest.fixture
def judge(chat):
    """A function that starts a server and makes a judge of it: `judge(behave, **options)` gives both."""

    def make(behave=None, **options):
        server = chat.start(behave or chat.honest)
        options = {"model": "stand-in", "base_url": server.url, "api_key_env": None, **options}
        of_runtime = {field.name for field in dataclasses.fields(JudgeRunTime)}
        settings = Settings(**{k: v for k, v in options.items() if k not in of_runtime})
        runtime = JudgeRunTime(**{k: v for k, v in options.items() if k in of_runtime})
        return LlmJudge(settings, runtime), server

    return make


def test_one_output_a_prompt(judge, chat):
    scorer, server = judge()
    result = scorer.score(SOURCES, SYSTEMS["one"])
    assert result.scores == [float(chat.grade(text)) for text in SYSTEMS["one"]]
    assert result.score == np.mean(result.scores)
    assert len(server.requests) == 3  # the last sentence is the first one again
    assert all(len(chat.material(request)["outputs"]) == 1 for request in server.requests)
    expected = {"judged": 4, "failed": 0, "failed_rows": [], "failures": {}}
    expected |= {"calls": 3, "cached": 0, "prompt_tokens": 300, "completion_tokens": 30}
    assert result.details == expected


def test_systems_share_prompts(judge, chat):
    scorer, server = judge()
    results = registry.score_systems(scorer, SOURCES, SYSTEMS)
    for name, result in results.items():
        assert result.scores == [float(chat.grade(text)) for text in SYSTEMS[name]]
    shown = sorted(sorted(o["text"] for o in chat.material(request)["outputs"]) for request in server.requests)
    assert shown == sorted(sorted({outputs[row] for outputs in SYSTEMS.values()}) for row in range(4))
    assert [result.details["calls"] for result in results.values()] == [4, 0, 0]
    assert len({result.signature for result in results.values()}) == 1
    assert "|systems:3@" in results["one"].signature


def test_neither_order_nor_concurrency_matters(judge):
    scorer, server = judge(concurrency=1)
    results = registry.score_systems(scorer, SOURCES, SYSTEMS)
    bodies = sorted(json.dumps(request) for request in server.requests)
    settings = dataclasses.replace(scorer.settings, systems=[SYSTEMS[name][::-1] for name in ("three", "one", "two")])
    again = LlmJudge(settings, JudgeRunTime(api_key_env=None, concurrency=8))
    for name in SYSTEMS:
        assert again.score(SOURCES[::-1], SYSTEMS[name][::-1]).scores == results[name].scores[::-1]
    assert {json.dumps(request) for request in server.requests} == set(bodies)


def test_requests_are_in_flight_together(judge, chat):
    together = threading.Barrier(3, timeout=20)

    def behave(request, number):
        together.wait()  # none is answered before all three are there
        return chat.honest(request)

    scorer, _ = judge(behave, concurrency=3)
    assert scorer.score(SOURCES, SYSTEMS["one"]).details["calls"] == 3


def test_edits_are_shown_at_the_edit_level(judge, chat):
    scorer, server = judge(level="edit")
    result = scorer.score(SOURCES[:1], ["He goes to the school ."])
    assert chat.material(server.requests[0])["outputs"][0]["edits"] == [
        {"left": "He", "from": "go", "to": "goes", "right": "to school ."},
        {"left": "He go to", "from": "", "to": "the", "right": "school ."},
    ]
    assert "|errant:" in result.signature


def test_bad_answers_are_failures_and_paid_for(judge, chat):
    now = {"retry-after-ms": "1"}
    script = [chat.Raw(429, "slow", now), '{"scores": {"A": 3.5}}', chat.Raw(500, "oops", now)]

    def behave(request, number):
        return script[number] if number < len(script) else chat.honest(request)

    scorer, server = judge(behave, concurrency=1, on_failure="skip")
    result = scorer.score(SOURCES[:2], SYSTEMS["one"][:2])
    assert math.isnan(result.scores[0])
    assert result.scores[1] == float(chat.grade(SYSTEMS["one"][1]))
    assert result.details["failures"] == {"malformed": 1}
    assert (len(server.requests), result.details["calls"]) == (4, 2)  # the client's own retries are not counted
    assert (result.details["prompt_tokens"], result.details["completion_tokens"]) == (200, 20)


def refuse_cats(chat):
    def behave(request, number):
        if "cats" in chat.material(request)["source"]:
            return chat.Raw(body=json.dumps({"choices": [{"message": {"refusal": "no"}}]}))
        return chat.honest(request)

    return behave


def test_sentences_that_fail_are_skipped_and_named(judge, chat, caplog):
    scorer, server = judge(refuse_cats(chat), on_failure="skip")
    result = scorer.score(SOURCES, SYSTEMS["one"])
    grades = [float(chat.grade(text)) for text in SYSTEMS["one"]]
    assert math.isnan(result.scores[1])
    assert [result.scores[row] for row in (0, 2, 3)] == [grades[row] for row in (0, 2, 3)]
    assert result.score == pytest.approx((grades[0] + grades[2] + grades[3]) / 3)
    assert result.details["failed_rows"] == [1]
    assert (result.details["judged"], result.details["failures"]) == (3, {"refusal": 1})
    assert "no score for 1 of 4 sentences; predictions[1] got no valid grade: refusal" in caplog.text
    rows = np.array([result.scores, result.scores[::-1]])
    assert scorer.aggregate(rows).tolist() == pytest.approx([result.score] * 2)


def test_all_systems_lack_the_same_grades(judge, chat):
    """What failed for one system is not tried again for the next."""
    scorer, server = judge(refuse_cats(chat), on_failure="skip")
    results = registry.score_systems(scorer, SOURCES, SYSTEMS)
    assert [result.details["failed_rows"] for result in results.values()] == [[1]] * 3
    assert len(server.requests) == 4


def test_nothing_judged_is_not_a_number(judge):
    scorer, _ = judge(lambda *_: "no", on_failure="skip")
    result = scorer.score(SOURCES, SYSTEMS["one"])
    assert math.isnan(result.score)
    assert (result.details["judged"], result.details["failures"]) == (0, {"malformed": 4})


def test_the_first_failure_ends_the_work(judge, chat, tmp_path):
    scorer, server = judge(refuse_cats(chat), concurrency=1)
    with pytest.raises(InputError, match=r"predictions\[1\] got no valid grade: refusal .* are lost without"):
        scorer.score(SOURCES, SYSTEMS["one"])
    assert len(server.requests) == 2  # the third sentence was not paid for
    scorer, server = judge(refuse_cats(chat), concurrency=1, cache=tmp_path)
    with pytest.raises(InputError, match="are in the cache"):
        scorer.score(SOURCES, SYSTEMS["one"])
    server.behave = chat.honest
    assert scorer.score(SOURCES, SYSTEMS["one"]).details["cached"] == 1


def test_a_key_that_is_refused_ends_the_work_and_answers_before_it_are_cached(judge, chat, tmp_path):
    def behave(request, number):
        return chat.honest(request) if number == 0 else chat.Raw(401, "no such key")

    scorer, server = judge(behave, concurrency=1, on_failure="skip", cache=tmp_path)
    with pytest.raises(InputError, match="^llm_judge: .* cannot be used for model 'stand-in' .HTTP 401: no such key"):
        scorer.score(SOURCES, SYSTEMS["one"])
    assert len(server.requests) == 2  # the third sentence was not asked about
    server.behave = chat.honest
    assert scorer.score(SOURCES, SYSTEMS["one"]).details["cached"] == 1


def test_the_cache_answers_the_second_time(judge, tmp_path):
    scorer, server = judge(cache=tmp_path / "new" / "cache")
    first = scorer.score(SOURCES, SYSTEMS["one"])
    second = scorer.score(SOURCES, SYSTEMS["one"])
    assert second.scores == first.scores
    assert second.signature == first.signature
    assert (second.details["calls"], second.details["cached"], second.details["prompt_tokens"]) == (0, 3, 0)
    assert len(server.requests) == 3
    for change in ({"model": "other"}, {"seed": 1}, {"criterion": "fluency"}):
        other = LlmJudge(dataclasses.replace(scorer.settings, **change), scorer.runtime)
        assert other.score(SOURCES[:1], SYSTEMS["one"][:1]).details["cached"] == 0, change


def test_a_cache_that_cannot_be_written_costs_nothing(judge, tmp_path):
    (tmp_path / "file").touch()
    scorer, server = judge(cache=tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        scorer.score(SOURCES, SYSTEMS["one"])
    assert server.requests == []


KEY = "sk-Secret0123456789abcdef"


def test_the_key_stays_in_the_request(judge, chat, tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("JUDGE_KEY", KEY)

    def behave(request, number):
        return chat.Raw(500, f"overloaded, {KEY}", {"retry-after-ms": "1"}) if number == 0 else chat.honest(request)

    scorer, server = judge(behave, api_key_env="JUDGE_KEY", cache=tmp_path)
    result = scorer.score(SOURCES, SYSTEMS["one"])
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    cached = (tmp_path / FILE).read_bytes().decode(errors="replace")
    for text in (cached, repr(result), repr(scorer.settings), repr(scorer.runtime), caplog.text, str(server.requests)):
        assert KEY not in text
    assert KEY.encode() not in pickle.dumps(scorer)
    server.behave = lambda *_: chat.Raw(401, f"wrong key {KEY}")
    with pytest.raises(InputError, match=r"HTTP 401: wrong key \*\*\*") as caught:
        scorer.score(["a"], ["b"])
    assert KEY not in str(caught.value)


def test_a_model_must_be_named():
    with pytest.raises(InputError, match="^llm_judge: no model is bundled; pass model="):
        registry.make_scorer("llm_judge").score(["a"], ["a"])


def test_prompts_can_be_read_beforehand(judge):
    scorer, server = judge()
    chats = scorer.prompts(SOURCES, SYSTEMS["one"])
    assert server.requests == []
    scorer.score(SOURCES, SYSTEMS["one"])
    assert sorted(map(str, chats)) == sorted(str(request["messages"]) for request in server.requests)
