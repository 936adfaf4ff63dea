"""Local causal language models as judges: random ones, and the real one."""

import json
import re

import pytest

from geceval.models.causal import CausalModel
from geceval.models.chat import LocalModel
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.scorers.judge.session import answer_schema
from geceval.scorers.llm_judge import JudgeRunTime, LlmJudge, Settings

PLAIN = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system message') }}{% endif %}" + PLAIN


def local(folder, **options):
    return LlmJudge(Settings(model=str(folder), backend="transformers", **options), JudgeRunTime(device="cpu"))


def local_model(folder):
    """A model of its own and its tokenizer, which tests may change."""
    runtime = JudgeRunTime(device="cpu")
    return LocalModel(str(folder), runtime), CausalModel.load(resolve(str(folder)), runtime).tokenizer


def messages():
    return [{"role": "system", "content": "S"}, {"role": "user", "content": "U <|x|> "}]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (None, "S\n\nU <|x|> \n\n"),
        (PLAIN, "<system>S<user>U <|x|> <assistant>"),
        (NO_SYSTEM, "<user>S\n\nU <|x|> <assistant>"),
    ],
)
def test_how_the_chat_is_written(make_causal, template, expected):
    chat, tokenizer = local_model(make_causal(2))
    tokenizer.chat_template = template
    assert tokenizer.decode(chat.encode(messages())[0]) == expected


def test_special_tokens_in_a_text_are_text(make_causal):
    """Whatever the tokenizer calls special; `json.loads` gives the text back."""
    chat, tokenizer = local_model(make_causal(2))
    tokenizer.add_special_tokens({"additional_special_tokens": ["##END##"]})
    tokenizer.chat_template = PLAIN
    material = json.dumps({"source": "a ##END## b"})
    ids = chat.encode([{"role": "system", "content": "S"}, {"role": "user", "content": material}])[0]
    assert tokenizer.convert_tokens_to_ids("##END##") not in ids.tolist()
    inside = tokenizer.decode(ids).partition("<user>")[2].partition("<assistant>")[0]
    assert json.loads(inside) == {"source": "a ##END## b"}


def test_models_that_cannot_be_used(make_checkpoint):
    with pytest.raises(CheckpointError):
        local(make_checkpoint(0)).score(["a"], ["a"])
    judge = LlmJudge(Settings(model="nowhere", backend="transformers"), JudgeRunTime(device="cpu,cpu"))
    with pytest.raises(ValueError, match="llm_judge: a local model answers on one device, got 'cpu,cpu'"):
        judge.load()
    with pytest.raises(ValueError, match="'bundled:impara_lm' was not made to answer; name a language model that was"):
        local("bundled:impara_lm").load()


def test_questions_that_do_not_fit(make_causal):
    result = local(make_causal(1), on_failure="skip").score(["He go ."], ["He goes ."])
    assert result.details["failures"] == {"too_long": 1}


def test_each_grade_is_the_most_probable_of_those_allowed(make_causal):
    import torch

    folder = make_causal(2, max_position_embeddings=8000)
    model = LocalModel(str(folder), JudgeRunTime(device="cpu"))
    reply = model.ask(messages(), answer_schema("ABC"))
    causal = CausalModel.load(resolve(str(folder)), JudgeRunTime(device="cpu"))
    text = '{"scores":{"A":'
    for index, grade in enumerate(map(int, re.findall(r"\d", reply.text))):
        # read anew from the start, without a cache of keys and values
        ids = torch.cat([model.encode(messages()), causal.tokenizer(text, return_tensors="pt")["input_ids"]], 1)
        with torch.inference_mode():
            logits = causal.model(input_ids=ids).logits[0, -1]
        digits = [causal.tokenizer.get_vocab()[digit] for digit in "12345"]
        assert grade == 1 + int(logits[digits].argmax())
        text += f'{grade},"{"ABC"[index + 1]}":' if index < 2 else f"{grade}}}}}"
    assert reply.text == text
    judge = local(folder, systems=[["He goes ."], ["He went ."]])
    result = judge.score(["He go ."], ["He goes ."])
    assert result.scores[0] in (1.0, 2.0, 3.0, 4.0, 5.0)
    assert (result.details["failed"], result.details["calls"]) == (0, 1)
    assert f"|model:{folder.name}@" in result.signature and "|dtype:float32|" in result.signature


def test_the_real_model_grades(smollm2):
    columns = ["She like cats ."] * 2, ["She likes cats .", "Cat cat cat the ."]
    result = local(smollm2).score(*columns)
    assert set(result.scores) <= {1.0, 2.0, 3.0, 4.0, 5.0} and result.details["failed"] == 0
    assert "|model:smollm2@b179c95|" in result.signature
    assert local(smollm2).score(*(column[::-1] for column in columns)).scores == result.scores[::-1]
