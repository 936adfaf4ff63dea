"""Weights of grammaticality, fluency and meaning: a published choice by its name, or three numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geceval.core.errors import InputError
from geceval.core.options import check_choice, check_moderate

SUBMETRICS = ("grammaticality", "fluency", "meaning")

Weights = tuple[float, float, float]


def check_weights(weights: str | Sequence[float], named: Mapping[str, Weights]) -> str | Weights:
    """The setting `weights` of a metric, numbers as a tuple of float."""
    if isinstance(weights, str):
        check_choice("weights", weights, tuple(named))
        return weights
    if len(weights) != len(SUBMETRICS):
        raise InputError(f"weights must be {', '.join(map(repr, named))} or three numbers, got {weights!r}")
    for part, weight in zip(SUBMETRICS, weights, strict=True):
        check_moderate(f"the weight of {part}", weight)
        if weight < 0:
            raise InputError(f"the weight of {part} must not be negative, got {weight!r}")
    if not any(weights):
        raise InputError("at least one of the weights must be positive")
    grammaticality, fluency, meaning = map(float, weights)
    return grammaticality, fluency, meaning
