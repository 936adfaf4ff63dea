"""How well a metric's scores agree with people: systems (all, windows, the best K) and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.judgments.data import Item
from geceval.meta.ranking import count_wins, expected_wins, rank_order, rate_scores

Aggregation = Literal["average", "trueskill", "expected_wins"]
TieRule = Literal["order", "zero", "drop", "hties", "calibrated"]
AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)
TIE_RULES: tuple[str, ...] = get_args(TieRule)
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Correlation:
    """Agreement of two lists of system scores; NaN where one of them is constant or shorter than two."""

    pearson: float
    spearman: float


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of systems that one annotator compared on one sentence.

    Attributes:
        sentence: Array [pairs] of sentence positions.
        first: Array [pairs] of positions in the list of systems; first < second.
        second: Array [pairs], likewise.
        human: Array [pairs]: 1 if the first was ranked better, -1 if worse, 0 if both got the same rank.
    """

    sentence: np.ndarray
    first: np.ndarray
    second: np.ndarray
    human: np.ndarray


@dataclass(frozen=True, slots=True)
class Agreement:
    """Sentence-level agreement.

    Attributes:
        accuracy: Share of pairs that the metric orders as the annotator did, in [0, 1]; NaN under `"hties"`, which
            defines none.
        kendall: (concordant - discordant) / pairs, in [-1, 1].
        pairs: Number of pairs that count.
        tie_share: Share of the human-ordered pairs to which the metric gives equal scores, whatever the tie rule.
        epsilon: Scores that differ by at most this are tied; above 0 only under `"calibrated"`.
    """

    accuracy: float
    kendall: float
    pairs: int
    tie_share: float
    epsilon: float = 0.0


def aggregate(scores: np.ndarray, how: Aggregation = "average") -> np.ndarray:
    """One score a system from its sentence scores.

    Args:
        scores: Array of shape [systems, sentences].
        how: `"average"`, `"trueskill"` (one pass in the order of sentences and systems) or `"expected_wins"`.

    Returns:
        Array of shape [systems].

    Raises:
        ValueError: If `how` is none of these.
    """
    if how == "average":
        return scores.mean(axis=1)
    if how == "trueskill":
        return rate_scores(scores)
    if how == "expected_wins":
        return expected_wins(count_wins(scores))
    raise InputError(f"unknown aggregation {how!r}; choose one of {', '.join(AGGREGATIONS)}")


def correlate(metric: Sequence[float], human: Sequence[float]) -> Correlation:
    """Pearson's r and Spearman's rho (average ranks) of two lists of the same length.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(metric) != len(human):
        raise InputError(f"{len(metric)} metric scores but {len(human)} human scores")
    from scipy.stats import rankdata

    return Correlation(_pearson(metric, human), _pearson(rankdata(metric), rankdata(human)))


def correlate_systems(metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str]) -> Correlation:
    """Correlation over the named systems only.

    Raises:
        ValueError: If a system has no metric score or no human score.
    """
    for name, scores in (("metric", metric), ("human", human)):
        missing = [system for system in systems if system not in scores]
        if missing:
            raise InputError(f"no {name} score for {', '.join(missing)}")
    return correlate([metric[s] for s in systems], [human[s] for s in systems])


def windows(
    metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str], width: int = 4
) -> list[Correlation]:
    """Correlations over each run of `width` systems that are neighbours in the human ranking, best systems first.

    Raises:
        ValueError: If `width` is below 2 or above the number of systems.
    """
    if not 2 <= width <= len(systems):
        raise InputError(f"the window must hold 2 to {len(systems)} systems, got {width}")
    ranked = [systems[place] for place in rank_order([human[s] for s in systems])]
    return [correlate_systems(metric, human, ranked[start : start + width]) for start in range(len(ranked) - width + 1)]


def top_k(
    metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str], smallest: int = 4
) -> list[tuple[int, Correlation]]:
    """Correlations over the K best systems of the human ranking, K from all of them down to `smallest`.

    Gong et al. (2022), Figure 2.

    Raises:
        ValueError: If `smallest` is below 2 or above the number of systems.
    """
    if not 2 <= smallest <= len(systems):
        raise InputError(f"the best systems must be 2 to {len(systems)}, got {smallest}")
    ranked = [systems[place] for place in rank_order([human[s] for s in systems])]
    return [(k, correlate_systems(metric, human, ranked[:k])) for k in range(len(systems), smallest - 1, -1)]


def rank_table(items: Sequence[Item], systems: Sequence[str], *, expand: bool = True) -> np.ndarray:
    """The rank that each item gives to each system, array of shape [items, systems]; NaN where it gives none.

    Args:
        items: The judgments.
        systems: Which systems.
        expand: Rank every system of a group that shares one text; otherwise only the first listed of each group.
    """
    place = {system: number for number, system in enumerate(systems)}
    table = np.full((len(items), len(systems)), np.nan)
    for row, item in zip(table, items, strict=True):
        for group, rank in item.groups:
            members = sorted(place[system] for system in group if system in place)
            row[members if expand else members[:1]] = rank
    return table


def compared(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items and pairs of systems that have a rank in them.

    Args:
        table: See `rank_table`.

    Returns:
        Arrays [pairs] of items, first and second systems, in the order of items, then of systems.
    """
    first, second = np.triu_indices(table.shape[1], k=1)
    item, pair = np.nonzero(~np.isnan(table[:, first] + table[:, second]))
    return item, first[pair], second[pair]


