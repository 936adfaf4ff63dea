"""Learning with the weights that the file will hold: they are rounded in each pass, and their sum makes up for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.utils import parametrize

from geceval.models.quantised import is_quantisable, rounded


class Rounded(torch.nn.Module):
    """A matrix as `geceval.models.quantised` stores it."""

    # Gradients pass as if it were not rounded (the straight-through estimator of Bengio et al. 2013).

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def forward(self, weights: torch.Tensor) -> torch.Tensor:
        """The rounded weights, [rows, columns]."""
        return weights + (rounded(weights.detach(), self.bits) - weights.detach())


def round_weights(network: Any, bits: int) -> None:
    """Let a network compute with rounded matrices from now on."""
    for module in list(network.modules()):
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)) and is_quantisable(module.weight):
            parametrize.register_parametrization(module, "weight", Rounded(bits))


def restore_weights(network: Any) -> None:
    """Undo `round_weights`; the network then has the weights as they were learnt."""
    for module in list(network.modules()):
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
