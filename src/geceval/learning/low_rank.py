"""Adapters of a lower rank than what was learnt: of weights that were all tuned, or of an adapter, with least error."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from geceval.core.errors import InputError
from geceval.learning.network import new_network
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve


def as_adapter(recipe: Recipe, weights: Path, rank: int, target: Path) -> Recipe:
    """Replace the change of every matrix that an adapter can change by its best approximation of the given rank."""
    # The approximation is the one with the least squared error (Eckart and Young, 1936: the largest singular values).
    # The head stays as it is; what tuning did to embeddings, biases and normalisations is left out.
    from peft.tuners.lora import Linear
    from torch.nn.functional import pad

    if rank < 1 or recipe.lora_rank:
        raise InputError("an adapter can be made of a network whose weights were all tuned, with a rank of at least 1")
    recipe = dataclasses.replace(recipe, lora_rank=rank)
    tuned = load_file(weights)
    network = new_network(recipe, resolve(recipe.base))
    state = network.state_dict()
    prefix = "base_model.model."
    for name, module in network.named_modules():
        if isinstance(module, Linear):
            change = tuned[f"{name.removeprefix(prefix)}.weight"].float() - module.base_layer.weight.detach()
            left, values, right = torch.linalg.svd(change, full_matrices=False)
            missing = max(0, rank - len(values))  # where the matrix has fewer singular values than the rank
            state[f"{name}.lora_B.default.weight"] = pad(left[:, :rank] * values[:rank], (0, missing))
            state[f"{name}.lora_A.default.weight"] = pad(right[:rank], (0, 0, 0, missing))
    for name in state:
        if ".modules_to_save.default." in name:
            state[name] = tuned[name.removeprefix(prefix).replace(".modules_to_save.default", "")]
    save_file({name: value.contiguous() for name, value in state.items()}, target)
    return recipe


def lower_rank(recipe: Recipe, weights: Path, rank: int, target: Path) -> Recipe:
    """Replace the change that an adapter makes to each matrix by its best approximation of a lower rank."""
    if not 1 <= rank <= recipe.lora_rank:
        raise InputError(f"an adapter of rank {recipe.lora_rank} cannot be kept at rank {rank}")
    state = load_file(weights)
    for name in [name for name in state if ".lora_A." in name]:
        other = name.replace(".lora_A.", ".lora_B.")
        left, values, right = torch.linalg.svd(state[other] @ state[name], full_matrices=False)
        state[other] = (left[:, :rank] * values[:rank]).contiguous()
        state[name] = right[:rank].contiguous()
    save_file(state, target)
    return dataclasses.replace(recipe, lora_rank=rank)