def judged_pairs(items: Sequence[Item], systems: Sequence[str], *, expand: bool = True) -> Pairs:
    """All pairs of `systems` that each item compares, including those with equal ranks.

    Args:
        items: The judgments.
        systems: Which systems, in the order that tie rule `"order"` looks at.
        expand: Compare every system of a group that shares one text; otherwise only the first listed of each group.
    """
    table = rank_table(items, systems, expand=expand)
    item, first, second = compared(table)
    sentence = np.array([each.sentence for each in items], dtype=np.int64)[item]
    return Pairs(sentence, first, second, np.sign(table[item, second] - table[item, first]).astype(np.int64))


def agreement(pairs: Pairs, scores: np.ndarray, ties: TieRule = "order") -> Agreement:
    """Sentence-level accuracy and Kendall's tau.

    Args:
        pairs: See `judged_pairs`.
        scores: The metric's sentence scores, array of shape [systems, sentences], systems ordered as in `pairs`.
        ties: What equal scores mean. Over the pairs that people ordered: `"order"` the later system wins (the published
            scripts of SEEDA and gec-metrics; depends on the order of systems), `"zero"` neither agrees nor disagrees,
            `"drop"` the pair does not count. Over all pairs: `"hties"` agreement if people tied as well, else neither
            (Chollampatt and Ng 2018), `"calibrated"` agreement if people tied as well, else disagreement, where scores
            are tied up to the difference that gives the highest accuracy (Deutsch et al. 2023).

    Raises:
        ValueError: If `ties` is unknown, a score is not finite, or no pair is left.
    """
    if ties not in TIE_RULES:
        raise InputError(f"unknown tie rule {ties!r}; choose one of {', '.join(TIE_RULES)}")
    check_finite(scores)
    difference = scores[pairs.first, pairs.sentence] - scores[pairs.second, pairs.sentence]
    ordered = pairs.human != 0
    tied = difference == 0
    counted = np.ones_like(ordered) if ties in ("hties", "calibrated") else ordered
    if ties == "drop":
        counted = ordered & ~tied
    count = int(counted.sum())
    if count == 0:
        raise InputError("no pair of systems is left to compare")
    tie_share = float(tied[ordered].mean()) if ordered.any() else 0.0
    if ties == "calibrated":
        accuracy, epsilon = _calibrate(difference, pairs.human)
        return Agreement(accuracy, 2 * accuracy - 1, count, tie_share, epsilon)
    metric = np.where(tied, -1, np.sign(difference)) if ties == "order" else np.sign(difference)
    product = (metric * pairs.human)[counted]
    agree, disagree = int((product > 0).sum()), int((product < 0).sum())
    if ties == "hties":
        agree += int((tied & ~ordered).sum())
    accuracy = float("nan") if ties == "hties" else agree / count
    return Agreement(accuracy, (agree - disagree) / count, count, tie_share)


def check_finite(scores: np.ndarray) -> None:
    """Raise a `ValueError` that names system and sentence if a score of [systems, sentences] is NaN or infinite."""
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        system, sentence = bad[0]
        kind = "NaN" if np.isnan(scores[system, sentence]) else "infinite"
        raise InputError(f"the score of system {system} on sentence {sentence} is {kind}")


def is_constant(values: np.ndarray) -> bool:
    """Whether numbers are equal but for the rounding of sums; their mean may differ from each of them."""
    return bool(np.ptp(values) <= _ROUNDING * np.abs(values).max())


def _calibrate(difference: np.ndarray, human: np.ndarray) -> tuple[float, float]:
    """The highest accuracy over all tie thresholds, 0 and each |difference|, and the smallest that gives it.

    Accuracy is (pairs that both order alike + pairs that both tie) / all pairs: Deutsch et al. (2023), acc with ties.
    """
    order = np.argsort(np.abs(difference), kind="stable")
    size = np.abs(difference)[order]
    alike = (np.sign(difference) * human > 0)[order]
    gained = np.concatenate([[0], np.cumsum((human == 0)[order].astype(int) - alike)])
    thresholds = np.unique(np.concatenate([[0.0], size]))
    hits = int(alike.sum()) + gained[np.searchsorted(size, thresholds, side="right")]
    best = int(hits.argmax())
    return float(hits[best]) / len(size), float(thresholds[best])


def _pearson(left: Sequence[float], right: Sequence[float]) -> float:
    a, b = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if len(a) < 2 or is_constant(a) or is_constant(b):
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, float(a @ b) / scale)) if scale else float("nan")
