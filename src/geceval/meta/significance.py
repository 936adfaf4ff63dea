"""Is one metric closer to people than another? Tests of correlations, and soft pairwise accuracy.

Tests of sentence-level accuracy and Kendall's tau are in `geceval.meta.paired`, tests of two systems under one metric
in `geceval.meta.resampling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.checks import check_choice, check_count
from geceval.core.errors import InputError
from geceval.meta.judgments.data import Item
from geceval.meta.protocol import correlate, is_constant, rank_table

CORRELATIONS = ("pearson", "spearman")
_EQUAL = 1e-12  # sums of the same numbers in another order
_CELLS = 4_000_000  # numbers held at once


@dataclass(frozen=True, slots=True)
class Williams:
    """Williams' test of two correlations that share the human scores.

    Attributes:
        t: Positive if the first metric correlates better, in Student's t with n - 3 degrees of freedom.
        one_sided: Probability of so large a lead, or larger, of the metric that leads, if both were equally good.
        two_sided: Likewise, of a lead of either metric.
    """

    t: float
    one_sided: float
    two_sided: float


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A permutation test of two correlations.

    Attributes:
        first: Correlation of the first metric with people.
        second: Correlation of the second.
        p: Share of the permutations in which the second leads by at least as much as it does; NaN if a correlation
            is undefined.
        permutations: How many were made.
    """

    first: float
    second: float
    p: float
    permutations: int


def williams(r12: float, r13: float, r23: float, count: int) -> Williams:
    """Williams' test (Graham and Baldwin 2014) from the three correlations.

    K = 1 - r12² - r13² - r23² + 2·r12·r13·r23 and
    t = (r12 - r13)·√((n-1)(1+r23)) / √(2K(n-1)/(n-3) + ((r12+r13)/2)²·(1-r23)³).

    Args:
        r12: Correlation of the first metric with people.
        r13: Correlation of the second metric with people.
        r23: Correlation of the two metrics.
        count: Number n of systems.

    Returns:
        The test; NaN throughout if a correlation is NaN. Two metrics that correlate equally give t = 0.

    Raises:
        ValueError: If there are fewer than 4 systems or a correlation lies outside [-1, 1].
    """
    if count < 4:
        raise InputError(f"Williams' test needs at least 4 systems, got {count}")
    for name, value in (("r12", r12), ("r13", r13), ("r23", r23)):
        if abs(value) > 1 + _EQUAL:
            raise InputError(f"{name} is no correlation: {value!r} lies outside [-1, 1]")
    if any(math.isnan(value) for value in (r12, r13, r23)):
        return Williams(math.nan, math.nan, math.nan)
    if r12 == r13:
        return Williams(0.0, 0.5, 1.0)
    from scipy.stats import t as student

    k = max(1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23, 0.0)  # below 0 by rounding only
    mean = (r12 + r13) / 2
    below = math.sqrt(2 * k * (count - 1) / (count - 3) + mean**2 * max(1 - r23, 0.0) ** 3)
    above = (r12 - r13) * math.sqrt((count - 1) * max(1 + r23, 0.0))
    t = above / below if below else math.copysign(math.inf, above)
    p = float(student.sf(abs(t), count - 3))
    return Williams(t, p, 2 * p)


def williams_test(
    human: Sequence[float],
    first: Sequence[float],
    second: Sequence[float],
    correlation: str = "pearson",
    *,
    absolute: bool = False,
) -> Williams:
    """Williams' test from the scores of the systems.

    Args:
        human: Human scores, one a system.
        first: Scores of the first metric, systems in the same order.
        second: Scores of the second metric.
        correlation: `"pearson"`, or `"spearman"`.
        absolute: Compare the sizes of the correlations with people, as Graham's script does, so that a metric where
            lower is better may stand beside one where higher is.

    Raises:
        ValueError: If the lists differ in length, are shorter than 4, hold NaN, or `correlation` is unknown.
    """
    check_choice("correlation", correlation, CORRELATIONS)
    for name, values in (("human", human), ("first", first), ("second", second)):
        if np.isnan(np.asarray(values, dtype=float)).any():
            raise InputError(f"the {name} scores hold NaN")
    found = [getattr(correlate(*pair), correlation) for pair in ((first, human), (second, human), (first, second))]
    if absolute:
        signs = [-1 if value < 0 else 1 for value in found[:2]]
        found = [abs(found[0]), abs(found[1]), found[2] * signs[0] * signs[1]]
    return williams(*found, len(human))


