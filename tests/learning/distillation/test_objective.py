"""What a student learns: the losses by hand, and q as the metric computes it."""

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from geceval.core.options import RunTime
from geceval.learning.distillation.groups import Group
from geceval.learning.distillation.objective import Distillation, Rated, TreeCollator, token_loss
from geceval.learning.distillation.rounding import restore_weights
from geceval.learning.distillation.teacher import Teacher
from geceval.learning.network import write_network
from geceval.learning.objective import IGNORED
from geceval.learning.recipe import Recipe
from geceval.models.causal import QualityHead, save_quality_head
from geceval.models.checkpoints import resolve
from geceval.models.quantised import write_weights
from geceval.scorers.impara_lm import ImparaLm, Settings

START = "<|endoftext|>"
GROUPS = [Group(("the cat sat .", "the cats sit on a mat .", "dogs")), Group(("a dog likes", "the school"))]


@pytest.fixture(scope="module")
def tokenizer(merged):
    return transformers.AutoTokenizer.from_pretrained(merged)


def new_network(merged, tokenizer, weights):
    network = Distillation(tokenizer, START, weights, 8).network(Recipe(base=str(merged)), resolve(str(merged)))
    torch.nn.init.normal_(network.slow_head, std=0.1, generator=torch.Generator().manual_seed(2))
    return network.eval()


@pytest.fixture
def network(merged, tokenizer):
    """All losses, and weights that are not rounded."""
    network = new_network(merged, tokenizer, (1, 1, 1))
    restore_weights(network.network)
    return network


@pytest.fixture(scope="module")
def scored(merged):
    return list(Teacher(resolve(str(merged)), RunTime(dtype="float32"), 280, 64).score(GROUPS))


def batch_of(tokenizer, rows, weights=(1, 1, 1)):
    objective = Distillation(tokenizer, START, weights, 8)
    return objective, TreeCollator(0)(objective.encode(rows, tokenizer, 64))


@pytest.mark.parametrize("weights", [(1, 1, 1), (0, 1, 1)])
def test_differences_are_those_of_the_metric(tokenizer, merged, tmp_path, weights):
    network = new_network(merged, tokenizer, weights)
    assert (network.scale() == 0) == (weights[0] == 0)
    rows = [Rated(group, np.arange(len(group.texts))) for group in GROUPS]
    objective, batch = batch_of(tokenizer, rows, weights)
    with torch.no_grad():
        loss, found, wanted = objective.cost(network, batch)
    base = resolve(str(merged))
    settings = {"start_token": START, "scale": network.scale().item(), "head_layer": 4}
    restore_weights(network.network)
    write_network(Recipe(base=str(merged)), base, network.network, tmp_path, settings)
    weights_file = tmp_path / "model.safetensors"
    write_weights(load_file(weights_file), weights_file, 8)
    save_quality_head(QualityHead(4, network.head().detach()), tmp_path)
    scorer = ImparaLm(Settings(model=str(tmp_path)), RunTime(dtype="float32"))
    first, second = ([scorer.score(["x"], [text]).score for text in group.texts] for group in GROUPS)
    expected = [first[0] - first[1], first[0] - first[2], first[1] - first[2]]
    assert found[0].tolist() == pytest.approx(expected, abs=5e-3)
    assert found[1].tolist() == pytest.approx([second[0] - second[1], IGNORED, IGNORED], abs=5e-3)
    assert wanted.tolist() == [[-1, -2, -1], [-1, IGNORED, IGNORED]]
    margins = -np.array([*expected, second[0] - second[1]])  # the second of each pair is the better
    assert loss.item() == pytest.approx(np.logaddexp(0, -margins).mean(), abs=5e-3)


def test_a_student_that_is_its_teacher_has_nothing_to_learn_of_tokens(network, tokenizer, scored):
    objective, batch = batch_of(tokenizer, scored, (1, 0, 0))
    with torch.no_grad():
        assert objective.cost(network, batch)[0].item() == pytest.approx(0, abs=2e-3)
        network.network.model.norm.weight *= 0.5
        assert objective.cost(network, batch)[0].item() > 0.05


def test_differences_beyond_the_clip_cost_nothing_on_the_right_side(network, tokenizer, scored):
    torch.nn.init.zeros_(network.slow_head)
    far = [scored[0]._replace(values=np.array([20.0, 0.0, -20.0]))]
    objective, batch = batch_of(tokenizer, far, (0, 1, 0))
    with torch.no_grad():
        _, found, _ = objective.cost(network, batch)
    values = found[0]
    expected = [
        0 if value >= 2.5 else abs(2.5 - value) - 0.5 if value < 1.5 else (2.5 - value) ** 2 / 2 for value in values
    ]
    with torch.no_grad():
        assert objective.cost(network, batch)[0].item() == pytest.approx(np.mean(expected), abs=1e-4)


def test_texts_of_equal_worth_cost_nothing_of_their_order(network, tokenizer, scored):
    equal = [scored[0]._replace(values=np.ones(3, np.float32))]
    objective, batch = batch_of(tokenizer, equal, (0, 0, 1))
    assert objective.cost(network, batch)[0].item() == 0


def test_the_token_loss_takes_all_other_tokens_as_one():
    after = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
    ids, probabilities = torch.tensor([[1, 0, 1]]), torch.tensor([[0.5, 0.25, 0.0]])
    # others: the teacher gives them .25, the student the same
    expected = 0.5 * np.log(0.5 / 0.25) + 0.25 * np.log(0.25 / 0.5)
    assert token_loss(after, ids, probabilities).item() == pytest.approx(expected, abs=1e-6)


def test_accuracy_counts_pairs_that_differ_enough(tokenizer):
    objective = Distillation(tokenizer, START, (1, 1, 1), 8)
    answers, expected = (
        np.array([[1.0, -1.0, 5.0], [-0.1, 9.0, -100.0]]),
        np.array([[0.4, 0.5, 0.3], [-2.0, -100.0, -100.0]]),
    )
    assert objective.metrics(answers, expected) == {"accuracy": pytest.approx(2 / 3)}
    assert objective.selection({"held_loss": 2.0}) == 2.0
    assert objective.selection({"held_loss": 2.0, "held_accuracy": 0.5, "rated_accuracy": 0.75}) == 0.375
