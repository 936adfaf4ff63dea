"""Do two metrics differ in sentence-level accuracy or Kendall's tau? Bootstrap and approximate randomisation.

Judgments of one sentence hang together, so whole sentences are resampled, unless the caller wants single pairs.
Nothing is scored again and no pair is looked at twice: the sums of a resample are a product of two matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geceval.core.checks import check_choice, check_count
from geceval.core.errors import InputError
from geceval.meta.protocol import TIE_RULES, Pairs, agreement, check_finite

STATISTICS = ("accuracy", "kendall")
METHODS = ("paired", "shifted", "randomisation")
UNITS = ("sentence", "pair")
ALTERNATIVES = ("greater", "two-sided")
_EQUAL = 1e-12  # differences of quotients of the same whole numbers


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A test of two metrics on the same judgments.

    Attributes:
        first: Statistic of the first metric.
        second: Statistic of the second.
        difference: second - first.
        low: Lower end of the bootstrap interval of the difference; NaN with `"randomisation"`.
        high: Upper end.
        p: The p-value.
    """

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

    With Δ = statistic(second) - statistic(first), Δ* that of a resample and B resamples, p is

    - `"paired"`: #(Δ* ≤ 0) / B, the share of bootstrap samples in which the second is not better;
    - `"shifted"`: (1 + #(Δ* - Δ ≥ Δ)) / (B + 1), the bootstrap moved to where there is no difference (Noreen 1989;
      Riezler and Maxwell 2005 subtract the mean of all Δ*, which tends to Δ);
    - `"randomisation"`: (1 + #(Δ* ≥ Δ)) / (B + 1), where in each unit the metrics change places with probability ½.

    The two-sided forms take twice the smaller tail, |Δ* - Δ| ≥ |Δ|, and |Δ*| ≥ |Δ|.

    Args:
        pairs: See `geceval.meta.protocol.judged_pairs`.
        first: Sentence scores of the first metric, [systems, sentences].
        second: Those of the second.
        statistic: `"accuracy"` or `"kendall"`.
        ties: See `geceval.meta.protocol.agreement`; `"calibrated"` keeps the threshold of all pairs.
        method: See above.
        unit: What is drawn: the judgments of a `"sentence"`, or single `"pair"`s as if they were independent.
        alternative: `"greater"` (the second is better) or `"two-sided"`.
        resamples: B.
        confidence: Of the interval.
        seed: Of the resamples.

    Raises:
        ValueError: If an option is bad, a score is not finite, or no pair is left.
    """
    for name, value, choices in (
        ("method", method, METHODS),
        ("unit", unit, UNITS),
        ("alternative", alternative, ALTERNATIVES),
    ):
        check_choice(name, value, choices)
    check_count("resamples", resamples)
    check_confidence(confidence)
    left, right = (outcomes(pairs, scores, statistic, ties) for scores in (first, second))
    observed = [float(_ratio(table.sum(axis=0))) for table in (left, right)]
    if unit == "sentence":
        left, right = (_by_sentence(pairs, table) for table in (left, right))
    draw = np.random.default_rng(seed)
    found = (_swap if method == "randomisation" else _resample)(left, right, resamples, draw)
    difference = observed[1] - observed[0]
    p = p_value(difference, found, method, alternative)
    low = high = float("nan")
    if method != "randomisation":
        low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return PairedTest(*observed, difference, low, high, p)


def agreement_interval(
    pairs: Pairs,
    scores: np.ndarray,
    *,
    statistic: str = "accuracy",
    ties: str = "order",
    unit: str = "sentence",
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 1,
) -> tuple[float, float]:
    """Bootstrap percentile interval of one metric's accuracy or Kendall's tau; arguments as in `compare_agreement`."""
    check_choice("unit", unit, UNITS)
    check_count("resamples", resamples)
    check_confidence(confidence)
    table = outcomes(pairs, scores, statistic, ties)
    if unit == "sentence":
        table = _by_sentence(pairs, table)
    found = _resample(np.zeros_like(table), table, resamples, np.random.default_rng(seed))
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return low, high


def outcomes(pairs: Pairs, scores: np.ndarray, statistic: str, ties: str) -> np.ndarray:
    """What each pair adds to the two sums whose quotient is the statistic, [pairs, 2].

    Args:
        pairs: The judgments.
        scores: [systems, sentences].
        statistic: `"accuracy"` or `"kendall"`.
        ties: See `geceval.meta.protocol.agreement`.

    Raises:
        ValueError: If `statistic` or `ties` is unknown, the statistic is not defined under this tie rule, a score is
            not finite, or no pair is left.
    """
    check_choice("statistic", statistic, STATISTICS)
    check_choice("ties", ties, TIE_RULES)
    check_finite(scores)
    if ties == "hties" and statistic == "accuracy":
        raise InputError("tie rule 'hties' defines no accuracy; use statistic='kendall' or another rule")
    difference = scores[pairs.first, pairs.sentence] - scores[pairs.second, pairs.sentence]
    epsilon = agreement(pairs, scores, ties).epsilon if ties == "calibrated" else 0.0
    tied, ordered = np.abs(difference) <= epsilon, pairs.human != 0
    sign = np.where(tied, 0, np.sign(difference))
    if ties == "order":
        sign = np.where(tied, -1, sign)
    counted = ordered & ~tied if ties == "drop" else ordered | (ties in ("hties", "calibrated"))
    agree, disagree = sign * pairs.human > 0, sign * pairs.human < 0
    if ties in ("hties", "calibrated"):
        agree = agree | (tied & ~ordered)
    if ties == "calibrated":
        disagree = ~agree
    if not counted.any():
        raise InputError("no pair of systems is left to compare")
    value = agree.astype(float) - (disagree if statistic == "kendall" else 0)
    return np.stack([value * counted, counted.astype(float)], axis=1)


def p_value(difference: float, found: np.ndarray, method: str, alternative: str) -> float:
    """The p-value of an observed difference beside those of resamples; see `compare_agreement`."""
    count = len(found)
    if method == "paired":
        at_most, at_least = (found <= _EQUAL).sum() / count, (found >= -_EQUAL).sum() / count
        return float(at_most if alternative == "greater" else min(1.0, 2 * min(at_most, at_least)))
    null = found - difference if method == "shifted" else found
    hits = null >= difference - _EQUAL if alternative == "greater" else np.abs(null) >= abs(difference) - _EQUAL
    return float((1 + hits.sum()) / (count + 1))


def check_confidence(value: float) -> None:
    """Raise a `ValueError` unless `value` lies between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {value!r}")


def _by_sentence(pairs: Pairs, table: np.ndarray) -> np.ndarray:
    """Sums of the judged sentences, [sentences, 2]."""
    _, place = np.unique(pairs.sentence, return_inverse=True)
    return np.stack([np.bincount(place, weights=column) for column in table.T], axis=1)


def _resample(left: np.ndarray, right: np.ndarray, resamples: int, draw: np.random.Generator) -> np.ndarray:
    """Differences of bootstrap samples of units; equal units are drawn together, by a multinomial."""
    kinds, counts = np.unique(np.hstack([left, right]), axis=0, return_counts=True)
    drawn = draw.multinomial(counts.sum(), counts / counts.sum(), size=resamples).astype(float)
    sums = drawn @ kinds
    return _ratio(sums[:, 2:]) - _ratio(sums[:, :2])


def _swap(left: np.ndarray, right: np.ndarray, resamples: int, draw: np.random.Generator) -> np.ndarray:
    """Differences when units change sides; of equal units only the number of swaps matters, a binomial."""
    kinds, counts = np.unique(right - left, axis=0, return_counts=True)
    moved = draw.binomial(counts, 0.5, size=(resamples, len(counts))).astype(float) @ kinds
    return _ratio(right.sum(axis=0) - moved) - _ratio(left.sum(axis=0) + moved)


def _ratio(sums: np.ndarray) -> np.ndarray:
    """The statistic of sums [..., 2]; 0 where a resample holds no pair that counts."""
    value, count = np.moveaxis(sums, -1, 0)
    return np.where(count > 0, value / np.where(count > 0, count, 1), 0.0)
