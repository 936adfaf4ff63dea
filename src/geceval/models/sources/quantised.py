"""Weights in 8 or 4 bits: integers and their scales in one safetensors file, de-quantised when a network is loaded.

A weight is the product of an integer and a scale, which its row, or a group of columns of the row, shares. The matrix
`NAME` is stored as `NAME`, int8 [rows, columns] or, in 4 bits, uint8 [rows, columns / 2], and `NAME:scales`, float16
[rows, groups]. Vectors, and matrices of fewer than `SMALL` numbers, are stored in float16.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SMALL = 4096
_SCALES = ":scales"  # no parameter of torch has a colon in its name


def quantise(weights: Tensor, bits: int = 8, group: int | None = None) -> dict[str, Tensor]:
    """The nearest integers to the weights in units of a scale, which the largest of each group sets.

    Args:
        weights: A matrix of finite numbers, [rows, columns].
        bits: 8, or 4, which needs an even number of columns.
        group: How many neighbouring columns share a scale, a divisor of their number; all by default.

    Returns:
        `values`, int8 [rows, columns] or uint8 [rows, columns / 2], and `scales`, float16 [rows, groups].
    """
    import torch

    units, scales = _units(weights, bits, group)
    values = units.to(torch.int8).flatten(1)
    if bits == 4:
        low, high = (values + 8).to(torch.uint8).unflatten(1, (-1, 2)).unbind(2)
        values = low | high << 4
    return {"values": values, "scales": scales}


def rounded(weights: Tensor, bits: int = 8, group: int | None = None) -> Tensor:
    """The weights that `dequantise` gives of `quantise`, by a shorter way: float32 [rows, columns]."""
    units, scales = _units(weights, bits, group)
    return units.mul_(scales.float().unsqueeze(2)).flatten(1)


def _units(weights: Tensor, bits: int, group: int | None) -> tuple[Tensor, Tensor]:
    """Whole numbers, float32 [rows, groups, columns of a group], and their scales, float16 [rows, groups]."""
    import torch

    largest = 2 ** (bits - 1) - 1
    groups = weights.float().unflatten(1, (-1, group or weights.shape[1]))
    scales = (groups.abs().amax(2) / largest).to(torch.float16)
    units = (groups / scales.float().unsqueeze(2)).nan_to_num_()  # 0 / 0 where all are 0
    return units.round_().clamp_(-largest, largest), scales


def dequantise(values: Tensor, scales: Tensor) -> Tensor:
    """The weights that `quantise` gave these for, but for rounding: float32 [rows, columns]."""
    import torch

    if values.dtype == torch.uint8:
        values = torch.stack([values & 15, values >> 4], 2).flatten(1).to(torch.int8) - 8
    return (values.unflatten(1, (scales.shape[1], -1)) * scales.float().unsqueeze(2)).flatten(1)


def is_quantisable(weights: Tensor) -> bool:
    """Whether a network's weights are stored as integers."""
    return weights.dim() == 2 and weights.numel() >= SMALL


def write_weights(state: Mapping[str, Tensor], path: Path, bits: int = 8, group: int | None = None) -> None:
    """Write a network's weights, matrices in `bits` as `quantise` takes it, and all else in float16."""
    import torch
    from safetensors.torch import save_file

    stored = {}
    for name, weights in state.items():
        if is_quantisable(weights):
            parts = quantise(weights, bits, group)
            stored[name], stored[name + _SCALES] = parts["values"], parts["scales"]
        else:
            stored[name] = weights.to(torch.float16) if weights.is_floating_point() else weights
    save_file({name: tensor.contiguous() for name, tensor in stored.items()}, path, {"format": "pt"})
    path.chmod(0o644)  # safetensors writes for the owner alone


def is_quantised(path: Path) -> bool:
    """Whether a safetensors file holds matrices with scales; its tensors are not read."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return any(name.endswith(_SCALES) for name in file.keys())  # noqa: SIM118


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a safetensors file by name: float32 where they had scales, all others as they are.

    Raises:
        OSError, ValueError, safetensors.SafetensorError: If the file cannot be read, or scales do not fit their matrix.
    """
    from safetensors.torch import load_file

    stored = load_file(path)
    scales = {name: stored.pop(name) for name in list(stored) if name.endswith(_SCALES)}
    for name, values in scales.items():
        name = name.removesuffix(_SCALES)
        stored[name] = dequantise(stored[name], values)
    return stored
