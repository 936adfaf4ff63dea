"""An encoder as an adapter over another: the change of each matrix at a low rank, then learnt on texts.

Each matrix is approximated where its inputs are: with C = L L' the mean of x x' over inputs x of a linear layer, the
factors are those of the largest singular values of its change times L, which gives the least squared error of what the
layer computes; rows of embeddings are weighted by how often their token occurs. Since errors of the layers add up, all
factors then learn to give the token states of the other encoder, the one next to the inputs as a product with the
inverse of L: a step then changes what a layer computes by as much in the rare directions of its inputs as in others.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils import parametrize

from geceval.models.batched_model import pad
from geceval.models.devices import pick_device
from geceval.models.library_messages import quiet
from recipes.quantising import write_weights

EMBEDDINGS = "word_embeddings"
LINEAR = ["query", "key", "value", "dense"]
WHOLE = ["LayerNorm", "position_embeddings", "token_type_embeddings"]
RANKS = (64, 32)

_PREFIX = "base_model.model."
_SAMPLE = 1000  # texts whose token states weight the factors
_BATCH = 32
_WARM_UP = 20
_LAST = 6  # weight of the last layer's states beside that of each other layer

Batch = dict[str, torch.Tensor]


def fit(
    target: Any, base: Any, texts: Sequence[Sequence[int]], ranks: tuple[int, int] = RANKS, learning_rate: float = 3e-4
) -> Any:
    """`base` with an adapter by which its token states are nearly those of `target`."""
    adapted = _with_adapter(base, ranks)
    counts = torch.bincount(torch.tensor(list(itertools.chain.from_iterable(texts))))
    _start(adapted, target, list(_batches(texts[:_SAMPLE])), counts)
    batches = list(_batches(texts))
    random.Random(1).shuffle(batches)
    _learn(adapted, target, batches, learning_rate)
    for module in adapted.modules():
        if parametrize.is_parametrized(module):
            parametrize.remove_parametrizations(module, "weight")
    return adapted


def save(adapted: Any, base: str, folder: Path) -> None:
    """Write the adapter in 8 bits, and what peft needs to know of it."""
    from peft import get_peft_model_state_dict

    config = adapted.peft_config["default"]
    config.base_model_name_or_path, config.inference_mode = base, True
    config.save_pretrained(folder)
    with quiet():
        state = get_peft_model_state_dict(adapted, save_embedding_layers=False)
    # peft gives the biases of whole modules a second time, under names that it cannot load
    state = {name: weights for name, weights in state.items() if ".modules_to_save." not in name}
    write_weights(state, folder / "adapter_model.safetensors")


def _with_adapter(base: Any, ranks: tuple[int, int]) -> Any:
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(
        task_type="FEATURE_EXTRACTION",
        r=ranks[0],
        lora_alpha=ranks[0],
        rank_pattern={EMBEDDINGS: ranks[1]},
        alpha_pattern={EMBEDDINGS: ranks[1]},
        target_modules=[*LINEAR, EMBEDDINGS],
        exclude_modules=".*pooler.*",
        modules_to_save=WHOLE,
        bias="all",
    )
    return get_peft_model(base, settings)


@torch.no_grad()
def _start(adapted: Any, target: Any, batches: list[Batch], counts: torch.Tensor) -> None:
    """Set the factors to the best approximations, and all else to what it is in the target."""
    goal, state = target.state_dict(), adapted.state_dict()
    roots = {name: _root(moment) for name, moment in _second_moments(target, batches).items()}
    for name, module in adapted.named_modules():
        layer = name.removeprefix(_PREFIX)
        if hasattr(module, "base_layer") and f"{layer}.weight" in goal:
            change = goal[f"{layer}.weight"] - module.base_layer.weight
            if layer in roots:
                left, right = _factors(change, roots[layer], module.r["default"])
                state[f"{name}.lora_A.default.weight"], state[f"{name}.lora_B.default.weight"] = right, left
            else:
                often = torch.zeros(len(change)).index_add_(0, torch.arange(len(counts)), counts.float())
                left, right = _weighted_rows(change, often / often.sum(), module.r["default"])
                state[f"{name}.lora_embedding_A.default"], state[f"{name}.lora_embedding_B.default"] = left.T, right.T
    for name in state:
        plain = name.removeprefix(_PREFIX).replace(".base_layer", "").replace(".modules_to_save.default", "")
        if plain in goal and (".modules_to_save." in name or name.endswith(".bias")):
            state[name] = goal[plain]
    adapted.load_state_dict(state)
    for name, root in roots.items():
        factor = adapted.get_submodule(f"{_PREFIX}{name}.lora_A.default")
        parametrize.register_parametrization(factor, "weight", _Whitened(root), unsafe=True)


class _Whitened(torch.nn.Module):
    """A factor [rank, in] as the product of what is learnt, of the same shape, and the inverse of a root."""

    def __init__(self, root: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("root", root)
        self.register_buffer("inverse", torch.linalg.inv(root))

    def forward(self, learnt: torch.Tensor) -> torch.Tensor:
        return learnt @ self.inverse

    def right_inverse(self, factor: torch.Tensor) -> torch.Tensor:
        return factor @ self.root


def _second_moments(network: Any, batches: list[Batch]) -> dict[str, torch.Tensor]:
    """The mean of x x' over the inputs x of each linear layer that an adapter changes, by its name."""
    layers = {name: module for name, module in network.named_modules() if name.rpartition(".")[2] in LINEAR}
    layers = {name: module for name, module in layers.items() if "pooler" not in name}
    sums = {name: torch.zeros(module.in_features, module.in_features) for name, module in layers.items()}
    real: list[torch.Tensor] = []

    def watch(name: str) -> Any:
        def add(module: Any, inputs: tuple[torch.Tensor]) -> None:
            states = inputs[0][real[-1]]
            sums[name] += states.T @ states

        return add

    hooks = [module.register_forward_pre_hook(watch(name)) for name, module in layers.items()]
    for batch in batches:
        real.append(batch["attention_mask"].bool())
        network(**batch)
    for hook in hooks:
        hook.remove()
    tokens = sum(int(mask.sum()) for mask in real)
    return {name: total / tokens for name, total in sums.items()}