def perm_both(
    human: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    correlation: str = "pearson",
    permutations: int = 1000,
    seed: int = 1,
    *,
    early_stop: bool = True,
) -> PermutationTest:
    """PERM-BOTH (Deutsch et al. 2021): is the second metric's lead larger than when scores change sides at random?

    Both metrics are standardised over all their scores; each permutation lets every score change sides with
    probability ½ and correlates anew. An entry that is NaN anywhere is left out.

    Args:
        human: [systems], with which the means of the metrics' sentence scores are correlated, or an array of the shape
            of the metrics: all entries are then correlated as one list.
        first: Scores of the first metric, [systems] or [systems, sentences].
        second: Likewise of the second.
        correlation: `"pearson"` or `"spearman"`.
        permutations: At most so many.
        seed: Of the permutations.
        early_stop: Stop after any 1,000 permutations if p is then below .02 or above .5.

    Raises:
        ValueError: If the shapes do not fit together or an option is bad.
    """
    check_choice("correlation", correlation, CORRELATIONS)
    check_count("permutations", permutations)
    human, first, second = (np.asarray(values, dtype=float) for values in (human, first, second))
    if first.shape != second.shape or human.shape not in (first.shape, first.shape[:1]):
        raise InputError(
            f"scores of shape {first.shape} and {second.shape} do not fit human scores of shape {human.shape}"
        )
    pooled = human.shape == first.shape
    known = ~(np.isnan(first) | np.isnan(second) | np.isnan(human if pooled else human[:, None]))
    left, right = _standardised(first, known), _standardised(second, known)
    shape, people = _table(human, known, pooled)
    if people.size < 2 or left is None or right is None:
        return PermutationTest(math.nan, math.nan, math.nan, 0)
    observed = [float(shape(values[None], people, correlation)[0]) for values in (left, right)]
    if any(map(math.isnan, observed)):
        return PermutationTest(*observed, math.nan, 0)
    lead = observed[1] - observed[0] - _EQUAL
    draw, hits, done = np.random.default_rng(seed), 0, 0
    while done < permutations and not (early_stop and done and done % 1000 == 0 and not 0.02 <= hits / done <= 0.5):
        size = min(permutations - done, 1000 - done % 1000, max(_CELLS // left.size, 1))
        swapped = draw.integers(2, size=(size, left.size), dtype=np.int8).astype(bool)
        one = shape(np.where(swapped, right, left), people, correlation)
        two = shape(np.where(swapped, left, right), people, correlation)
        hits += int((two - one >= lead).sum())
        done += size
    return PermutationTest(*observed, hits / done, done)


def soft_pairwise_accuracy(human: np.ndarray, metric: np.ndarray, permutations: int = 1000, seed: int = 4) -> float:
    """Soft pairwise accuracy (Thompson et al. 2024): do people and metric agree on how sure a lead is?

    For each pair of systems i < j a one-sided p-value says how often the mean difference of their sentence scores is
    at least as large when signs are flipped at random; the same signs serve all pairs, people and metric. The
    result is 1 - mean |p_human - p_metric|.

    Args:
        human: [systems, sentences], NaN where there is none (see `imputed_scores`).
        metric: [systems, sentences], NaN where there is none.
        permutations: Flips of signs.
        seed: Of the flips.

    Returns:
        In [0, 1]; NaN if no pair has a sentence with scores of both systems. Such pairs are left out.

    Raises:
        ValueError: If the shapes differ or there are fewer than two systems.
    """
    check_count("permutations", permutations)
    if human.shape != metric.shape or human.ndim != 2:
        raise InputError(f"human scores of shape {human.shape} but metric scores of shape {metric.shape}")
    if len(human) < 2:
        raise InputError("soft pairwise accuracy needs at least two systems")
    signs = np.random.default_rng(seed).integers(2, size=(permutations, human.shape[1])) * 2.0 - 1
    gaps = np.abs(_one_sided(human, signs) - _one_sided(metric, signs))
    return float(1 - np.nanmean(gaps)) if not np.isnan(gaps).all() else math.nan


def imputed_scores(items: Sequence[Item], systems: Sequence[str], sentences: int) -> np.ndarray:
    """Human sentence scores from rankings: the mean of -rank over the items of a sentence.

    Ranks of different items compare different systems, so this is a makeshift; nobody has published such scores.

    Returns:
        [systems, sentences], NaN where a system was not judged.
    """
    table = rank_table(items, systems)
    owners = np.array([item.sentence for item in items], dtype=np.int64)
    known = ~np.isnan(table)
    sums, counts = np.zeros((2, sentences, len(systems)))
    np.add.at(sums, owners, np.where(known, -table, 0.0))
    np.add.at(counts, owners, known)
    return np.where(counts > 0, sums / np.where(counts > 0, counts, 1), np.nan).T


def _one_sided(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """p-value of each pair of systems i < j; NaN for a pair without a common sentence."""
    first, second = np.triu_indices(len(scores), k=1)
    differences = scores[first] - scores[second]
    known = ~np.isnan(differences)
    differences = np.where(known, differences, 0.0)
    scale = np.abs(differences).sum(axis=1)
    reached = signs @ differences.T >= differences.sum(axis=1) - _EQUAL * scale
    return np.where(known.any(axis=1), reached.mean(axis=0), np.nan)


def _standardised(scores: np.ndarray, known: np.ndarray) -> np.ndarray | None:
    """The known scores as one list with mean 0 and variance 1; `None` if they are constant."""
    values = scores[known]
    spread = values.std() if values.size else 0.0
    return (values - values.mean()) / spread if spread > _EQUAL * max(np.abs(values).max(initial=0), 1) else None


def _table(
    human: np.ndarray, known: np.ndarray, pooled: bool
) -> tuple[Callable[[np.ndarray, np.ndarray, str], np.ndarray], np.ndarray]:
    """How lists of known scores, [permutations, scores], are correlated with people, and with which of them."""
    if pooled:
        return _correlations, human[known]
    owner = np.nonzero(known)[0]
    systems, place, counts = np.unique(owner, return_inverse=True, return_counts=True)
    means = np.zeros((len(owner), len(systems)))
    means[np.arange(len(owner)), place] = 1 / counts[place]
    return lambda lists, people, correlation: _correlations(lists @ means, people, correlation), human[systems]


def _correlations(lists: np.ndarray, people: np.ndarray, correlation: str) -> np.ndarray:
    """Correlation of each row with people, NaN where either is constant; equal means may differ by rounding."""
    lists = lists.round(12)
    varied = (np.ptp(lists, axis=-1) > 0) & (not is_constant(people))
    if correlation == "spearman":
        from scipy.stats import rankdata

        lists, people = rankdata(lists, axis=-1), rankdata(people)
    lists, people = lists - lists.mean(axis=-1, keepdims=True), people - people.mean()
    scale = np.sqrt((lists**2).sum(axis=-1) * (people @ people))
    return np.where(varied, lists @ people / np.where(varied, scale, 1), np.nan)
