"""SOME's regressors as linear layers over a language model that stays as it is, by ridge regression."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from geceval.core.errors import InputError
from geceval.core.files import write_text
from geceval.core.options import RunTime
from geceval.learning.network import portable_name
from geceval.learning.some.objective import Rated, correlations
from geceval.models.causal import CausalModel, QualityHead, save_quality_head
from geceval.models.checkpoints import Checkpoint, resolve, weights_sha256
from geceval.models.loading import read_config
from geceval.models.regressors import StateRegressor, pooled


def learn_head(
    base: str, layer: int, penalties: Sequence[float], rows: Sequence[Rated], dev: Sequence[Rated], runtime: RunTime
) -> tuple[StateRegressor, dict[str, Any]]:
    """Fit a head with each penalty, and choose by Pearson's r on the dev fold."""
    model = CausalModel.load(resolve(base), runtime)
    texts, ratings = zip(*rows, strict=True)
    dev_texts, dev_ratings = zip(*dev, strict=True)
    states = pooled(model, texts, layer, runtime)
    found = {}
    for penalty in penalties:
        weight, bias = ridge(states, np.array(ratings), penalty)
        head = StateRegressor(model, QualityHead(layer, torch.from_numpy(weight)), bias)
        found[penalty] = head, correlations(head.logits(dev_texts, runtime)[:, 0], dev_ratings)
    best = max(found, key=lambda penalty: found[penalty][1]["pearson"])
    tried = [{"penalty": penalty, "pearson": scores["pearson"]} for penalty, (_, scores) in found.items()]
    return found[best][0], {"layer": layer, "penalty": best, "dev": found[best][1], "tried": tried}


def ridge(states: np.ndarray, ratings: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """The weights and the intercept with the least squared error plus penalty."""
    centre, deviation = states.mean(axis=0), states.std(axis=0) + 1e-6
    rows = (states - centre) / deviation
    gram = rows.T @ rows + penalty * np.eye(rows.shape[1])
    weight = (np.linalg.solve(gram, rows.T @ (ratings - ratings.mean())) / deviation).astype(np.float32)
    return weight, float(ratings.mean() - centre @ weight.astype(np.float64))


def check_layer(base: Checkpoint, layer: int) -> None:
    """Raise an `InputError` if the base has fewer layers."""
    layers = read_config(base).get_text_config().num_hidden_layers
    if layer > layers:
        raise InputError(f"head_layer is {layer}, but the base has {layers} layers")


def save_head(regressor: StateRegressor, base: str, folder: Path) -> None:
    """Write a head as a checkpoint: its weights, and a `config.json` that names its base."""
    save_quality_head(regressor.head, folder)
    config = {
        "geceval_base": portable_name(base, folder),
        "geceval_base_sha256": weights_sha256(resolve(base)),
        "geceval_head_bias": regressor.bias,
        "geceval_head_layer": regressor.head.layer,
    }
    write_text(folder / "config.json", json.dumps(config, indent=2) + "\n")
