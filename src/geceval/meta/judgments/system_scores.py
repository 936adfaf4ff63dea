"""How people rank systems: Expected Wins and TrueSkill from their judgments (Sakaguchi et al. 2014)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.judgments.data import Item
from geceval.meta.protocol import judged_pairs
from geceval.meta.ranking import expected_wins

_SIGMA, _DRAW_PROBABILITY = 0.5, 0.25
_BATCH = 512  # steps whose random numbers are drawn at once


def human_expected_wins(items: Sequence[Item], systems: Sequence[str]) -> dict[str, float]:
    """Expected Wins of systems in all expanded pairs of the judgments; pairs with equal ranks do not count.

    The published scores of SEEDA and GJG15 are means over bootstrap samples of the pairs, from which this differs by
    less than .001.

    Args:
        items: The judgments.
        systems: All systems of the judgments; a set of them is selected afterwards, not ranked anew.

    Raises:
        ValueError: If there are fewer than two systems.
    """
    wins, _ = _outcomes(items, systems)
    return dict(zip(systems, expected_wins(wins).tolist(), strict=True))


def human_trueskill(items: Sequence[Item], systems: Sequence[str], runs: int = 100, seed: int = 1) -> dict[str, float]:
    """TrueSkill means of systems in the judgments, averaged over runs that draw comparisons at random.

    A run takes as many steps as there are expanded pairs, plus one. A step takes the system of the largest variance, an
    opponent with weight exp(-|difference of means|), and one of the comparisons of the two with replacement. beta is
    0.0125 times the number of steps. The published scores are means over 1,000 runs; the standard deviation of one run
    is about .02.

    Args:
        items: The judgments.
        systems: All systems of the judgments. One that is never compared keeps the mean 0.
        runs: Number of runs; all go side by side, so that many cost little more than one.
        seed: Of the random numbers.

    Raises:
        ValueError: If `runs` is below 1 or the judgments compare nothing.
    """
    if runs < 1:
        raise InputError(f"runs must be at least 1, got {runs}")
    wins, ties = _outcomes(items, systems)
    games = _Games(wins, ties)
    steps = int(wins.sum() + ties.sum() / 2) + 1
    if steps == 1:
        raise InputError("the judgments compare no two of the systems")
    state = _Ratings(runs, games, _SIGMA * steps / 40)
    generator = np.random.default_rng(seed)
    for start in range(0, steps, _BATCH):
        for draws in generator.random((min(_BATCH, steps - start), 2, runs)):
            state.step(*draws)
    return dict(zip(systems, state.means.mean(axis=0).tolist(), strict=True))


def _outcomes(items: Sequence[Item], systems: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """`wins[i, j]`, how often i beats j, and `ties[i, j]` = `ties[j, i]`, how often they share a rank."""
    pairs = judged_pairs(items, systems)
    wins, ties = np.zeros((2, len(systems), len(systems)))
    np.add.at(wins, (pairs.first, pairs.second), pairs.human > 0)
    np.add.at(wins, (pairs.second, pairs.first), pairs.human < 0)
    np.add.at(ties, (pairs.first, pairs.second), pairs.human == 0)
    return wins, ties + ties.T


class _Games:
    """Per pair of systems: whether it was ever compared, the share of wins, and of wins or losses."""

    def __init__(self, wins: np.ndarray, ties: np.ndarray) -> None:
        total = wins + wins.T + ties
        self.compared = total > 0
        self.played = self.compared.any(axis=1)
        self.win, self.decided = wins / np.maximum(total, 1), (wins + wins.T) / np.maximum(total, 1)


class _Ratings:
    """Means and variances of all systems in all runs, arrays of shape [runs, systems]."""

    def __init__(self, runs: int, games: _Games, beta: float) -> None:
        shape = (runs, len(games.win))
        self.means, self.variances = np.zeros(shape), np.full(shape, _SIGMA**2)
        self._games, self._noise = games, 2 * beta**2
        self._margin = NormalDist().inv_cdf((_DRAW_PROBABILITY + 1) / 2) * math.sqrt(2) * beta
        self._rows = np.arange(runs)

    def step(self, choice: np.ndarray, outcome: np.ndarray) -> None:
        """One comparison in each run; `choice` and `outcome` are arrays [runs] of uniform random numbers."""
        games, rows = self._games, self._rows
        first = np.where(games.played, self.variances, -1).argmax(axis=1)
        gap = np.abs(self.means - self.means[rows, first][:, None])
        weight = np.cumsum(np.exp(-gap) * games.compared[first], axis=1)
        second = (weight <= choice[:, None] * weight[:, -1:]).sum(axis=1)
        decided = outcome < games.decided[first, second]
        sign = np.where(decided & (outcome >= games.win[first, second]), -1.0, 1.0)
        of_first, of_second = self.variances[rows, first], self.variances[rows, second]
        spread = np.sqrt(self._noise + of_first + of_second)
        t = sign * (self.means[rows, first] - self.means[rows, second]) / spread
        v, w = _update(t, self._margin / spread, decided)
        self.means[rows, first] += sign * of_first / spread * v
        self.means[rows, second] -= sign * of_second / spread * v
        self.variances[rows, first] *= 1 - of_first / spread**2 * w
        self.variances[rows, second] *= 1 - of_second / spread**2 * w


def _update(t: np.ndarray, margin: np.ndarray, decided: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """v and w of TrueSkill's update, for decided games and draws alike; see `geceval.meta.ranking`.

    A game is a normal variate cut to an interval: above the margin if it was decided, within the margin if not.
    """
    from scipy.special import ndtr

    low, high = np.where(decided, margin - t, -margin - t), np.where(decided, np.inf, margin - t)
    mass = ndtr(high) - ndtr(low)
    at_low, at_high = (np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) for x in (low, high))
    possible = mass > 1e-12
    shown = np.where(possible, mass, 1.0)
    v = np.where(possible, (at_low - at_high) / shown, np.where(low > 0, low, high))  # else the nearer end
    moment = np.where(decided, 0.0, high) * at_high - low * at_low
    return v, np.where(possible, v * v + moment / shown, 1.0)
