"""Scores of edits against labels, by hand and against scipy."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from geceval.meta.edit_labels import RESAMPLES, STATISTICS, _statistics, agreement_on_edits, best_threshold

SCORES = np.array([0.9, 0.5, 0.5, -0.2])
RIGHT = np.array([True, False, True, False])


def test_by_hand():
    values = agreement_on_edits(SCORES, RIGHT, np.array(["a", "a", "b", "b"]))[0]
    assert dict(zip(STATISTICS, values, strict=True)) == pytest.approx(
        {
            "auc": 3.5 / 4,  # of right and wrong, three are in order, .5 and .5 tie
            "AP right": (1 + 2 / 3) / 2,  # .9 is the first of 1; at .5 two of three are right
            "AP wrong": (1 + 2 / 3) / 2,  # -.2 is the first of 1; at .5 two of three are wrong
            "accuracy": 3 / 4,
            "balanced": (1 + 1 / 2) / 2,
            # The threshold of b, (.5 - .2) / 2, keeps both edits of a; that of a, (.9 + .5) / 2, refuses both of b.
            "best accuracy": 2 / 4,
        }
    )


def test_thresholds():
    assert best_threshold(SCORES, RIGHT) == pytest.approx(0.15)  # three of four, as .7, which is higher
    assert best_threshold(SCORES, ~RIGHT) == pytest.approx(-0.7)  # all or none are right: two of four
    assert best_threshold(SCORES, np.zeros(4, dtype=bool)) == 0.9
    assert best_threshold(SCORES[:0], RIGHT[:0]) == 0.0


def test_auc_is_that_of_the_rank_test():
    draw = np.random.default_rng(0)
    scores, right = draw.integers(0, 9, 60) / 9, draw.random(60) < 0.8
    auc = agreement_on_edits(scores, right, np.arange(60))[0, 0]
    assert auc == pytest.approx(mannwhitneyu(scores[right], scores[~right]).statistic / (right.sum() * (~right).sum()))


def test_weights_are_repetitions():
    draw = np.random.default_rng(1)
    scores, right, best = draw.integers(-4, 4, 40) / 4, draw.random(40) < 0.6, draw.random(40) < 0.5
    times = draw.integers(0, 4, 40)
    again = [np.repeat(column, times) for column in (scores, right, best)]
    weighted = _statistics(scores, right, best, times[None].astype(float))
    assert weighted == pytest.approx(_statistics(*again, np.ones((1, times.sum()))))


def test_intervals_come_from_resampled_sources():
    values, low, high = agreement_on_edits(SCORES, RIGHT, np.array([7, 7, 7, 7]))
    assert np.array_equal(values, low) and np.array_equal(values, high)  # there is one source to draw
    # Two sources, all right and all wrong in accuracy: 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4.
    table = agreement_on_edits(np.array([1.0, -1.0, -1.0, 1.0]), RIGHT, np.array([0, 0, 1, 1]))
    assert table[:, STATISTICS.index("accuracy")].tolist() == [0.5, 0.0, 1.0]
    assert table.shape == (3, len(STATISTICS)) and RESAMPLES == 1000
