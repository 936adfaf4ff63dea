"""A tuned network as an adapter: exact where the change has the rank, else the best of that rank."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from geceval.learning.low_rank import as_adapter, lower_rank
from geceval.learning.network import new_network, save
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.models.loading import load_classifier
from geceval.models.pooling import logits
from geceval.models.tokenizers import load_tokenizer

TEXTS = ["the cat sat on the mat", "a dog runs to school", "the cat sit"]
LAYERS = ".encoder.layer."


@pytest.fixture
def tuned(make_checkpoint, tmp_path):
    """A function from a rank to a recipe and the weights of a network whose matrices all changed by that rank."""

    def make(rank):
        recipe = Recipe(base=str(make_checkpoint(1)), pooling="mean", head_deviation=0.2)
        network = new_network(recipe, resolve(recipe.base))
        generator = torch.Generator().manual_seed(rank)
        state = {name: value.clone() for name, value in network.state_dict().items()}
        for name, value in state.items():
            if LAYERS in name and value.ndim == 2:
                rows, columns = value.shape
                left = torch.randn(rows, rank, generator=generator)
                value += 0.1 * left @ torch.randn(rank, columns, generator=generator)
        state["classifier.bias"] += 0.5
        save_file(state, tmp_path / "network.safetensors")
        return recipe, tmp_path / "network.safetensors"

    return make


def scores(network, base):
    tokenizer = load_tokenizer(resolve(base))
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        return logits(network.eval(), batch, "mean")[:, 0].tolist()


def loaded(recipe, weights):
    network = new_network(recipe, resolve(recipe.base))
    network.load_state_dict(load_file(weights))
    return network


def test_a_change_of_the_rank_is_kept_whole(tuned, tmp_path):
    recipe, weights = tuned(3)
    adapted = as_adapter(recipe, weights, 3, tmp_path / "adapter.safetensors")
    assert adapted.lora_rank == 3
    expected = scores(loaded(recipe, weights), recipe.base)
    assert scores(loaded(adapted, tmp_path / "adapter.safetensors"), recipe.base) == pytest.approx(expected, abs=1e-4)
    # and not because nothing had changed
    assert scores(new_network(recipe, resolve(recipe.base)), recipe.base) != pytest.approx(expected, abs=1e-2)


def test_a_lower_rank_keeps_the_largest_singular_values(tuned, tmp_path):
    recipe, weights = tuned(3)
    adapted = as_adapter(recipe, weights, 1, tmp_path / "adapter.safetensors")
    merged = loaded(adapted, tmp_path / "adapter.safetensors").merge_and_unload().state_dict()
    base, whole = new_network(recipe, resolve(recipe.base)).state_dict(), load_file(weights)
    name = next(name for name in whole if LAYERS in name and whole[name].ndim == 2)
    values = torch.linalg.svdvals(whole[name] - base[name])
    lost = torch.linalg.matrix_norm(whole[name] - merged[name])
    assert lost.item() == pytest.approx(values[1:].norm().item(), rel=1e-4)  # Eckart and Young


def test_a_rank_beyond_the_matrix_is_padded(tuned, tmp_path):
    recipe, weights = tuned(2)
    adapted = as_adapter(recipe, weights, 500, tmp_path / "adapter.safetensors")
    expected = scores(loaded(recipe, weights), recipe.base)
    assert scores(loaded(adapted, tmp_path / "adapter.safetensors"), recipe.base) == pytest.approx(expected, abs=1e-4)


def test_the_checkpoint_scores_as_the_tuned_network(tuned, tmp_path):
    recipe, weights = tuned(2)
    adapted = as_adapter(recipe, weights, 2, tmp_path / "adapter.safetensors")
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    save(adapted, tmp_path / "adapter.safetensors", folder, {})
    found = scores(load_classifier(resolve(str(folder))), recipe.base)
    assert found == pytest.approx(
        scores(loaded(recipe, weights), recipe.base), abs=1e-2
    )  # adapters are kept in 16 bits


def test_what_cannot_be_an_adapter_of_lower_rank(tuned, tmp_path):
    recipe, weights = tuned(2)
    target = tmp_path / "adapter.safetensors"
    with pytest.raises(ValueError, match="rank of at least 1"):
        as_adapter(recipe, weights, 0, target)
    small = as_adapter(recipe, weights, 2, target)
    with pytest.raises(ValueError, match="weights were all tuned"):
        as_adapter(small, target, 2, tmp_path / "again.safetensors")


def test_a_lower_rank_keeps_the_largest_part_of_each_change(tmp_path):
    generator = torch.Generator().manual_seed(1)
    names = ("x.lora_A.default.weight", "x.lora_B.default.weight")
    first, second = torch.randn(6, 10, generator=generator), torch.randn(8, 6, generator=generator)
    save_file({names[0]: first, names[1]: second, "scale": torch.tensor(2.0)}, tmp_path / "whole")
    recipe = lower_rank(Recipe(lora_rank=6), tmp_path / "whole", 2, tmp_path / "small")
    found = load_file(tmp_path / "small")
    assert (recipe.lora_rank, found[names[0]].shape, found["scale"].item()) == (2, (2, 10), 2.0)
    # Eckart and Young: the error of the best approximation is the rest of the singular values.
    error = (second @ first - found[names[1]] @ found[names[0]]).norm().item()
    assert error == pytest.approx(torch.linalg.svdvals(second @ first)[2:].norm().item(), rel=1e-5)
    with pytest.raises(ValueError, match="an adapter of rank 6 cannot be kept at rank 7"):
        lower_rank(Recipe(lora_rank=6), tmp_path / "whole", 7, tmp_path / "small")