def _root(moment: torch.Tensor) -> torch.Tensor:
    """L of C = L L', to which directions that no input has taken are added."""
    return torch.linalg.cholesky(moment + 0.01 * moment.diagonal().mean() * torch.eye(len(moment)))


def _factors(change: torch.Tensor, root: torch.Tensor, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Matrices [out, rank] and [rank, in] whose product gives nearly what the change gives for such inputs."""
    left, values, right = torch.linalg.svd(change @ root, full_matrices=False)
    right = torch.linalg.solve_triangular(root, right[:rank], upper=False, left=False)
    scale = values[:rank].sqrt()
    return left[:, :rank] * scale, right * scale.unsqueeze(1)


def _weighted_rows(change: torch.Tensor, share: torch.Tensor, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Matrices [rows, rank] and [rank, columns] whose product is nearest to the change, rows weighted by share."""
    rows = change * share.clamp(min=1e-7).sqrt().unsqueeze(1)
    values, vectors = torch.linalg.eigh(rows.T @ rows)  # in ascending order
    right, scale = vectors.flip(1)[:, :rank].T, values.flip(0)[:rank].clamp(min=1e-12).pow(0.25)
    return change @ right.T / scale, right * scale.unsqueeze(1)


def _learn(adapted: Any, target: Any, batches: list[Batch], learning_rate: float) -> None:
    adapted.eval()
    device = pick_device("auto")
    adapted.to(device), target.to(device)
    weights = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=learning_rate, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / _WARM_UP, 1 - step / len(batches))
    )
    for batch in batches:
        loss = _distance(adapted, target, {name: ids.to(device) for name, ids in batch.items()})
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
    adapted.cpu(), target.cpu()


def _distance(adapted: Any, target: Any, batch: Batch) -> torch.Tensor:
    """Squared distance of token states, in units of their variance, summed over layers with weights."""
    real = batch["attention_mask"].bool()
    with torch.autocast(real.device.type, torch.bfloat16):
        with torch.no_grad():
            goal = target(**batch, output_hidden_states=True).hidden_states
        states = adapted(**batch, output_hidden_states=True).hidden_states
    parts = [_relative_error(x[real].float(), y[real].float()) for x, y in zip(goal, states, strict=True)]
    return sum(parts) + (_LAST - 1) * parts[-1]


def _relative_error(goal: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    return (states - goal).square().sum() / (goal - goal.mean(0)).square().sum()


def state_error(adapted: Any, target: Any, texts: Sequence[Sequence[int]]) -> float:
    """How far the last layer's token states are from those of the target: mean squared error over their variance."""
    errors = []
    with torch.inference_mode():
        for batch in _batches(texts):
            real = batch["attention_mask"].bool()
            goal, states = (network(**batch).last_hidden_state[real] for network in (target, adapted))
            errors.append((float(_relative_error(goal, states)), len(goal)))
    return sum(error * tokens for error, tokens in errors) / sum(tokens for _, tokens in errors)


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[Batch]:
    """Texts of similar length together."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for start in range(0, len(order), _BATCH):
        rows = [texts[index] for index in order[start : start + _BATCH]]
        yield {"input_ids": pad(rows, 0), "attention_mask": pad([[1] * len(row) for row in rows], 0)}
