"""Weights that are rounded while they learn are those of the file, and gradients pass through the rounding."""

import pytest
import torch

from geceval.learning.distillation.rounding import restore_weights, round_weights
from geceval.models.quantised import read_weights, write_weights


@pytest.fixture
def network():
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Embedding(96, 64), torch.nn.Linear(64, 64), torch.nn.Linear(64, 2))
    layers[1].weight.data[0] = 0  # a row without any weight
    return layers


@pytest.mark.parametrize("bits", [4, 8])
def test_a_network_answers_as_what_its_file_holds(network, bits, tmp_path):
    ids = torch.arange(96)
    learnt = {name: value.clone() for name, value in network.state_dict().items()}
    round_weights(network, bits)
    answer = network(ids)
    restore_weights(network)
    assert {name: value.tolist() for name, value in network.state_dict().items()} == {
        name: value.tolist() for name, value in learnt.items()
    }
    assert not torch.allclose(network(ids), answer, atol=1e-5)
    path = tmp_path / "model.safetensors"
    write_weights(learnt, path, bits)
    network.load_state_dict(read_weights(path))
    torch.testing.assert_close(network(ids), answer, atol=2e-3, rtol=0)  # vectors and the small matrix: float16


def test_gradients_pass_as_if_nothing_were_rounded(network):
    round_weights(network, 4)
    network(torch.arange(96)).sum().backward()
    stored = network[1].parametrizations.weight.original
    # The sum of outputs depends on weight [i, j] by the sum over i of the next layer's rows, times that of inputs j.
    expected = torch.outer(network[2].weight.sum(0), network[0].weight.sum(0))
    torch.testing.assert_close(stored.grad, expected, atol=1e-3, rtol=1e-4)
