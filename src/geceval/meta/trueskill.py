"""TrueSkill of systems from pairwise comparisons, in closed form."""

import math
from collections.abc import Iterable
from statistics import NormalDist

import numpy as np

_SQRT2 = math.sqrt(2.0)
_SQRT2PI = math.sqrt(2.0 * math.pi)
_SMALLEST = 1e-300

# No dynamics; these values rank GEC systems by a metric (Goto et al. 2025).
_MEAN, _DEVIATION = 0.0, 0.5
_BETA = 0.25  # standard deviation of one performance around the skill
_DRAWS = 0.25  # probability of a draw


def rate(games: Iterable[tuple[int, int, float]], systems: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the skills after games `(i, j, outcome)`: 1 if i won, -1 if j did, 0 for a draw."""
    # The two-player update of Herbrich et al. (2007), in closed form instead of message passing in a factor graph.
    means, variances = [_MEAN] * systems, [_DEVIATION**2] * systems
    margin, noise = NormalDist().inv_cdf((_DRAWS + 1) / 2) * _SQRT2 * _BETA, 2 * _BETA**2
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
    pairs = first.tolist(), second.tolist()
    games = (game for row in outcomes.tolist() for game in zip(*pairs, row, strict=True) if game[2] == game[2])
    return rate(games, count)[0]


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
