"""The first weights of a regressor's output layer, by ridge regression on what that layer reads.

A head that begins at random moves the states below it before it knows what to ask of them; over a large frozen base the
regression alone is a good regressor (linear probing, then fine-tuning: Kumar et al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from geceval.models import heads


def output_layer(network: Any) -> torch.nn.Linear:
    """The last layer of the head of a sequence classifier, possibly wrapped by peft: the copy of it that is tuned."""
    head = heads.head_of(network.get_base_model() if hasattr(network, "get_base_model") else network)
    linear = [module for module in head.modules() if isinstance(module, torch.nn.Linear)]
    return [module for module in linear if module.weight.requires_grad][-1]


def fit_output_layer(model: Any, network: Any, batches: Iterable[Mapping[str, Any]], penalty: float) -> None:
    """Set the weights of the output layer, and its bias if it has one, to those of the regression.

    Args:
        model: Maps a batch to its answers.
        network: The sequence classifier in it, which is changed in place.
        batches: Inputs, and the ratings as `labels`.
        penalty: Of the squared weights, each dimension measured in its standard deviations.
    """
    layer, inputs, ratings = output_layer(network), [], []
    hook = layer.register_forward_pre_hook(lambda _, read: inputs.append(read[0].flatten(0, -2).double()))
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            for batch in batches:
                ratings.append(batch["labels"].double())
                model(**{name: values for name, values in batch.items() if name != "labels"})
    finally:
        hook.remove()
        model.train(training)
    weight, bias = ridge(torch.cat(inputs), torch.cat(ratings), penalty, intercept=layer.bias is not None)
    with torch.no_grad():
        layer.weight.copy_(weight)
        if layer.bias is not None:
            layer.bias.copy_(bias)


def ridge(
    states: torch.Tensor, ratings: torch.Tensor, penalty: float, intercept: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights [dimensions] and the intercept with the least squared error plus penalty.

    Args:
        states: float64 [texts, dimensions].
        ratings: float64 [texts].
        penalty: Of the squared weights, each dimension measured in its standard deviations.
        intercept: Whether there is one; it costs nothing.
    """
    centre = states.mean(0) if intercept else torch.zeros_like(states[0])
    middle = ratings.mean() if intercept else torch.zeros_like(ratings[0])
    deviation = states.std(0) + 1e-6
    rows = (states - centre) / deviation
    gram = rows.T @ rows + penalty * torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device)
    weight = torch.linalg.solve(gram, rows.T @ (ratings - middle)) / deviation
    return weight, middle - centre @ weight
