"""The ridge regression that starts an output layer."""

import numpy as np
import pytest
import torch

from geceval.learning.some.probe import fit_output_layer, output_layer, ridge


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(200, 4)) * [1, 5, 0.1, 2] + 3
    return torch.from_numpy(states), torch.from_numpy(states @ [1.0, 0.2, -3.0, 0.0] + 7 + rng.normal(size=200) * 0.01)


def test_without_a_penalty_it_is_least_squares(data):
    states, ratings = data
    table = np.column_stack([states, np.ones(200)])
    expected = np.linalg.lstsq(table, ratings.numpy(), rcond=None)[0]
    weight, bias = ridge(states, ratings, 1e-9, intercept=True)
    assert [*weight.tolist(), bias.item()] == pytest.approx(expected.tolist(), abs=1e-6)
    expected = np.linalg.lstsq(states.numpy(), ratings.numpy(), rcond=None)[0]
    weight, bias = ridge(states, ratings, 1e-9, intercept=False)
    assert weight.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert bias.item() == 0


def test_the_unit_of_a_dimension_does_not_matter(data):
    states, ratings = data
    weight, bias = ridge(states, ratings, 50.0, intercept=True)
    scaled, other = ridge(states * torch.tensor([10.0, 1, 1, 1]), ratings, 50.0, intercept=True)
    assert (scaled * torch.tensor([10.0, 1, 1, 1])).tolist() == pytest.approx(weight.tolist(), rel=1e-4)
    assert other.item() == pytest.approx(bias.item(), rel=1e-4)
    assert weight.norm() < ridge(states, ratings, 1e-9, intercept=True)[0].norm()


@pytest.mark.parametrize("bias", [True, False])
def test_the_layer_is_filled_and_the_model_left_as_it_was(data, bias):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.other = torch.nn.Linear(4, 1)
            self.dropout, self.score = torch.nn.Dropout(0.9), torch.nn.Linear(4, 1, bias=bias)

        def forward(self, states):
            return self.score(self.dropout(states))[:, 0]

    model, (states, ratings) = Model().train(), data
    before = model.other.weight.clone()
    batches = [{"states": states[i : i + 50].float(), "labels": ratings[i : i + 50]} for i in range(0, 200, 50)]
    fit_output_layer(model, model, batches, 1e-6)
    assert output_layer(model) is model.score
    assert model.training
    assert torch.equal(model.other.weight, before)
    error = model.eval()(states.float()) - ratings
    assert error.abs().max() < (0.1 if bias else 3)
    assert not model.score._forward_pre_hooks
