"""Token states after some layers are those of the whole network, and the layers above are not computed."""

import pytest
import torch

from geceval.models.causal import states_after
from geceval.models.checkpoints import resolve
from geceval.models.loading import load_encoder

INPUTS = {
    "input_ids": torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]),
}


@pytest.fixture(params=["gpt2", "llama"])
def body(request, make_causal):
    return load_encoder(resolve(make_causal(3, request.param)))


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_they_are_the_hidden_states_of_transformers(body, layers):
    with torch.inference_mode():
        expected = body(**INPUTS, output_hidden_states=True).hidden_states
        found = states_after(body, INPUTS, layers)
        again = body(**INPUTS, output_hidden_states=True).hidden_states
    assert torch.equal(found, expected[layers])
    assert len(again) == 3 and all(torch.equal(one, other) for one, other in zip(expected, again, strict=True))


def test_layers_above_are_not_computed(body):
    stack = next(part for part in body.children() if isinstance(part, torch.nn.ModuleList))
    with torch.inference_mode():
        expected = states_after(body, INPUTS, 1)
        for part in stack[1].children():
            part.register_forward_pre_hook(lambda *_: pytest.fail("the second layer was computed"))
        assert torch.equal(states_after(body, INPUTS, 1), expected)
        assert states_after(body, INPUTS, 0).isfinite().all()
