"""TrueSkill in closed form against the trueskill package."""

import itertools

import numpy as np
import pytest
import trueskill

from geceval.meta.trueskill import rate, rate_scores


def play_with_package(scores: np.ndarray) -> np.ndarray:
    rules = trueskill.TrueSkill(mu=0, sigma=0.5, beta=0.25, tau=0, draw_probability=0.25)
    ratings = [rules.create_rating() for _ in scores]
    for sentence in range(scores.shape[1]):
        for i, j in itertools.combinations(range(len(scores)), 2):
            if np.isnan(scores[i, sentence] - scores[j, sentence]):
                continue
            winner, loser = (j, i) if scores[j, sentence] > scores[i, sentence] else (i, j)
            drawn = scores[i, sentence] == scores[j, sentence]
            ratings[winner], ratings[loser] = rules.rate_1vs1(ratings[winner], ratings[loser], drawn=bool(drawn))
    return np.array([rating.mu for rating in ratings])


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_trueskill_package(seed):
    generator = np.random.default_rng(seed)
    scores = np.round(generator.normal(size=(5, 80)), 1) + 0.2 * np.arange(5)[:, None]
    scores[1, 7] = np.nan
    assert rate_scores(scores) == pytest.approx(play_with_package(scores), abs=1e-6)


@pytest.mark.parametrize("outcomes", [[1] * 300, [0] * 300, [-1] * 300, [1] * 300 + [0] * 20, [-1] * 300 + [1]])
def test_long_one_sided_series_stay_finite_and_ordered(outcomes):
    means, variances = rate([(0, 1, outcome) for outcome in outcomes], 2)
    assert np.isfinite(means).all() and (variances > 0).all()
    assert np.sign(means[0] - means[1]) == np.sign(sum(outcomes))
    assert means.sum() == pytest.approx(0, abs=1e-9)
