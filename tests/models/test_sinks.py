"""States on which a network rests its attention, and what looks like a special token, do not count."""

import numpy as np
import pytest
import torch

from geceval.models.causal import SINK, CausalModel, QualityHead
from geceval.models.checkpoints import resolve
from geceval.models.regressors import LOWEST, StateRegressor


@pytest.fixture
def model(make_causal):
    """A network whose states of `#` are far longer than others, with a head."""
    model = CausalModel.load(resolve(str(make_causal(4, "llama"))))
    model.head = QualityHead(1, torch.linspace(-1, 1, 16))
    mark = model.tokenizer.convert_tokens_to_ids("#")
    with torch.no_grad():
        model.model.get_input_embeddings().weight[mark] *= 100 * SINK
    return model


def test_a_sink_adds_nothing_to_the_mean(model):
    plain, marked, alone = model.mean_states(["the cat", "the cat#", "##"], 1)
    assert marked == pytest.approx(plain, abs=1e-5) and plain.any()
    assert not alone.any()


def test_nor_to_the_head_whether_or_not_likelihoods_are_read(model):
    texts = ["the cat", "the cat#", "##", "#"]
    values = model.head_values(texts)
    assert values[1] == pytest.approx(values[0], abs=1e-5) and values[0] != 0
    assert values[2] == values[3] == 0
    rows, together = model.log_probs_and_heads(texts)
    assert together == pytest.approx(values, abs=1e-5)
    assert [len(row) for row in rows] == [7, 8, 2, 1] and all(np.isfinite(row).all() for row in rows)


def test_a_text_of_sinks_has_the_lowest_rating(model):
    regressor = StateRegressor(model, model.head, bias=3.0)
    plain, alone, empty = regressor.logits(["the cat", "##", ""])[:, 0]
    assert alone == empty == LOWEST != plain


def test_what_looks_like_a_special_token_is_text(make_causal):
    model = CausalModel.load(resolve(str(make_causal(4))))
    assert model.token_counts(["a<|endoftext|>"]) == [1 + len("<|endoftext|>")]  # a token a byte
    (row,) = model.token_log_probs(["<|endoftext|>"])
    assert row.sum() < model.end_log_prob()


def test_the_warning_of_cut_texts_says_what_becomes_of_the_rest(model, caplog):
    model.max_length = 4
    model.head_values(["the cat sat"])
    assert caplog.messages[-1].endswith("; what lies beyond does not count")
    model.token_log_probs(["the cat sat"])
    assert caplog.messages[-1].endswith("; what lies beyond is taken to be as probable as what was read")
