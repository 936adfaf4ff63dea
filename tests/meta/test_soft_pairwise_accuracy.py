"""Soft pairwise accuracy beside a plain loop, its properties, bad input; human scores imputed from rankings."""

import itertools
import math

import numpy as np
import pytest

from geceval.meta.judgments import Item
from geceval.meta.soft_pairwise_accuracy import imputed_scores, soft_pairwise_accuracy


def random_scores(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_soft_pairwise_accuracy_equals_a_plain_loop():
    human, metric = random_scores(1, 4, 12), random_scores(2, 4, 12)
    human[1, [0, 3]] = np.nan
    signs = np.random.default_rng(4).integers(2, size=(300, 12)) * 2 - 1

    def p(scores: np.ndarray, i: int, j: int) -> float:
        differences = enumerate(scores[i] - scores[j])
        gap = [(float(difference), n) for n, difference in differences if difference == difference]
        observed = sum(value for value, _ in gap)
        return sum(sum(row[n] * value for value, n in gap) >= observed - 1e-12 for row in signs) / 300

    expected = [abs(p(human, i, j) - p(metric, i, j)) for i, j in itertools.combinations(range(4), 2)]
    assert soft_pairwise_accuracy(human, metric, 300) == pytest.approx(1 - sum(expected) / 6)


def test_soft_pairwise_accuracy_properties():
    human = random_scores(1, 3, 40) + np.array([[0], [1], [2]])
    assert soft_pairwise_accuracy(human, human) == 1.0
    assert soft_pairwise_accuracy(human, -human) < 0.1
    assert math.isnan(soft_pairwise_accuracy(np.full((2, 3), np.nan), np.ones((2, 3))))
    assert soft_pairwise_accuracy(np.ones((2, 3)), np.ones((2, 3))) == 1.0
    with pytest.raises(ValueError, match="at least two systems"):
        soft_pairwise_accuracy(human[:1], human[:1])
    with pytest.raises(ValueError, match="human scores of shape"):
        soft_pairwise_accuracy(human, human[:2])


def test_imputed_scores_are_means_of_negative_ranks():
    items = [Item(0, "u", ((("A", "B"), 1), (("C",), 3))), Item(0, "v", ((("A",), 2), (("D",), 1))), Item(2, "u", ())]
    found = imputed_scores(items, ["A", "B", "C"], 3)
    assert found[:, 0].tolist() == [-1.5, -1.0, -3.0]
    assert np.isnan(found[:, 1:]).all()
