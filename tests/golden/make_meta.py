"""Write `trueskill.json` and `scipy.json` anew: what these packages say of scores that were invented for the tests.

    python tests/golden/make_meta.py

trueskill and scipy come with the extra `dev`. Nothing of geceval is imported.
"""

from __future__ import annotations

import itertools

import numpy as np
import trueskill
from make import write
from scipy import stats

SCORES = [  # [systems][sentences]; None where a system has no score
    [0.9, 0.4, 0.7, 0.7, 0.2, 1.0, 0.6, 0.5],
    [0.8, 0.5, 0.7, 0.1, 0.3, 0.9, 0.6, None],
    [0.3, 0.5, 0.6, 0.2, 0.3, 0.2, 0.9, 0.1],
    [0.1, 0.4, 0.2, 0.7, 0.1, 0.0, 0.3, 0.8],
]
GAMES = {  # (first, second, 1 the first won, -1 lost, 0 draw)
    "mixed": [[0, 1, 1], [1, 2, 0], [2, 0, -1], [0, 2, 0], [1, 0, 1], [2, 1, 1]],
    "upset": [[0, 1, 1]] * 12 + [[0, 1, -1], [0, 1, 0]],
    "draws": [[0, 1, 0]] * 9,
}
PARAMETERS = [
    {"mu": 0.0, "sigma": 0.5, "beta": 0.25, "draw_probability": 0.25},
    {"mu": 25.0, "sigma": 25 / 3, "beta": 25 / 6, "draw_probability": 0.1},
]
LISTS = {
    "plain": ([0.61, 0.42, 0.75, 0.58, 0.49, 0.7], [0.31, -0.22, 0.4, 0.12, -0.35, -0.1]),
    "ties": ([0.5, 0.5, 0.7, 0.2, 0.7, 0.9, 0.1], [3, 1, 2, 2, 4, 4, 1]),
    "falling": ([1.0, 2.0, 4.0, 8.0], [0.9, 0.5, 0.1, -0.3]),
    "large": ([1e6 + 1, 1e6 + 4, 1e6 + 2, 1e6 + 3], [1e-6, 3e-6, 2e-6, 5e-6]),
    "pair": ([0.3, 0.1], [5, 7]),
}
PAIRED = (
    [0.2, 0.5, 0.4, 0.9, 0.7, 0.3, 0.6, 0.1, 0.8, 0.5],
    [0.4, 0.6, 0.3, 1.0, 0.9, 0.3, 0.9, 0.3, 0.7, 0.8],
)


def main() -> None:
    """Write both files."""
    write("trueskill", "trueskill", "TrueSkill(mu, sigma, beta, tau=0, draw_probability): rate_1vs1 game by game",
          {"scores": {"scores": SCORES, "mu": rate(PARAMETERS[0], outcomes(), len(SCORES))[0]},
           "games": [{"parameters": each, "games": games, "mu": mu, "sigma": sigma} for each in PARAMETERS
                     for games in GAMES.values() for mu, sigma in [rate(each, games, 3)]]})  # fmt: skip
    write("scipy", "scipy", "scipy.stats: pearsonr, spearmanr, kendalltau, norm.sf, permutation_test, bootstrap",
          {"correlations": {name: {"lists": lists, "pearson": statistic(stats.pearsonr, *lists),
                                   "spearman": statistic(stats.spearmanr, *lists),
                                   "kendall": statistic(stats.kendalltau, *lists)} for name, lists in LISTS.items()},
           "chain": chain(),
           "paired": paired()})  # fmt: skip


def outcomes() -> list[tuple[int, int, int]]:
    """Every sentence is a game of each two systems that have a score."""
    rows = [[np.nan if score is None else score for score in row] for row in SCORES]
    return [
        (i, j, int(np.sign(rows[i][sentence] - rows[j][sentence])))
        for sentence in range(len(rows[0]))
        for i, j in itertools.combinations(range(len(rows)), 2)
        if not np.isnan(rows[i][sentence] - rows[j][sentence])
    ]


def rate(parameters: dict[str, float], games: list, systems: int) -> tuple[list[float], list[float]]:
    """Means and standard deviations after all games."""
    rules = trueskill.TrueSkill(**parameters, tau=0)
    ratings = [rules.create_rating() for _ in range(systems)]
    for i, j, outcome in games:
        winner, loser = (j, i) if outcome < 0 else (i, j)
        ratings[winner], ratings[loser] = rules.rate_1vs1(ratings[winner], ratings[loser], drawn=outcome == 0)
    return [rating.mu for rating in ratings], [rating.sigma for rating in ratings]


def statistic(test, left: list[float], right: list[float]) -> float:
    return float(test(left, right).statistic)


def chain() -> dict:
    """Scores that should rise: Kendall's tau with the order, and the p-value of MAEGE for so many pairs."""
    scores = [0.1, 0.4, 0.3, 0.6, 0.9]
    count = len(scores) * (len(scores) - 1) // 2
    tau = statistic(stats.kendalltau, range(len(scores)), scores)  # 1 - 2 discordant / pairs
    return {"scores": scores, "kendall": tau, "p": float(2 * stats.norm.sf(abs(tau) * np.sqrt(count)))}


def paired() -> dict:
    """Means of two systems on the same sentences: all 1,024 swaps, and a bootstrap interval of the second mean."""
    swaps = stats.permutation_test(
        PAIRED, lambda one, two, axis: two.mean(axis=axis) - one.mean(axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=np.inf, alternative="two-sided",
    )  # fmt: skip
    found = stats.bootstrap((PAIRED[1],), np.mean, n_resamples=200_000, method="percentile", rng=1)
    interval = found.confidence_interval
    return {"systems": PAIRED, "p": float(swaps.pvalue), "low": float(interval.low), "high": float(interval.high)}


if __name__ == "__main__":
    main()
