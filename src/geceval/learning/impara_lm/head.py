"""The head of IMPARA-LM: what token states know of quality beyond likelihood, learnt from people's ratings.

q(Y) = t * LL(Y) / sqrt(n) + w . h(Y), h the mean token state after one of the layers. Given h, this is a ridge
regression with the cost of a pair, softplus(-(q(better) - q(worse))): convex, so nothing depends on a seed. Each
dimension of h is measured in deviations of its differences, and costs `ridge` times its squared weight; t is free.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from geceval.core.options import RunTime
from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.models.causal import CausalModel, QualityHead
from geceval.models.tokenizers import detokenize
from geceval.scorers.impara_lm import qualities

FOLDS = 5


def learn_head(
    model: CausalModel,
    pairs: Sequence[RankedPair],
    layer: int,
    ridge: float,
    runtime: RunTime,
    scale: float = 1.0,
) -> tuple[float, QualityHead, dict[str, Any]]:
    """Fit the head on rated pairs, and measure by cross-validation what it brings."""
    features, rows = _features(model, pairs, layer, runtime, scale)
    differences = np.stack([features[rows[pair.high]] - features[rows[pair.low]] for pair in pairs])
    fold_of = _folds([pair.source for pair in pairs])
    margins = np.zeros(len(pairs))
    for fold in range(FOLDS):
        held_out = fold_of == fold
        margins[held_out] = differences[held_out] @ fit(differences[~held_out], ridge)
    weights = fit(differences, ridge)
    measured = {
        "pairs": len(pairs),
        "accuracy": float((differences[:, 0] > 0).mean()),
        "accuracy_with_head": float((margins > 0).mean()),
    }
    return float(weights[0]), QualityHead(layer, torch.from_numpy(weights[1:]).float()), measured


def fit(differences: np.ndarray, ridge: float) -> np.ndarray:
    """The weights with the least cost; the first is free."""
    deviation = differences.std(axis=0) + 1e-6
    rows = torch.from_numpy(differences / deviation)
    weights = torch.zeros(rows.shape[1], dtype=rows.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.softplus(-rows @ weights).mean() + ridge * (weights[1:] ** 2).sum()
        value.backward()
        return value

    optimizer.step(cost)
    return weights.detach().numpy() / deviation


def _features(
    model: CausalModel, pairs: Sequence[RankedPair], layer: int, runtime: RunTime, scale: float
) -> tuple[np.ndarray, dict[str, int]]:
    """q without the new head and mean state of each distinct text, and the row of each text."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.low, pair.high)))
    states = model.mean_states([detokenize(text) for text in texts], layer, runtime)
    features = np.column_stack([qualities(model, scale, texts, runtime), states.astype(np.float64)])
    return features, {text: row for row, text in enumerate(texts)}


def _folds(sources: Sequence[str]) -> np.ndarray:
    """The fold of each row: rows of one source are in one fold."""
    distinct = sorted(set(sources))
    random.Random(1).shuffle(distinct)
    fold = {source: index % FOLDS for index, source in enumerate(distinct)}
    return np.array([fold[source] for source in sources])
