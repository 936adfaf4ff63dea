"""One score per system from many sentence scores or judgments: mean, TrueSkill, Expected Wins."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import check_choice
from geceval.meta.agreement import judged_pairs
from geceval.meta.judgments import Item
from geceval.meta.trueskill import rate_scores

Aggregation = Literal["average", "trueskill", "expected_wins"]


def aggregate(scores: np.ndarray, how: Aggregation = "average") -> np.ndarray:
    """One score per system, [systems], from sentence scores, [systems, sentences]."""
    if how == "average":
        return scores.mean(axis=1)
    if how == "trueskill":
        return rate_scores(scores)
    check_choice("aggregation", how, get_args(Aggregation))
    return expected_wins(count_wins(scores))


def expected_wins(wins: np.ndarray) -> np.ndarray:
    """Expected Wins (Bojar et al. 2011) of each system, from [winner, loser] counts of wins without draws."""
    # EW(i) = mean over j ≠ i of wins(i, j) / (wins(i, j) + wins(j, i)); a pair that was never decided adds 0.
    count = wins.shape[0]
    if count < 2:
        raise InputError("expected wins need at least two systems")
    decided = wins + wins.T
    shares = np.divide(wins, decided, out=np.zeros_like(wins, dtype=float), where=decided > 0)
    np.fill_diagonal(shares, 0.0)
    return shares.sum(axis=1) / (count - 1)


def count_wins(scores: np.ndarray) -> np.ndarray:
    """How often each system's sentence score beats that of each other, [systems, systems]; a NaN does neither."""
    return np.stack([(row > scores).sum(axis=1) for row in scores]).astype(float)


def human_expected_wins(items: Sequence[Item], systems: Sequence[str]) -> dict[str, float]:
    """Expected Wins of all systems in human judgments; equal ranks do not count (Sakaguchi et al. 2014)."""
    # The published scores of SEEDA and GJG15 are means over bootstrap samples, and differ by less than .001.
    pairs = judged_pairs(items, systems)
    wins = np.zeros((len(systems), len(systems)))
    np.add.at(wins, (pairs.first, pairs.second), pairs.human > 0)
    np.add.at(wins, (pairs.second, pairs.first), pairs.human < 0)
    return dict(zip(systems, expected_wins(wins).tolist(), strict=True))
