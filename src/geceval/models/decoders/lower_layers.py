"""Token states after some of the layers of a network, without computing those above."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from geceval.models.decoders import prefix_trees

if TYPE_CHECKING:
    from torch import Tensor


class _Reached(Exception):
    """What enters the first layer that is not computed."""


def states_after(model: Any, batch: Mapping[str, Tensor], layers: int) -> Tensor:
    """What is in the `hidden_states[layers]` that the network gives, without gradients."""
    import torch

    body = model.base_model
    inputs = prefix_trees.inputs(batch, model.dtype) if "ends" in batch else batch
    total = body.config.get_text_config().num_hidden_layers
    lists = [(name, part) for name, part in body.named_children() if isinstance(part, torch.nn.ModuleList)]
    for name, stack in lists:
        if layers < len(stack) == total:
            stop, part = copy.copy(stack[layers]), copy.copy(body)  # copies that share all weights
            stop.forward = _reach
            part._modules = {**body._modules, name: torch.nn.ModuleList([*stack[:layers], stop])}
            try:
                part(**inputs, use_cache=False)
            except _Reached as reached:
                return reached.args[0]
    return body(**inputs, use_cache=False, output_hidden_states=True).hidden_states[layers]


def _reach(states: Tensor, *_: Any, **__: Any) -> None:
    raise _Reached(states)
