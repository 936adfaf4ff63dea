"""Tests of two metrics: published numbers, plain loops, properties, bad input."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from geceval.meta.agreement import TIE_RULES, Pairs, agreement
from geceval.meta.significance.metrics import compare_agreement, outcomes, williams, williams_test
from geceval.meta.significance.resampling import holm, p_value

GOLD, CLOSE, FAR = [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5]


def one_pair_a_sentence(size: int) -> Pairs:
    """Two systems; people prefer the first in every sentence."""
    zeros = np.zeros(size, dtype=int)
    return Pairs(np.arange(size), zeros, zeros + 1, zeros + 1)


def invented(seed: int, size: int = 300) -> tuple[Pairs, np.ndarray, np.ndarray]:
    """Judgments of 4 systems on 30 sentences; the second metric sees more of what people see."""
    draw = np.random.default_rng(seed)
    quality = draw.normal(size=(4, 30))
    first, second = np.sort(np.stack([draw.permutation(4)[:2] for _ in range(size)]).T, axis=0)
    sentence = draw.integers(30, size=size)
    gap = quality[first, sentence] - quality[second, sentence] + draw.normal(size=size)
    human = np.where(np.abs(gap) < 0.3, 0, np.sign(gap)).astype(int)
    blurred = [np.round(quality + spread * draw.normal(size=(4, 30)), 1) for spread in (2.0, 0.5)]
    return Pairs(sentence, first, second, human), *blurred


@pytest.mark.parametrize(("method", "expected"), [("bootstrap", 0.264), ("randomisation", 1.0)])
def test_metrics_that_differ_in_one_of_1000_sentences(method, expected):
    """The sentence is drawn k times with probability e⁻¹/k!: P(k ≥ 2) = .264; |Δ| never changes."""
    alternative = "two-sided" if method == "randomisation" else "greater"
    first = np.vstack([np.ones(1000), np.zeros(1000)])
    second = first.copy()
    first[:, 17] = 0, 1
    pairs = one_pair_a_sentence(1000)
    found = compare_agreement(pairs, first, second, method=method, resamples=20_000, alternative=alternative)
    assert found.difference == pytest.approx(0.001)
    assert found.p == pytest.approx(expected, abs=0.012)  # 3.5 standard deviations


@pytest.mark.parametrize("ties", TIE_RULES)
@pytest.mark.parametrize("statistic", ["accuracy", "kendall"])
def test_statistics_are_those_of_agreement(ties, statistic):
    pairs, first, second = invented(1)
    if (ties, statistic) == ("hties", "accuracy"):
        with pytest.raises(ValueError, match="defines no accuracy"):
            outcomes(pairs, first, statistic, ties)
        return
    found = compare_agreement(pairs, first, second, statistic=statistic, ties=ties, resamples=10)
    assert found.first == pytest.approx(getattr(agreement(pairs, first, ties), statistic))
    assert found.second == pytest.approx(getattr(agreement(pairs, second, ties), statistic))


def test_bootstrap_of_sentences_equals_a_plain_loop():
    """The distribution, not the draws: whole sentences with all their judgments, each as often as it was drawn."""
    pairs, first, second = invented(2)
    found = compare_agreement(pairs, first, second, method="bootstrap", ties="zero", resamples=20_000)
    draw, differences = np.random.default_rng(0), []
    judged = np.unique(pairs.sentence)
    tables = [outcomes(pairs, scores, "accuracy", "zero") for scores in (first, second)]
    for _ in range(600):
        rows = np.concatenate([np.flatnonzero(pairs.sentence == each) for each in draw.choice(judged, len(judged))])
        one, two = (sums[rows].sum(axis=0) for sums in tables)
        differences.append(two[0] / two[1] - one[0] / one[1])
    low, high = np.quantile(differences, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.015)
    assert found.p == pytest.approx(np.mean(np.array(differences) >= 2 * found.difference), abs=0.02)


def test_randomisation_equals_all_swaps():
    """With 10 sentences all 1,024 swaps can be made."""
    pairs, first, second = invented(3, size=60)
    keep = pairs.sentence < 10
    pairs = Pairs(pairs.sentence[keep], pairs.first[keep], pairs.second[keep], pairs.human[keep])
    tables = [outcomes(pairs, scores, "kendall", "drop") for scores in (first, second)]
    judged = np.unique(pairs.sentence)
    one, two = (np.stack([table[pairs.sentence == s].sum(axis=0) for s in judged]) for table in tables)
    settings = {"statistic": "kendall", "ties": "drop", "resamples": 40_000}
    observed = compare_agreement(pairs, first, second, **settings)
    both = compare_agreement(pairs, first, second, **settings, alternative="two-sided")
    differences = []
    for swaps in itertools.product([False, True], repeat=len(judged)):
        mask = np.array(swaps)[:, None]
        a, b = np.where(mask, two, one).sum(axis=0), np.where(mask, one, two).sum(axis=0)
        differences.append(b[0] / b[1] - a[0] / a[1])
    differences = np.array(differences)
    assert observed.p == pytest.approx((differences >= observed.difference - 1e-12).mean(), abs=0.01)
    assert both.p == pytest.approx((np.abs(differences) >= abs(observed.difference) - 1e-12).mean(), abs=0.01)


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_identical_metrics_do_not_differ_and_swapped_ones_mirror(method):
    pairs, first, second = invented(4)
    for alternative in ("greater", "two-sided"):
        same = compare_agreement(pairs, first, first, method=method, alternative=alternative, resamples=200)
        assert (same.difference, same.p) == (0.0, 1.0)
    one = compare_agreement(pairs, first, second, method=method, alternative="two-sided", resamples=2000)
    other = compare_agreement(pairs, second, first, method=method, alternative="two-sided", resamples=2000)
    assert other.difference == -one.difference
    assert other.p == pytest.approx(one.p, abs=0.03)
    if method != "randomisation":
        assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=0.02)


def test_seeds():
    pairs, first, second = invented(5)
    settings = {"method": "bootstrap", "resamples": 500}
    one, again, other = (compare_agreement(pairs, first, second, **settings, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.low != other.low


def test_p_values_by_hand():
    found = np.array([-0.1, 0.0, 0.1, 0.2, 0.3])
    assert p_value(0.1, found, "bootstrap", "greater") == 3 / 6  # .2 - .1 and .3 - .1 reach .1
    assert p_value(0.1, found, "bootstrap", "two-sided") == 5 / 6
    assert p_value(0.1, found, "randomisation", "greater") == 4 / 6
    assert p_value(-0.1, found, "randomisation", "two-sided") == 5 / 6


def test_bad_input():
    pairs, first, second = invented(7)
    broken = first.copy()
    broken[1, 2] = math.nan
    for arguments, message in (
        ({"second": broken}, "system number 2 on sentence 3 is NaN"),
        ({"ties": "none"}, "tie rule must be one of .*, got 'none'"),
        ({"method": "t-test"}, "method must be one of"),
        ({"resamples": 0}, "resamples must be at least 1"),
        ({"confidence": 1.0}, "confidence must lie between 1e-06 and"),
        ({"second": np.zeros_like(first), "ties": "drop"}, "no pair of systems is left"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_agreement(**({"pairs": pairs, "first": first, "second": second} | arguments))


def test_williams_numbers_of_mt_metrics_eval():
    # The example of mt-metrics-eval's own test: correlations .9994, .9869, .9906.
    found = williams_test(GOLD, CLOSE, FAR)
    assert (round(found.t, 3), round(found.one_sided, 4)) == (4.972, 0.0191)
    assert found.two_sided == 2 * found.one_sided


def test_williams_from_correlations():
    found = williams(0.9, 0.8, 0.7, 12)
    assert (round(found.t, 5), round(found.one_sided, 5)) == (1.00341, 0.17094)


def test_williams_mirrors_and_identical_metrics_do_not_differ():
    one, other = williams_test(GOLD, CLOSE, FAR), williams_test(GOLD, FAR, CLOSE)
    assert (other.t, other.one_sided) == pytest.approx((-one.t, one.one_sided))
    same = williams_test(GOLD, FAR, FAR)
    assert (same.t, same.one_sided, same.two_sided) == (0.0, 0.5, 1.0)


def test_williams_variants():
    assert williams_test(GOLD, [-value for value in CLOSE], FAR).t < 0
    human, first, second = np.random.default_rng(1).normal(size=(3, 12))
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
    with pytest.raises(ValueError, match="correlation must be one of"):
        williams_test(GOLD, CLOSE, FAR, "kendall")


def test_holm():
    """.01 · 3, .03 · 2 and .04 · 1, the last raised to the one before; of equal ones each, at most 1."""
    assert holm([0.04, 0.01, math.nan, 0.03]) == pytest.approx([0.06, 0.03, math.nan, 0.06], nan_ok=True)
    assert holm([0.6, 0.6]) == [1, 1]
    assert holm([]) == []
