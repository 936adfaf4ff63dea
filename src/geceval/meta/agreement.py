"""Agreement of a metric with people on sentences: pairwise accuracy and Kendall's tau, with five tie rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import check_choice
from geceval.meta.judgments import Item

TieRule = Literal["order", "zero", "drop", "hties", "calibrated"]
TIE_RULES: tuple[str, ...] = get_args(TieRule)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of systems that one annotator compared on one sentence; all arrays are [pairs]."""

    sentence: np.ndarray  # indices
    first: np.ndarray  # indices in the list of systems; first < second
    second: np.ndarray
    human: np.ndarray  # 1 if the first was ranked better, -1 if worse, 0 if both got the same rank

    def select(self, rows: np.ndarray) -> Pairs:
        """Some of the pairs, selected by a mask or by indices."""
        return Pairs(self.sentence[rows], self.first[rows], self.second[rows], self.human[rows])


@dataclass(frozen=True, slots=True)
class Agreement:
    """Sentence-level agreement."""

    accuracy: float  # share of agreement among the pairs; NaN under "hties", which defines none
    kendall: float  # (agreements - disagreements) / pairs
    pairs: int  # number of pairs that the tie rule counts
    tie_share: float  # of the pairs that people ordered, the share with equal scores, under any rule
    epsilon: float = 0.0  # scores that differ by at most this are tied; above 0 only under "calibrated"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Masks of the pairs: those that a tie rule counts, and among them agreements and disagreements."""

    agree: np.ndarray
    disagree: np.ndarray
    counted: np.ndarray
    epsilon: float = 0.0


def rank_table(items: Sequence[Item], systems: Sequence[str], *, expand: bool = True) -> np.ndarray:
    """The rank that each item gives to each system, [items, systems]; NaN where it gives none."""
    # Without `expand` only the first listed system of a group that shares one text has its rank.
    index = {system: number for number, system in enumerate(systems)}
    table = np.full((len(items), len(systems)), np.nan)
    for row, item in zip(table, items, strict=True):
        for group, rank in item.groups:
            members = sorted(index[system] for system in group if system in index)
            row[members if expand else members[:1]] = rank
    return table


def ranked_pairs(items: Sequence[Item], systems: Sequence[str], *, expand: bool = True) -> tuple[Pairs, np.ndarray]:
    """The pairs of `judged_pairs`, and the human ranks of their first and second systems, array of shape [2, pairs]."""
    table = rank_table(items, systems, expand=expand)
    first, second = np.triu_indices(len(systems), k=1)
    item, pair = np.nonzero(~np.isnan(table[:, first] + table[:, second]))
    first, second = first[pair], second[pair]
    ranks = np.stack([table[item, first], table[item, second]]).astype(np.int64)
    sentence = np.array([each.sentence for each in items], dtype=np.int64)[item]
    return Pairs(sentence, first, second, np.sign(ranks[1] - ranks[0])), ranks


def judged_pairs(items: Sequence[Item], systems: Sequence[str], *, expand: bool = True) -> Pairs:
    """All pairs of `systems` that each item compares, including those with equal ranks.

    Args:
        items: The judgments.
        systems: The systems to compare, in the order that the tie rule `"order"` uses.
        expand: Compare every system of a group that shares one text; otherwise only the first listed of each group.

    Returns:
        The pairs in the order of items, then of systems.
    """
    return ranked_pairs(items, systems, expand=expand)[0]


def agreement(pairs: Pairs, scores: np.ndarray, ties: TieRule = "order") -> Agreement:
    """Sentence-level accuracy and Kendall's tau.

    Args:
        pairs: See `judged_pairs`.
        scores: The metric's sentence scores, array of shape [systems, sentences], systems ordered as in `pairs`.
        ties: What equal scores mean. The first three rules count the pairs that people ordered, the last two all pairs.

            - `"order"`: The later system wins, as in the published scripts of SEEDA and in gec-metrics; the result
              depends on the order of systems.
            - `"zero"`: The pair is neither an agreement nor a disagreement.
            - `"drop"`: The pair does not count.
            - `"hties"` (Chollampatt and Ng 2018): An agreement if people and metric both tie, neither if only one does.
            - `"calibrated"` (Deutsch et al. 2023): An agreement if both tie, a disagreement if only one does. Scores
              are equal if they differ by at most the threshold that gives the highest accuracy.

    Raises:
        ValueError: If `ties` is unknown, a score is not finite, or no pair is left.
    """
    judged = verdicts(pairs, scores, ties)
    count, agree, disagree = (int(each.sum()) for each in (judged.counted, judged.agree, judged.disagree))
    ordered = pairs.human != 0
    tied = _differences(pairs, scores) == 0
    return Agreement(
        accuracy=float("nan") if ties == "hties" else agree / count,
        kendall=2 * (agree / count) - 1 if ties == "calibrated" else (agree - disagree) / count,
        pairs=count,
        tie_share=float(tied[ordered].mean()) if ordered.any() else 0.0,
        epsilon=judged.epsilon,
    )


def verdicts(pairs: Pairs, scores: np.ndarray, ties: TieRule) -> Verdicts:
    """Agreement and disagreement on each pair; arguments and errors as in `agreement`."""
    check_choice("tie rule", ties, TIE_RULES)
    check_finite(scores)
    difference = _differences(pairs, scores)
    epsilon = _calibrate(difference, pairs.human) if ties == "calibrated" else 0.0
    ordered, tied = pairs.human != 0, np.abs(difference) <= epsilon
    metric = np.where(tied, -1 if ties == "order" else 0, np.sign(difference))
    agree, disagree = metric * pairs.human > 0, metric * pairs.human < 0
    counted = ordered & ~tied if ties == "drop" else ordered
    if ties in ("hties", "calibrated"):
        counted = np.ones_like(ordered)
        agree |= tied & ~ordered
    if ties == "calibrated":
        disagree = ~agree
    if not counted.any():
        raise InputError("no pair of systems is left to compare")
    return Verdicts(agree, disagree, counted, epsilon)


def check_finite(scores: np.ndarray) -> None:
    """Raise a `ValueError` that names system and sentence if a score of [systems, sentences] is NaN or infinite."""
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        system, sentence = bad[0]
        kind = "NaN" if np.isnan(scores[system, sentence]) else "infinite"
        raise InputError(f"the score of system number {system + 1} on sentence {sentence + 1} is {kind}")


def _differences(pairs: Pairs, scores: np.ndarray) -> np.ndarray:
    return scores[pairs.first, pairs.sentence] - scores[pairs.second, pairs.sentence]


def _calibrate(difference: np.ndarray, human: np.ndarray) -> float:
    """The tie threshold with the highest accuracy: 0 or one of the |differences|; of several, the smallest."""
    # Accuracy is (pairs that both order alike + pairs that both tie) / all pairs: Deutsch et al. (2023), acc with ties.
    order = np.argsort(np.abs(difference), kind="stable")
    size = np.abs(difference)[order]
    alike = (np.sign(difference) * human > 0)[order]
    gained = np.concatenate([[0], np.cumsum((human == 0)[order].astype(int) - alike)])
    thresholds = np.unique(np.concatenate([[0.0], size]))
    return float(thresholds[gained[np.searchsorted(size, thresholds, side="right")].argmax()])
