"""Matrices in 8 or 4 bits, as `geceval.models.quantised` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from geceval.models.quantised import SCALES

SMALL = 4096  # numbers; smaller matrices stay in 16 bits


def quantise(weights: Tensor, bits: int = 8) -> dict[str, Tensor]:
    """The nearest integers to the weights in units of a scale, which the largest of each row sets."""
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
    largest = 2 ** (bits - 1) - 1
    weights = weights.float()
    scales = (weights.abs().amax(1, keepdim=True) / largest).to(torch.float16)
    units = (weights / scales.float()).nan_to_num_()  # 0 / 0 where all are 0
    return units.round_().clamp_(-largest, largest), scales


def is_quantisable(weights: Tensor) -> bool:
    """Whether a network's weights are stored as integers."""
    return weights.dim() == 2 and weights.numel() >= SMALL


def write_weights(state: Mapping[str, Tensor], path: Path, bits: int = 8) -> None:
    """Write a network's weights, matrices in `bits` as `quantise` takes it, and all else in float16."""
    stored = {}
    for name, weights in state.items():
        if is_quantisable(weights):
            parts = quantise(weights, bits)
            stored[name], stored[name + SCALES] = parts["values"], parts["scales"]
        else:
            stored[name] = weights.to(torch.float16) if weights.is_floating_point() else weights
    save_file({name: tensor.contiguous() for name, tensor in stored.items()}, path, {"format": "pt"})
    path.chmod(0o644)  # safetensors writes for the owner alone
