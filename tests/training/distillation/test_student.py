"""The student before it learns."""

import json

import pytest
import tokenizers
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from recipes.distillation.student import cut_tokenizer, make_student, needed_tokens

STRANGE = "the cats sit: \u00fcn\u00efc\u00f6de \u2603 \U0001f600\ttabs"


@pytest.fixture(scope="module")
def tokenizer(merged):
    return transformers.AutoTokenizer.from_pretrained(merged)


def ids(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def test_a_token_is_kept_with_what_it_is_merged_from(tokenizer):
    (cat,) = ids(tokenizer, " cat")
    kept = needed_tokens(tokenizer, {cat: 9}, 262, ["<|endoftext|>"])
    names = tokenizer.convert_ids_to_tokens(kept)
    assert "\u0120cat" in names and "<|endoftext|>" in names and "<other>" not in names
    assert len(kept) < 262  # nothing else is counted
    smaller = cut_tokenizer(tokenizer, kept)
    assert smaller.convert_ids_to_tokens(ids(smaller, "a cat")) == ["a", "\u0120cat"]
    assert len(smaller) == len(kept)


def test_special_tokens_need_not_be_in_the_vocabulary_of_the_model(tokenizer):
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    special = ["<first>", "<|start|>"]
    content["added_tokens"] = [
        {**content["added_tokens"][0], "id": len(tokenizer) + place, "content": token}
        for place, token in enumerate(special)
    ]
    outside = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(content)), bos_token="<|start|>"
    )
    assert outside.bos_token_id == len(tokenizer) + 1
    (cat,) = ids(outside, " cat")
    kept = needed_tokens(outside, {cat: 9, outside.bos_token_id: 9, len(tokenizer): 9}, 270, ["<|start|>"])
    assert kept[-1] == outside.bos_token_id and len(tokenizer) not in kept
    smaller = cut_tokenizer(outside, kept)
    assert ids(smaller, "<|start|> cat") == [kept.index(outside.bos_token_id), kept.index(cat)]
    assert smaller.bos_token_id == len(smaller) - 1


def test_with_all_layers_and_tokens_nothing_changes(merged, tokenizer, tmp_path):
    teacher = CausalModel.load(resolve(str(merged)), RunTime(dtype="float32"))
    make_student(teacher, 4, range(len(tokenizer)), tmp_path)
    student = CausalModel.load(resolve(str(tmp_path)), RunTime(dtype="float32"))
    told, learnt = (torch.tensor(model.token_log_probs([STRANGE])[0]) for model in (teacher, student))
    assert torch.equal(told, learnt)
