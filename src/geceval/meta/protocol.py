"""How well a metric's scores agree with people: system level, sentence level, windows of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.meta.data import Item
from geceval.meta.ranking import count_wins, expected_wins, rank_order, rate_scores

AGGREGATIONS = ("average", "trueskill", "expected_wins")
TIE_RULES = ("order", "zero", "drop")


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
        accuracy: Share of pairs that the metric orders as the annotator did, in [0, 1].
        kendall: (concordant - discordant) / pairs, in [-1, 1].
        pairs: Number of pairs that count.
        tie_share: Share of the human-ordered pairs to which the metric gives equal scores.
    """

    accuracy: float
    kendall: float
    pairs: int
    tie_share: float


def aggregate(scores: np.ndarray, how: str = "average") -> np.ndarray:
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
    raise ValueError(f"unknown aggregation {how!r}; choose one of {', '.join(AGGREGATIONS)}")


def correlate(metric: Sequence[float], human: Sequence[float]) -> Correlation:
    """Pearson's r and Spearman's rho (average ranks) of two lists of the same length.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(metric) != len(human):
        raise ValueError(f"{len(metric)} metric scores but {len(human)} human scores")
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
            raise ValueError(f"no {name} score for {', '.join(missing)}")
    return correlate([metric[s] for s in systems], [human[s] for s in systems])


def windows(
    metric: Mapping[str, float], human: Mapping[str, float], systems: Sequence[str], width: int = 4
) -> list[Correlation]:
    """Correlations over each run of `width` systems that are neighbours in the human ranking, best systems first.

    Raises:
        ValueError: If `width` is below 2 or above the number of systems.
    """
    if not 2 <= width <= len(systems):
        raise ValueError(f"the window must hold 2 to {len(systems)} systems, got {width}")
    ranked = [systems[place] for place in rank_order([human[s] for s in systems])]
    return [correlate_systems(metric, human, ranked[start : start + width]) for start in range(len(ranked) - width + 1)]


def judged_pairs(items: Sequence[Item], systems: Sequence[str], *, expand: bool = True) -> Pairs:
    """All pairs of `systems` that each item compares, including those with equal ranks.

    Args:
        items: The judgments.
        systems: Which systems, in the order that tie rule `"order"` looks at.
        expand: Compare every system of a group that shares one text; otherwise only the first listed of each group.
    """
    place = {system: number for number, system in enumerate(systems)}
    rows: list[tuple[int, int, int, int]] = []
    for item in items:
        ranks: dict[int, int] = {}
        for group, rank in item.groups:
            members = sorted(place[system] for system in group if system in place)
            for member in members if expand else members[:1]:
                ranks[member] = rank
        ordered = sorted(ranks)
        for position, i in enumerate(ordered):
            for j in ordered[position + 1 :]:
                rows.append((item.sentence, i, j, (ranks[i] < ranks[j]) - (ranks[i] > ranks[j])))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Pairs(*columns)


def agreement(pairs: Pairs, scores: np.ndarray, ties: str = "order") -> Agreement:
    """Sentence-level accuracy and Kendall's tau over the pairs that people ordered.

    Args:
        pairs: See `judged_pairs`.
        scores: The metric's sentence scores, array of shape [systems, sentences], systems ordered as in `pairs`.
        ties: What equal metric scores mean: `"order"` the later system wins (the published scripts of SEEDA and
            gec-metrics; depends on the order of systems), `"zero"` neither agrees nor disagrees, `"drop"` the pair
            does not count.

    Raises:
        ValueError: If `ties` is unknown, a score is NaN, or no pair is left.
    """
    if ties not in TIE_RULES:
        raise ValueError(f"unknown tie rule {ties!r}; choose one of {', '.join(TIE_RULES)}")
    if np.isnan(scores).any():
        system, sentence = np.argwhere(np.isnan(scores))[0]
        raise ValueError(f"the score of system {system} on sentence {sentence} is NaN")
    ordered = pairs.human != 0
    sentence, human = pairs.sentence[ordered], pairs.human[ordered]
    metric = np.sign(scores[pairs.first[ordered], sentence] - scores[pairs.second[ordered], sentence])
    tied = metric == 0
    if ties == "order":
        metric = np.where(tied, -1, metric)
    count = int((~tied).sum()) if ties == "drop" else len(human)
    if count == 0:
        raise ValueError("no pair of systems is left to compare")
    agree, disagree = int((metric * human > 0).sum()), int((metric * human < 0).sum())
    return Agreement(agree / count, (agree - disagree) / count, count, float(tied.mean()))


def _pearson(left: Sequence[float], right: Sequence[float]) -> float:
    a, b = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if len(a) < 2:
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else float("nan")
