"""Weights in 8 or 4 bits: integers and their scales in one safetensors file, de-quantised when a network is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

# A weight is the product of an integer and a scale, which its row shares. The matrix `NAME` is stored as `NAME`, int8
# [rows, columns] or, in 4 bits, uint8 [rows, columns / 2], and `NAME:scales`, float16 [rows, 1]. Vectors and small
# matrices are stored in float16. No parameter of torch has a colon in its name.
SCALES = ":scales"


def dequantise(values: Tensor, scales: Tensor) -> Tensor:
    """The weights that `quantise` gave these for, but for rounding: float32 [rows, columns]."""
    import torch

    if values.dtype == torch.uint8:
        values = torch.stack([values & 15, values >> 4], 2).flatten(1).to(torch.int8) - 8
    if scales.shape != (len(values), 1):
        raise ValueError(f"scales of the shape {tuple(scales.shape)}, expected {(len(values), 1)}: one for each row")
    # torch takes six times as long for numbers of two kinds.
    return torch.from_numpy(np.multiply(values.numpy(), scales.float().numpy(), dtype=np.float32))


def is_quantised(path: Path) -> bool:
    """Whether a safetensors file holds matrices with scales; its tensors are not read."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return any(name.endswith(SCALES) for name in file.keys())  # noqa: SIM118


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a safetensors file by name: float32 where they had scales, all others as they are."""
    import torch
    from safetensors.torch import load_file

    stored = load_file(path)
    scales = {name.removesuffix(SCALES): stored.pop(name) for name in list(stored) if name.endswith(SCALES)}
    integers = {name for name, values in stored.items() if values.dtype in (torch.int8, torch.uint8)}
    if alone := integers ^ scales.keys():
        raise ValueError(f"{min(alone)} lacks its {'scales' if min(alone) in integers else 'integers'}")
    return stored | {name: dequantise(stored[name], values) for name, values in scales.items()}
