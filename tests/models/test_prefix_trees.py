"""Texts that share their beginnings: the same numbers as one by one, each prefix read once."""

import random
import shutil

import numpy as np
import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models.causal import CausalModel, QualityHead
from geceval.models.checkpoints import resolve
from geceval.models.prefix_trees import grow, most_nodes

WORDS = ["the", "cat", "sat", "on", "a", "mat", ",", "dogs", "run", "home", ".", "likes", "school", "very", "well"]


def variants(dice: random.Random, words: int, count: int) -> list[str]:
    """What several systems make of one sentence: words left out, replaced or added; some leave it alone."""
    source = dice.choices(WORDS, k=words)
    found = []
    for _ in range(count):
        text = list(source)
        for _ in range(dice.randint(0, 3)):
            where = dice.randint(0, len(text))
            text[where : where + dice.randint(0, 1)] = dice.choices(WORDS, k=dice.randint(0, 2))
        found.append(" ".join(text))
    return found


def groups(count: int) -> list[list[str]]:
    """Groups of 1 to 15 variants of short and empty sentences, one in a hundred of 300 words."""
    dice = random.Random(7)
    lengths = [300 if number % 100 == 50 else None for number in range(count)]
    return [variants(dice, length or dice.randint(0, 12), dice.randint(1, 15)) for length in lengths]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request, make_causal):
    folder = make_causal(3, request.param, max_position_embeddings=1200)
    loaded = CausalModel.load(resolve(folder), RunTime())
    weight = torch.linspace(-1, 1, loaded.model.config.hidden_size)
    return CausalModel(loaded.model, loaded.tokenizer, loaded.max_length, head=QualityHead(1, weight))


def fresh(model, trees=True):
    """The same model with nothing remembered; without trees, it reads each text by itself."""
    other = CausalModel(model.model, model.tokenizer, model.max_length, head=model.head)
    other._most_nodes = other._most_nodes if trees else 0
    return other


def test_500_groups_of_variants_equal_plain_batches(model):
    texts = [text for group in groups(500) for text in group]
    assert "" in texts and len(set(texts)) < len(texts)
    lengths = model.token_counts(texts)
    assert max(lengths) > model.max_length and any(1000 < length < model.max_length for length in lengths)
    random.Random(1).shuffle(texts)
    expected, values = fresh(model, trees=False).log_probs_and_heads(texts)
    found, heads = fresh(model).log_probs_and_heads(texts, RunTime(batch_size=64))
    assert [len(row) for row in found] == [len(row) for row in expected]
    assert np.concatenate(found) == pytest.approx(np.concatenate(expected), abs=1e-4)
    assert heads == pytest.approx(values, abs=1e-4)
    assert np.ptp(values) > 0.1


def test_mean_states(model):
    texts = ["the cat sat on a mat .", "the cat sat on a dog", "", "the cat sat"]
    found, expected = (fresh(model, trees).mean_states(texts, 2) for trees in (True, False))
    assert found == pytest.approx(expected, abs=1e-5)
    assert not found[2].any() and found[0].any()


def test_trees_by_hand():
    texts = [[0, 1, 2, 3, 4, 6], [0, 7], [0, 1, 2, 3, 4, 5, 8], [0], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]
    empty, tree, alone = grow(texts, most=8)
    assert (empty.texts, empty.paths, empty.row) == ([3], [[0]], {"input_ids": [0]})
    assert tree.texts == [4, 5, 2, 0]
    beginning = [0, 1, 2, 3, 4]
    assert tree.paths == [[*beginning, 5], [*beginning, 5], [*beginning, 5, 6], [*beginning, 7]]
    assert tree.row == {
        "input_ids": [0, 1, 2, 3, 4, 5, 8, 6],
        "position_ids": [0, 1, 2, 3, 4, 5, 6, 5],
        "parents": [0, 0, 1, 2, 3, 4, 5, 4],
        "ends": [8, 8, 8, 8, 8, 7, 7, 8],
    }
    assert alone.texts == [1]
    assert [tree.texts for tree in grow(texts, most=7)] == [[3], [4, 5, 2], [0], [1]]
    assert [len(tree.texts) for tree in grow(texts, most=0)] == [1] * 6


def test_a_network_that_takes_no_tree_is_read_text_by_text():
    torch.manual_seed(0)
    config = transformers.OpenAIGPTConfig(vocab_size=20, n_embd=8, n_layer=1, n_head=2, n_positions=20)
    assert most_nodes(transformers.OpenAIGPTLMHeadModel(config).eval()) == 0


def test_an_error_that_is_no_refusal_of_a_tree_is_raised(model, monkeypatch):
    forward = model.model.base_model.forward

    def fail(attention_mask=None, position_ids=None, **batch):
        if position_ids is not None:
            raise AttributeError("a mistake of ours")
        return forward(attention_mask=attention_mask, **batch)

    monkeypatch.setattr(model.model.base_model, "forward", fail)
    with pytest.raises(AttributeError, match="a mistake of ours"):
        most_nodes(model.model)


@pytest.mark.parametrize("kind", ["Bloom", "Mistral"])
def test_networks_that_look_back_in_another_way(make_causal, tmp_path, kind):
    """Bloom has no positions; a token of this Mistral sees 24, and a row that is no longer has nothing out of sight."""
    folder = shutil.copytree(make_causal(5, "llama"), tmp_path / kind)
    torch.manual_seed(0)
    sizes = {"vocab_size": 257, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    if kind == "Mistral":
        sizes |= {"num_key_value_heads": 2, "intermediate_size": 32, "sliding_window": 24}
    config = getattr(transformers, f"{kind}Config")(**sizes, initializer_range=0.3, bos_token_id=0, eos_token_id=0)
    getattr(transformers, f"{kind}ForCausalLM")(config).save_pretrained(folder)
    reader = CausalModel.load(resolve(folder), RunTime())
    assert reader._most_nodes == {"Bloom": 0, "Mistral": 24}[kind]
    texts = [text for group in groups(20) for text in group]
    expected = fresh(reader, trees=False).perplexities(texts)
    assert fresh(reader).perplexities(texts) == pytest.approx(expected, rel=1e-4)
