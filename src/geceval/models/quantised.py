"""Weights in 8 or 4 bits: integers and their scales in one safetensors file, de-quantised when a network is loaded.

A weight is the product of an integer and a scale, which its row shares. The matrix `NAME` is stored as `NAME`, int8
[rows, columns] or, in 4 bits, uint8 [rows, columns / 2], and `NAME:scales`, float16 [rows, 1]. Vectors,
and matrices of fewer than `SMALL` numbers, are stored in float16.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SMALL = 4096
_SCALES = ":scales"  # no parameter of torch has a colon in its name


def quantise(weights: Tensor, bits: int = 8) -> dict[str, Tensor]:
    """The nearest integers to the weights in units of a scale, which the largest of each row sets."""
    import torch

    units, scales = _units(weights, bits)
    values = units.to(torch.int8)
    if bits == 4:
        low, high = (values + 8).to(torch.uint8).unflatten(1, (-1, 2)).unbind(2)
        values = low | high << 4
    return {"values": values, "scales": scales}


def rounded(weights: Tensor, bits: int = 8) -> Tensor:
    """The weights that `dequantise` gives of `quantise`, by a shorter way: float32 [rows, columns]."""
    units, scales = _units(weights, bits)
    return units.mul_(scales.float())


def _units(weights: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Whole numbers, float32 [rows, columns], and their scales, float16 [rows, 1]."""
    import torch

    largest = 2 ** (bits - 1) - 1
    weights = weights.float()
    scales = (weights.abs().amax(1, keepdim=True) / largest).to(torch.float16)
    units = (weights / scales.float()).nan_to_num_()  # 0 / 0 where all are 0
    return units.round_().clamp_(-largest, largest), scales


def dequantise(values: Tensor, scales: Tensor) -> Tensor:
    """The weights that `quantise` gave these for, but for rounding: float32 [rows, columns]."""
    import torch

    if values.dtype == torch.uint8:
        values = torch.stack([values & 15, values >> 4], 2).flatten(1).to(torch.int8) - 8
    if scales.shape != (len(values), 1):
        raise ValueError(f"scales of the shape {tuple(scales.shape)}, expected {(len(values), 1)}: one for each row")
    return values * scales.float()


def is_quantisable(weights: Tensor) -> bool:
    """Whether a network's weights are stored as integers."""
    return weights.dim() == 2 and weights.numel() >= SMALL


def write_weights(state: Mapping[str, Tensor], path: Path, bits: int = 8) -> None:
    """Write a network's weights, matrices in `bits` as `quantise` takes it, and all else in float16."""
    import torch
    from safetensors.torch import save_file

    stored = {}
    for name, weights in state.items():
        if is_quantisable(weights):
            parts = quantise(weights, bits)
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
    """The weights of a safetensors file by name: float32 where they had scales, all others as they are."""
    import torch
    from safetensors.torch import load_file

    stored = load_file(path)
    scales = {name.removesuffix(_SCALES): stored.pop(name) for name in list(stored) if name.endswith(_SCALES)}
    integers = {name for name, values in stored.items() if values.dtype in (torch.int8, torch.uint8)}
    if alone := integers ^ scales.keys():
        raise ValueError(f"{min(alone)} lacks its {'scales' if min(alone) in integers else 'integers'}")
    return stored | {name: dequantise(stored[name], values) for name, values in scales.items()}
