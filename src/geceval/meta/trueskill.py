"""TrueSkill of systems from pairwise comparisons, in closed form."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

_SQRT2 = math.sqrt(2.0)
_SQRT2PI = math.sqrt(2.0 * math.pi)
_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class TrueSkill:
    """TrueSkill of two players without dynamics; the defaults rank GEC systems by a metric (Goto et al. 2025)."""

    mu: float = 0.0
    sigma: float = 0.5
    beta: float = 0.25  # standard deviation of one performance around the skill
    draw_probability: float = 0.25

    def rate(self, games: Iterable[tuple[int, int, int]], systems: int) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the skills after games `(i, j, outcome)`: 1 if i won, -1 if j did, 0 for a draw."""
        # The two-player update of Herbrich et al. (2007), in closed form instead of message passing in a factor graph.
        means, variances = [self.mu] * systems, [self.sigma**2] * systems
        margin = NormalDist().inv_cdf((self.draw_probability + 1) / 2) * _SQRT2 * self.beta
        noise = 2 * self.beta**2
        for i, j, outcome in games:
            first, second = (j, i) if outcome < 0 else (i, j)
            spread = math.sqrt(noise + variances[first] + variances[second])
            difference = (means[first] - means[second]) / spread
            v, w = (_win if outcome else _draw)(difference, margin / spread)
            for system, sign in ((first, 1.0), (second, -1.0)):
                variance = variances[system]
                means[system] += sign * variance / spread * v
                variances[system] = variance * max(1 - variance / spread**2 * w, 1e-4)
        return np.array(means), np.array(variances)


def rate_scores(scores: np.ndarray) -> np.ndarray:
    """TrueSkill means, [systems], from games between the scores of each sentence, [systems, sentences]."""
    # Each pair i < j plays once a sentence, in order, so the result depends on the order of both; a NaN does not play.
    count = scores.shape[0]
    first, second = np.triu_indices(count, k=1)
    outcomes = np.sign(scores[first] - scores[second]).T  # [sentences, pairs]
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    games = (
        (i, j, int(outcome))
        for row in outcomes.tolist()
        for (i, j), outcome in zip(pairs, row, strict=True)
        if outcome == outcome
    )
    return TrueSkill().rate(games, count)[0]


def _win(t: float, margin: float) -> tuple[float, float]:
    x = t - margin
    v = _density(x) / max(_cumulative(x), _SMALLEST) if x > -30 else -x
    return v, v * (v + x)


def _draw(t: float, margin: float) -> tuple[float, float]:
    upper, lower = margin - t, -margin - t
    mass = _cumulative(upper) - _cumulative(lower)
    if mass < 1e-12:  # far outside the margin: the limit of the truncated normal
        v = -margin - t if t < 0 else margin - t
        return v, 1.0
    v = (_density(lower) - _density(upper)) / mass
    return v, v * v + (upper * _density(upper) - lower * _density(lower)) / mass


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / _SQRT2PI


def _cumulative(x: float) -> float:
    return math.erfc(-x / _SQRT2) / 2
