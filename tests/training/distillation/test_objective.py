"""What a student learns: the losses by hand, q as the metric computes it, and the weights of its file."""

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from geceval.core.options import RunTime
from geceval.learning.network import write_network
from geceval.learning.recipe import Recipe
from geceval.models.causal import QualityHead, save_quality_head
from geceval.models.checkpoints import resolve
from geceval.models.quantised import read_weights
from geceval.scorers.impara_lm import ImparaLm, Settings
from recipes.distillation.groups import Group
from recipes.distillation.objective import (
    BITS,
    IGNORED,
    Distillation,
    TreeCollator,
    distance,
    restore_weights,
    round_weights,
)
from recipes.distillation.teacher import Scored
from recipes.quantising import write_weights

START = "<|endoftext|>"
GROUPS = [Group(("the cat sat .", "the cats sit on a mat .", "dogs")), Group(("a dog likes", "the school"))]


@pytest.fixture
def student(merged):
    network = Distillation(START).network(Recipe(base=str(merged)), resolve(str(merged)))
    torch.nn.init.normal_(network.slow_head, std=0.1, generator=torch.Generator().manual_seed(2))
    return network.eval()


@pytest.fixture
def cost(student, merged):
    """From the values of groups to their loss, and the student's and the expected differences."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(merged)

    def compute(*values, by_people=False):
        rows = [Scored(group, np.array(own), by_people) for group, own in zip(GROUPS, values, strict=False)]
        with torch.no_grad():
            return Distillation(START).cost(student, TreeCollator(0)(Distillation(START).encode(rows, tokenizer, 64)))

    return compute


def test_differences_are_those_of_the_metric(student, cost, merged, tmp_path):
    loss, found, expected = cost([0, 1, 2], [0, 1], by_people=True)
    settings = {"start_token": START, "scale": 0.0, "head_layer": 4}
    restore_weights(student.network)
    write_network(Recipe(base=str(merged)), resolve(str(merged)), student.network, tmp_path, settings)
    weights_file = tmp_path / "model.safetensors"
    write_weights(load_file(weights_file), weights_file, BITS)
    save_quality_head(QualityHead(4, student.head().detach()), tmp_path)
    scorer = ImparaLm(Settings(model=str(tmp_path), guard="off"), RunTime(dtype="float32"))
    first, second = ([scorer.score(["x"], [text]).score for text in group.texts] for group in GROUPS)
    by_metric = [first[0] - first[1], first[0] - first[2], first[1] - first[2]]
    assert found[0].tolist() == pytest.approx(by_metric, abs=5e-3)
    assert found[1].tolist() == pytest.approx([second[0] - second[1], IGNORED, IGNORED], abs=5e-3)
    assert expected.tolist() == [[-1, -2, -1], [-1, IGNORED, IGNORED]]
    margins = -np.array([*by_metric, second[0] - second[1]])  # the second of each pair is the better
    assert loss.item() == pytest.approx(np.logaddexp(0, -margins).mean(), abs=5e-3)


def test_differences_beyond_the_clip_cost_nothing_on_the_right_side():
    found, expected = torch.tensor([3.0, 2.0, -4.0, 0.0]), torch.tensor([20.0, 20.0, -3.0, -20.0])
    # The clip is 2.5: the second lacks .5, whose square is halved, the last 2.5, less a half.
    assert distance(found, expected).item() == pytest.approx((0.5**2 / 2 + 2.5 - 0.5) / 4)


@pytest.fixture
def network():
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Embedding(96, 64), torch.nn.Linear(64, 64), torch.nn.Linear(64, 2))
    layers[1].weight.data[0] = 0  # a row without any weight
    return layers


def test_a_network_answers_as_what_its_file_holds(network, tmp_path):
    ids = torch.arange(96)
    learnt = {name: value.clone() for name, value in network.state_dict().items()}
    round_weights(network)
    answer = network(ids)
    restore_weights(network)
    restored = network.state_dict()
    assert restored.keys() == learnt.keys() and all(torch.equal(restored[name], learnt[name]) for name in learnt)
    assert not torch.allclose(network(ids), answer, atol=1e-5)
    path = tmp_path / "model.safetensors"
    write_weights(learnt, path, BITS)
    network.load_state_dict(read_weights(path))
    torch.testing.assert_close(network(ids), answer, atol=2e-3, rtol=0)  # vectors and the small matrix: float16
