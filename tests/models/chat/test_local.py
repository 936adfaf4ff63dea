"""Local causal language models as judges: random ones, and one that is built to say the same always."""

import json
import math
import re

import pytest

from geceval.models.causal import CausalModel
from geceval.models.chat.local import LocalModel
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.scorers.judge.answers import answer_schema
from geceval.scorers.judge.settings import JudgeRunTime, Settings
from geceval.scorers.llm_judge import LlmJudge

ANSWER = '{"scores": {"A": 4}}'
PLAIN = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system message') }}{% endif %}" + PLAIN


@pytest.fixture(scope="session")
def stubborn(make_causal):
    """A causal language model whose most probable token is `ANSWER`, and after that the end.

    Its blocks add nothing to the one-hot embedding of the last token, which layer normalisation makes positive in its
    own place and slightly negative elsewhere. The row of `ANSWER` sums all other places: slightly positive unless the
    last token is `ANSWER`. The row of the end looks at the place of `ANSWER` alone.
    """
    import torch
    import transformers

    folder = make_causal(0, max_position_embeddings=8000)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([ANSWER])
    size, spoken = len(tokenizer), len(tokenizer) - 1
    size += size % 2
    config = transformers.GPT2Config(
        vocab_size=size, n_embd=size, n_layer=1, n_head=2, n_positions=8000, n_inner=4, tie_word_embeddings=False,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for parameter in model.transformer.parameters():
            parameter.zero_()
        model.transformer.wte.weight.copy_(torch.eye(size))
        model.transformer.ln_f.weight.fill_(1.0)
        model.lm_head.weight.zero_()
        model.lm_head.weight[spoken] = 1.0
        model.lm_head.weight[spoken, spoken] = 0.0
        model.lm_head.weight[0, spoken] = 1.0
    model.generation_config.repetition_penalty = 5.0  # a habit that must not matter
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def local(folder, **options):
    return LlmJudge(Settings(model=str(folder), backend="transformers", **options), JudgeRunTime(device="cpu"))


def test_a_model_that_can_grade(stubborn):
    result = local(stubborn).score(["He go .", "A b"], ["He goes .", "A b"])
    assert result.scores == [4.0, 4.0]
    assert (result.details["calls"], result.details["completion_tokens"]) == (2, 4)  # the answer and the end, twice
    assert f"|model:{stubborn.name}@" in result.signature
    assert "|dtype:float32|" in result.signature


def test_a_random_model_gives_no_valid_answer(make_causal):
    folder = make_causal(1, max_position_embeddings=8000)
    result = local(folder, on_failure="skip", max_tokens=5).score(["He go ."], ["He goes ."])
    assert math.isnan(result.scores[0])
    assert result.details["failures"] == {"malformed": 1}
    assert result.details["calls"] == 1  # the same question has the same answer
    assert result.details["completion_tokens"] <= 5


def test_questions_that_do_not_fit(make_causal):
    result = local(make_causal(1), on_failure="skip").score(["He go ."], ["He goes ."])
    assert result.details["failures"] == {"too_long": 1}


def local_model(folder):
    """A model of its own and its tokenizer, which tests may change."""
    runtime = JudgeRunTime(device="cpu")
    model = LocalModel(str(folder), runtime, 5)
    return model, CausalModel.load(resolve(str(folder)), runtime).tokenizer  # the same object


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
    assert tokenizer.decode(chat.encode(messages())["input_ids"][0]) == expected


def test_one_device_only():
    judge = LlmJudge(Settings(model="nowhere", backend="transformers"), JudgeRunTime(device="cpu,cpu"))
    with pytest.raises(ValueError, match="llm_judge: a local model answers on one device, got 'cpu,cpu'"):
        judge.load()


def test_special_tokens_in_a_text_are_text(make_causal):
    """Whatever the tokenizer calls special; `json.loads` gives the text back."""
    chat, tokenizer = local_model(make_causal(2))
    tokenizer.add_special_tokens({"additional_special_tokens": ["##END##"]})
    tokenizer.chat_template = PLAIN
    material = json.dumps({"source": "a ##END## b"})
    ids = chat.encode([{"role": "system", "content": "S"}, {"role": "user", "content": material}])["input_ids"][0]
    assert tokenizer.convert_tokens_to_ids("##END##") not in ids.tolist()
    inside = tokenizer.decode(ids).partition("<user>")[2].partition("<assistant>")[0]
    assert json.loads(inside) == {"source": "a ##END## b"}


def test_what_is_no_causal_language_model(make_checkpoint):
    with pytest.raises(CheckpointError):
        local(make_checkpoint(0)).score(["a"], ["a"])


def test_by_schema_a_random_model_answers_in_the_right_form(make_causal):
    folder = make_causal(1, max_position_embeddings=8000)
    judge = local(folder, response_format="json_schema", systems=[["He goes ."], ["He went ."]])
    result = judge.score(["He go ."], ["He goes ."])
    assert result.scores[0] in (1.0, 2.0, 3.0, 4.0, 5.0)
    assert (result.details["failed"], result.details["calls"]) == (0, 1)


def test_by_schema_each_grade_is_the_most_probable_of_those_allowed(make_causal):
    import torch

    folder = make_causal(2, max_position_embeddings=8000)
    model = LocalModel(str(folder), JudgeRunTime(device="cpu"), 5, by_schema=True)
    chosen = [int(grade) for grade in re.findall(r"\d", model.ask(messages(), answer_schema("ABC")).text)]
    causal = CausalModel.load(resolve(str(folder)), JudgeRunTime(device="cpu"))
    text = '{"scores":{"A":'
    for index, grade in enumerate(chosen):  # read anew from the start, without a cache of keys and values
        ids = torch.cat(
            [model.encode(messages())["input_ids"], causal.tokenizer(text, return_tensors="pt")["input_ids"]], 1
        )
        with torch.inference_mode():
            logits = causal.model(input_ids=ids).logits[0, -1]
        digits = [causal.tokenizer.get_vocab()[digit] for digit in "12345"]
        assert grade == 1 + int(logits[digits].argmax())
        text += f'{grade},"{"ABC"[index + 1]}":' if index < 2 else f"{grade}}}}}"
    assert model.ask(messages(), answer_schema("ABC")).text == text


def test_the_real_model_grades_by_schema(smollm2):
    columns = ["She like cats ."] * 2, ["She likes cats .", "Cat cat cat the ."]
    result = local(smollm2, response_format="json_schema").score(*columns)
    assert set(result.scores) <= {1.0, 2.0, 3.0, 4.0, 5.0} and result.details["failed"] == 0
    assert "|model:smollm2@b179c95|" in result.signature
    again = local(smollm2, response_format="json_schema").score(*(column[::-1] for column in columns))
    assert again.scores == result.scores[::-1]


def test_the_real_model_writes_no_valid_answer_of_its_own(smollm2):
    result = local(smollm2, on_failure="skip", max_tokens=12).score(["She like cats ."], ["She likes cats ."])
    assert result.details["failures"] == {"malformed": 1}
