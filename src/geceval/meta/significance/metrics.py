"""Does one metric agree better with people than another? Tests of agreement on sentences, and of correlations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from geceval.core.errors import InputError, naming_the_extra
from geceval.core.options import check_choice, check_count
from geceval.meta.agreement import Pairs, TieRule, verdicts
from geceval.meta.correlation import correlate
from geceval.meta.significance.resampling import (
    INSIDE,
    Alternative,
    Method,
    bootstrap_sums,
    interval,
    p_value,
    randomised_sums,
    ratio,
)

Statistic = Literal["accuracy", "kendall"]
Coefficient = Literal["pearson", "spearman"]


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The statistics of two metrics on the same judgments, second - first with its interval (bootstrap only), and p."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def compare_agreement(
    pairs: Pairs,
    first: np.ndarray,
    second: np.ndarray,
    *,
    statistic: Statistic = "accuracy",
    ties: TieRule = "order",
    method: Method = "randomisation",
    alternative: Alternative = "greater",
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 1,
) -> PairedTest:
    """Test whether the second metric agrees better with people than the first.

    Judgments of one sentence are not independent, so whole sentences are resampled.

    Args:
        pairs: See `geceval.meta.agreement.judged_pairs`.
        first: Sentence scores of the first metric, [systems, sentences].
        second: Those of the second.
        statistic: `"accuracy"` or `"kendall"`.
        ties: See `geceval.meta.agreement.agreement`; `"calibrated"` keeps the threshold of all pairs.
        method: `"bootstrap"` or `"randomisation"`; see `geceval.meta.significance.resampling.p_value`. Only the
            bootstrap gives an interval.
        alternative: `"greater"` (the second is better) or `"two-sided"`.
        resamples: Number of resamples, B.
        confidence: Confidence level of the interval.
        seed: Seed of the resamples.

    Raises:
        ValueError: If an option is bad, a score is not finite, or no pair is left.
    """
    check_choice("method", method, get_args(Method))
    check_choice("alternative", alternative, get_args(Alternative))
    check_count("resamples", resamples)
    INSIDE.check("confidence", confidence)
    left, right = (outcomes(pairs, scores, statistic, ties) for scores in (first, second))
    observed = [float(ratio(table.sum(axis=0))) for table in (left, right)]
    left, right = (_by_sentence(pairs, table) for table in (left, right))
    draw = np.random.default_rng(seed)
    if method == "randomisation":
        lefts, rights = randomised_sums(left, right, resamples, draw)
    else:
        lefts, rights = np.split(bootstrap_sums(np.hstack([left, right]), resamples, draw), 2, axis=1)
    differences = ratio(rights) - ratio(lefts)
    difference = observed[1] - observed[0]
    p = p_value(difference, differences, method, alternative)
    low, high = (math.nan, math.nan) if method == "randomisation" else interval(differences, confidence)
    return PairedTest(*observed, difference, low, high, p)


def outcomes(pairs: Pairs, scores: np.ndarray, statistic: Statistic, ties: TieRule) -> np.ndarray:
    """Contributions of each pair to the two sums whose quotient is the statistic, [pairs, 2]."""
    check_choice("statistic", statistic, get_args(Statistic))
    if ties == "hties" and statistic == "accuracy":
        raise InputError("tie rule 'hties' defines no accuracy; use statistic='kendall' or another rule")
    judged = verdicts(pairs, scores, ties)
    value = judged.agree.astype(float) - (judged.disagree if statistic == "kendall" else 0)
    return np.stack([value * judged.counted, judged.counted.astype(float)], axis=1)


def _by_sentence(pairs: Pairs, table: np.ndarray) -> np.ndarray:
    """The sums of each judged sentence, [sentences, 2]."""
    _, row = np.unique(pairs.sentence, return_inverse=True)
    return np.stack([np.bincount(row, weights=column) for column in table.T], axis=1)


@dataclass(frozen=True, slots=True)
class Williams:
    """Student's t with n - 3 degrees of freedom, above 0 if the first metric correlates better, and its p-values."""

    t: float
    one_sided: float
    two_sided: float


def williams(r12: float, r13: float, r23: float, count: int) -> Williams:
    """Williams' test (Graham and Baldwin 2014) from the three correlations."""
    # K = 1 - r12² - r13² - r23² + 2·r12·r13·r23 and t = (r12 - r13)·√((n-1)(1+r23)) / √(2K(n-1)/(n-3) +
    # ((r12+r13)/2)²·(1-r23)³).
    if count < 4:
        raise InputError(f"Williams' test needs at least 4 systems, got {count}")
    if any(math.isnan(value) for value in (r12, r13, r23)):
        return Williams(math.nan, math.nan, math.nan)
    if r12 == r13:
        return Williams(0.0, 0.5, 1.0)
    with naming_the_extra("Williams' test"):
        from scipy.stats import t as student

    k = max(1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23, 0.0)  # below 0 by rounding only
    mean = (r12 + r13) / 2
    below = math.sqrt(2 * k * (count - 1) / (count - 3) + mean**2 * max(1 - r23, 0.0) ** 3)
    above = (r12 - r13) * math.sqrt((count - 1) * max(1 + r23, 0.0))
    t = above / below if below else math.copysign(math.inf, above)
    p = float(student.sf(abs(t), count - 3))
    return Williams(t, p, 2 * p)


def williams_test(
    human: Sequence[float], first: Sequence[float], second: Sequence[float], correlation: Coefficient = "pearson"
) -> Williams:
    """Williams' test from the scores of the systems.

    Args:
        human: Human scores, one per system.
        first: Scores of the first metric, systems in the same order.
        second: Scores of the second metric.
        correlation: `"pearson"`, or `"spearman"`.

    Raises:
        ValueError: If the lists differ in length, are shorter than 4, hold NaN, or `correlation` is unknown.
    """
    check_choice("correlation", correlation, get_args(Coefficient))
    for name, values in (("human", human), ("first", first), ("second", second)):
        if np.isnan(np.asarray(values, dtype=float)).any():
            raise InputError(f"the {name} scores hold NaN")
    pairs = (first, human), (second, human), (first, second)
    return williams(*(getattr(correlate(*pair), correlation) for pair in pairs), len(human))
