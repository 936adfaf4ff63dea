"""Williams' test, PERM-BOTH and soft pairwise accuracy: published numbers, plain loops, properties, bad input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from geceval.meta.judgments.data import Item
from geceval.meta.significance.metrics_by_correlation import perm_both, williams, williams_test
from geceval.meta.soft_pairwise_accuracy import imputed_scores, soft_pairwise_accuracy

GOLD, CLOSE, FAR = [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5]


def random_scores(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_williams_numbers_of_mt_metrics_eval():
    # The example of mt-metrics-eval's own test: correlations .9994, .9869, .9906.
    found = williams_test(GOLD, CLOSE, FAR)
    assert (round(found.t, 3), round(found.one_sided, 4)) == (4.972, 0.0191)
    assert found.two_sided == 2 * found.one_sided


def test_williams_from_correlations():
    found = williams(0.9, 0.8, 0.7, 12)
    assert (round(found.t, 5), round(found.one_sided, 5)) == (1.00341, 0.17094)


def test_williams_on_seeda(shared_data, conll_2014):
    """Base systems, TS_sent, with the settings of gec-metrics: GREEN over GLEU, and GLEU over the characters."""
    from geceval.edits.m2 import read_m2, references
    from geceval.meta.judgments.data import system_set
    from geceval.meta.judgments.readers import read_seeda
    from geceval.registry import make_scorer

    data = read_seeda(shared_data / "seeda")
    gold = read_m2(conll_2014)
    texts = []
    for line in data.lines:  # an annotator without a line left the sentence as it is, as in the published scores
        found = references(gold[line])
        texts.append([found.get(annotator, gold[line].source) for annotator in (0, 1)])
    systems = system_set(data, "base")
    scorers = {"green": make_scorer("green"), "gleu": make_scorer("gleu", {"counting": "paper", "sampler": "python3"})}
    scores = {
        metric: [scorer.score(data.sources, data.outputs[system], texts).score for system in systems]
        for metric, scorer in scorers.items()
    }
    scores["length"] = [float(sum(map(len, data.outputs[system]))) for system in systems]
    human = [data.scores["ts_sent"][system] for system in systems]
    for better, worse, t, p in (("green", "gleu", 1.8127, 0.0516), ("gleu", "length", 2.0911, 0.0330)):
        found = williams_test(human, scores[better], scores[worse])
        assert (round(found.t, 4), round(found.one_sided, 4)) == (t, p)


def test_williams_mirrors_and_identical_metrics_do_not_differ():
    one, other = williams_test(GOLD, CLOSE, FAR), williams_test(GOLD, FAR, CLOSE)
    assert (other.t, other.one_sided) == pytest.approx((-one.t, one.one_sided))
    same = williams_test(GOLD, FAR, FAR)
    assert (same.t, same.one_sided, same.two_sided) == (0.0, 0.5, 1.0)


def test_williams_variants():
    negative = [-value for value in CLOSE]
    assert williams_test(GOLD, negative, FAR).t < 0
    assert williams_test(GOLD, negative, FAR, absolute=True).t == pytest.approx(williams_test(GOLD, CLOSE, FAR).t)
    human, first, second = random_scores(1, 3, 12)
    found = williams_test(human, first, second, "spearman")
    r = [stats.spearmanr(*pair).statistic for pair in ((first, human), (second, human), (first, second))]
    assert found.t == pytest.approx(williams(*r, 12).t)


def test_williams_edges():
    assert math.isnan(williams_test(GOLD, [1] * 5, FAR).two_sided)  # a constant metric has no correlation
    assert math.isinf(williams(1.0, 0.5, 1.0, 5).t)  # K < 0: no correlations of three lists, kept from raising
    with pytest.raises(ValueError, match="at least 4 systems, got 3"):
        williams_test(GOLD[:3], CLOSE[:3], FAR[:3])
    with pytest.raises(ValueError, match="5 human scores"):
        williams_test(GOLD, CLOSE[:4], FAR)
    with pytest.raises(ValueError, match="first scores hold NaN"):
        williams_test(GOLD, [math.nan, *CLOSE[1:]], FAR)
    with pytest.raises(ValueError, match="r23 is no correlation"):
        williams(0.5, 0.5, 1.5, 9)
    with pytest.raises(ValueError, match="correlation must be one of"):
        williams_test(GOLD, CLOSE, FAR, "kendall")


@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
@pytest.mark.parametrize("pooled", [True, False])
def test_perm_both_equals_a_plain_loop(correlation, pooled):
    human = random_scores(2, 6, 10)
    first, second = human + 2 * random_scores(3, 6, 10), 5 * human + 9 * random_scores(4, 6, 10)
    first[2, 3] = np.nan
    people = human if pooled else human.mean(axis=1)
    found = perm_both(people, first, second, correlation, permutations=200, seed=5)
    known = ~np.isnan(first)
    a, b = ((scores - scores[known].mean()) / scores[known].std() for scores in (first, second))

    def correlate(scores: np.ndarray) -> float:
        if pooled:
            pair = scores[known], people[known]
        else:
            pair = [row[use].mean() for row, use in zip(scores, known, strict=True)], people
        return (stats.pearsonr if correlation == "pearson" else stats.spearmanr)(*pair).statistic

    assert (found.first, found.second) == pytest.approx((correlate(a), correlate(b)))
    draws = np.random.default_rng(5).integers(2, size=(200, known.sum()), dtype=np.int8).astype(bool)
    hits = 0
    for row in draws:
        swapped = np.zeros_like(known)
        swapped[known] = row
        lead = correlate(np.where(swapped, a, b)) - correlate(np.where(swapped, b, a))
        hits += lead >= found.second - found.first - 1e-12
    assert (found.p, found.permutations) == (hits / 200, 200)


def test_perm_both_properties():
    human = random_scores(2, 8, 30)
    good, bad = human + 0.2 * random_scores(3, 8, 30), random_scores(4, 8, 30)
    assert perm_both(human, bad, good).p == 0.0
    assert perm_both(human, good, bad).p > 0.99
    assert perm_both(human, good, good).p == 1.0
    assert perm_both(human, 7 * good + 1, bad).p == perm_both(human, good, bad).p  # scales do not matter
    assert perm_both(human, bad, good, seed=3) == perm_both(human, bad, good, seed=3)


def test_perm_both_stops_early_where_the_case_is_clear():
    human = random_scores(2, 8, 30)
    good, bad = human + 0.2 * random_scores(3, 8, 30), random_scores(4, 8, 30)
    assert perm_both(human, bad, good, permutations=5000).permutations == 1000
    assert perm_both(human, bad, good, permutations=2500, early_stop=False).permutations == 2500


def test_perm_both_bad_input():
    human, first = random_scores(1, 4), random_scores(2, 4, 5)
    assert math.isnan(perm_both(human, first, np.ones((4, 5))).p)
    assert math.isnan(perm_both(np.ones(4), first, first).p)
    with pytest.raises(ValueError, match="do not fit human scores of shape"):
        perm_both(random_scores(1, 3), first, first)


def test_soft_pairwise_accuracy_equals_a_plain_loop():
    human, metric = random_scores(1, 4, 12), random_scores(2, 4, 12)
    human[1, [0, 3]] = np.nan
    signs = np.random.default_rng(4).integers(2, size=(300, 12)) * 2 - 1

    def p(scores: np.ndarray, i: int, j: int) -> float:
        gap = [
            (float(a - b), n) for n, (a, b) in enumerate(zip(scores[i], scores[j], strict=True)) if a == a and b == b
        ]
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


def test_means_that_differ_by_rounding_are_equal():
    metric = np.tile([0.1, 0.2, 0.3, 0.4, 0.7], (6, 1))
    for row, shift in enumerate(metric):
        metric[row] = np.roll(shift, row)  # the same scores in another order: means equal but for the last digit
    other = np.random.default_rng(0).random((6, 5))
    found = perm_both(np.arange(6.0), metric, other, permutations=50)
    assert np.isnan(found.first) and np.isnan(found.p) and found.permutations == 0
    assert np.isnan(perm_both(np.full(6, 0.1), metric, other, permutations=50).second)
