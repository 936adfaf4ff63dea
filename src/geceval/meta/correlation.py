"""Correlations of system scores with human scores: Pearson and Spearman, over all systems, windows, or the best K."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geceval.core.errors import InputError

_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r and Spearman's rho of two lists of scores; NaN where either is constant or shorter than two."""

    pearson: float
    spearman: float


def correlate(metric: Sequence[float], human: Sequence[float]) -> Correlation:
    """Pearson's r and Spearman's rho of two lists of the same length."""
    if len(metric) != len(human):
        raise InputError(f"{len(metric)} metric scores but {len(human)} human scores")
    lists, values = np.asarray(metric, dtype=float)[None], np.asarray(human, dtype=float)
    return Correlation(*(float(correlations(lists, values, kind)[0]) for kind in ("pearson", "spearman")))


def correlations(lists: np.ndarray, values: np.ndarray, kind: Literal["pearson", "spearman"]) -> np.ndarray:
    """Correlation of each of several lists, [lists, n], with the same values, [n]; NaN where either is constant."""
    # Spearman's ranks are average ranks where values tie.
    if len(values) < 2:
        return np.full(len(lists), np.nan)
    defined = ~(_is_constant(lists) | _is_constant(values))
    if kind == "spearman":
        import pandas

        lists, values = pandas.DataFrame(lists).rank(axis=1).to_numpy(), pandas.Series(values).rank().to_numpy()
    lists, values = lists - lists.mean(axis=-1, keepdims=True), values - values.mean()
    scale = np.sqrt((lists[:, None] @ lists[:, :, None]).ravel() * (values @ values))
    defined &= scale > 0
    return np.where(defined, np.clip(lists @ values / np.where(defined, scale, 1), -1, 1), np.nan)


def correlate_systems(metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str]) -> Correlation:
    """Correlation over the named systems only."""
    for name, scores in (("metric", metric), ("human", human)):
        missing = [system for system in systems if system not in scores]
        if missing:
            raise InputError(f"no {name} score for {', '.join(missing)}")
    return correlate([metric[s] for s in systems], [human[s] for s in systems])


def windows(
    metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str], width: int = 4
) -> list[Correlation]:
    """Correlations over each run of `width` neighbours in the human ranking, from the best systems to the worst."""
    if not 2 <= width <= len(systems):
        raise InputError(f"the window must hold 2 to {len(systems)} systems, got {width}")
    ranked = _best_first(systems, human)
    return [correlate_systems(metric, human, ranked[start : start + width]) for start in range(len(ranked) - width + 1)]


def top_k(
    metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str], smallest: int = 4
) -> list[Correlation]:
    """Correlations over the K best systems of people, for K from all to `smallest` (Gong et al. 2022, Figure 2)."""
    if not 2 <= smallest <= len(systems):
        raise InputError(f"the best systems must be 2 to {len(systems)}, got {smallest}")
    ranked = _best_first(systems, human)
    return [correlate_systems(metric, human, ranked[:k]) for k in range(len(systems), smallest - 1, -1)]


def _best_first(systems: Sequence[str], human: Mapping[str, float]) -> list[str]:
    return sorted(systems, key=lambda system: -human[system])  # equal scores keep the order of `systems`


def _is_constant(lists: np.ndarray) -> np.ndarray:
    """Whether the numbers of a list are equal except for rounding; their mean may differ from each of them."""
    return np.ptp(lists, axis=-1) <= _ROUNDING * np.abs(lists).max(axis=-1)
