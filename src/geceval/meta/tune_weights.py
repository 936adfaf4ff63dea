"""Weights of SOME's three sub-metrics, tuned on human judgments (Yoshimura et al. 2020, section 5.2)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.agreement import Pairs
from geceval.meta.correlation import correlations

STEPS = 100
BLOCK = 2048  # pairs whose margins under all triples are in memory at once, 80 MB
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best weights of the grid."""

    weights: tuple[float, float, float]
    value: float
    tied: int


def weight_grid() -> np.ndarray:
    """All triples of .01, .02, ..., .98 that add up to 1: array [4851, 3], in ascending order."""
    triples = [(a, b, STEPS - a - b) for a in range(1, STEPS - 1) for b in range(1, STEPS - a)]
    return np.array(triples) / STEPS


def tune_on_systems(scores: np.ndarray, human: Sequence[float]) -> Tuned:
    """The weights under which system scores have the highest Pearson correlation with a human ranking."""
    scores, target = np.asarray(scores, dtype=float), np.asarray(human, dtype=float)
    if len(target) < 3:
        raise InputError(f"tuning on systems needs at least three of them, got {len(target)}")
    if not np.isfinite(target).all() or np.ptp(target) == 0:
        raise InputError("the human scores must be finite numbers that are not all equal")
    return _best(correlations(weight_grid() @ scores.T, target, "pearson"))


def tune_on_sentences(scores: np.ndarray, pairs: Pairs) -> Tuned:
    """The weights under which sentence scores have the highest Kendall's tau with people's pairwise preferences."""
    # tau = (concordant - discordant) / (concordant + discordant): pairs that are tied for people or under the weighted
    # scores do not count.
    scores = np.asarray(scores, dtype=float)
    margins = scores[pairs.first, pairs.sentence] - scores[pairs.second, pairs.sentence]
    counted = (pairs.human != 0) & margins.any(axis=1)
    margins, human = margins[counted], pairs.human[counted]
    if not len(human):
        raise InputError("no pair of different outputs that people ordered is left to tune on")
    grid = weight_grid().T
    agreed, decided = np.zeros(grid.shape[1]), np.zeros(grid.shape[1])
    for start in range(0, len(human), BLOCK):
        signs = np.sign(margins[start : start + BLOCK] @ grid)
        agreed += human[start : start + BLOCK] @ signs
        decided += np.abs(signs).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _best(agreed / decided)


def split_pairs(pairs: Pairs, share: float = 0.1, seed: int = 1) -> tuple[Pairs, Pairs]:
    """Split judgments into a part to tune on and a part to report on, with no sentence in both."""
    if not 0 < share < 1:
        raise InputError(f"the share to tune on must lie between 0 and 1, got {share}")
    sentences = np.unique(pairs.sentence).tolist()
    count = round(share * len(sentences))
    if not 0 < count < len(sentences):
        raise InputError(f"{share} of {len(sentences)} judged sentences leaves one part empty")
    random.Random(seed).shuffle(sentences)
    tuning = np.isin(pairs.sentence, sentences[:count])
    return pairs.select(tuning), pairs.select(~tuning)


def _best(values: np.ndarray) -> Tuned:
    if np.isnan(values).all():
        raise InputError("all systems have equal scores under all weights")
    best = float(np.nanmax(values))
    tied = weight_grid()[values >= best - SAME]  # never where the value is not a number
    nearest = np.linalg.norm(tied - tied.mean(axis=0), axis=1).argmin()
    return Tuned(tuple(tied[nearest].tolist()), best, len(tied))
