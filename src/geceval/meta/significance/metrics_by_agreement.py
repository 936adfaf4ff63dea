"""Do two metrics differ in sentence-level accuracy or Kendall's tau? Bootstrap and approximate randomisation.

Judgments of one sentence are not independent, so whole sentences are resampled unless the caller wants single pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import check_choice, check_count
from geceval.meta.agreement import Pairs, verdicts
from geceval.meta.significance.resampling import (
    bootstrap_ratios,
    check_confidence,
    interval,
    p_value,
    randomised_ratios,
    ratio,
)

STATISTICS = ("accuracy", "kendall")
METHODS = ("paired", "shifted", "randomisation")
UNITS = ("sentence", "pair")
ALTERNATIVES = ("greater", "two-sided")


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A test of two metrics on the same judgments."""

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
    statistic: str = "accuracy",
    ties: str = "order",
    method: str = "randomisation",
    unit: str = "sentence",
    alternative: str = "greater",
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 1,
) -> PairedTest:
    """Test whether the second metric agrees better with people than the first.

    Args:
        pairs: See `geceval.meta.agreement.judged_pairs`.
        first: Sentence scores of the first metric, [systems, sentences].
        second: Those of the second.
        statistic: `"accuracy"` or `"kendall"`.
        ties: See `geceval.meta.agreement.agreement`; `"calibrated"` keeps the threshold of all pairs.
        method: `"paired"` or `"shifted"` bootstrap, or `"randomisation"`; see `p_value` in
            `geceval.meta.significance.resampling`.
        unit: What is resampled: all judgments of a `"sentence"`, or single `"pair"`s as if they were independent.
        alternative: `"greater"` (the second is better) or `"two-sided"`.
        resamples: Number of resamples, B.
        confidence: Confidence level of the interval.
        seed: Seed of the resamples.

    Raises:
        ValueError: If an option is bad, a score is not finite, or no pair is left.
    """
    check_choice("method", method, METHODS)
    check_choice("unit", unit, UNITS)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_count("resamples", resamples)
    check_confidence(confidence)
    left, right = (outcomes(pairs, scores, statistic, ties) for scores in (first, second))
    observed = [float(ratio(table.sum(axis=0))) for table in (left, right)]
    if unit == "sentence":
        left, right = (_by_sentence(pairs, table) for table in (left, right))
    draw = np.random.default_rng(seed)
    found = (randomised_ratios if method == "randomisation" else bootstrap_ratios)(left, right, resamples, draw)
    difference = observed[1] - observed[0]
    p = p_value(difference, found, method, alternative)
    low, high = (math.nan, math.nan) if method == "randomisation" else interval(found, confidence)
    return PairedTest(*observed, difference, low, high, p)


def outcomes(pairs: Pairs, scores: np.ndarray, statistic: str, ties: str) -> np.ndarray:
    """What each pair adds to the two sums whose quotient is the statistic, [pairs, 2]."""
    check_choice("statistic", statistic, STATISTICS)
    if ties == "hties" and statistic == "accuracy":
        raise InputError("tie rule 'hties' defines no accuracy; use statistic='kendall' or another rule")
    found = verdicts(pairs, scores, ties)
    value = found.agree.astype(float) - (found.disagree if statistic == "kendall" else 0)
    return np.stack([value * found.counted, found.counted.astype(float)], axis=1)


def _by_sentence(pairs: Pairs, table: np.ndarray) -> np.ndarray:
    """The sums of each judged sentence, [sentences, 2]."""
    _, row = np.unique(pairs.sentence, return_inverse=True)
    return np.stack([np.bincount(row, weights=column) for column in table.T], axis=1)
