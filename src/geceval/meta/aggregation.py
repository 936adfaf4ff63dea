"""One score per system from many sentence scores or judgments: mean, TrueSkill, Expected Wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.agreement import judged_pairs
from geceval.meta.judgments import Item
from geceval.meta.trueskill import rate_scores

Aggregation = Literal["average", "trueskill", "expected_wins"]
AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)


def aggregate(scores: np.ndarray, how: Aggregation = "average") -> np.ndarray:
    """One score per system from its sentence scores.

    Args:
        scores: Array of shape [systems, sentences].
        how: `"average"`, `"trueskill"` (one pass in the order of sentences and systems) or `"expected_wins"`.

    Returns:
        Array of shape [systems].

    Raises:
        ValueError: If `how` is none of these.
    """
    if how == "average":
        return scores.mean(axis=1)
    if how == "trueskill":
        return rate_scores(scores)
    if how == "expected_wins":
        return expected_wins(count_wins(scores))
    raise InputError(f"unknown aggregation {how!r}; choose one of {', '.join(AGGREGATIONS)}")


def expected_wins(wins: np.ndarray) -> np.ndarray:
    """Expected Wins (Bojar et al. 2011): the mean share of wins against every other system.

    EW(i) = mean over j ≠ i of wins(i, j) / (wins(i, j) + wins(j, i)); a pair that was never decided adds 0.

    Args:
        wins: Array of shape [systems, systems]; `wins[i, j]` counts how often i beat j, draws left out.

    Returns:
        Array of shape [systems], in [0, 1].

    Raises:
        ValueError: If there are fewer than two systems.
    """
    count = wins.shape[0]
    if count < 2:
        raise InputError("expected wins need at least two systems")
    decided = wins + wins.T
    shares = np.divide(wins, decided, out=np.zeros_like(wins, dtype=float), where=decided > 0)
    np.fill_diagonal(shares, 0.0)
    return shares.sum(axis=1) / (count - 1)


def count_wins(scores: np.ndarray) -> np.ndarray:
    """How often each system's sentence score beats that of each other system.

    Args:
        scores: Array of shape [systems, sentences]; a NaN never wins and never loses.

    Returns:
        Array of shape [systems, systems].
    """
    return np.stack([(row > scores).sum(axis=1) for row in scores]).astype(float)


def human_expected_wins(items: Sequence[Item], systems: Sequence[str]) -> dict[str, float]:
    """Expected Wins of systems in human judgments; pairs with equal ranks do not count (Sakaguchi et al. 2014).

    The published scores of SEEDA and GJG15 are means over bootstrap samples of the pairs; they differ from the scores
    computed here by less than .001.

    Args:
        items: The judgments.
        systems: All systems of the judgments; to rank only some of them, select from the result.

    Raises:
        ValueError: If there are fewer than two systems.
    """
    pairs = judged_pairs(items, systems)
    wins = np.zeros((len(systems), len(systems)))
    np.add.at(wins, (pairs.first, pairs.second), pairs.human > 0)
    np.add.at(wins, (pairs.second, pairs.first), pairs.human < 0)
    return dict(zip(systems, expected_wins(wins).tolist(), strict=True))
