"""Soft pairwise accuracy (Thompson et al. 2024), and human sentence scores imputed from rankings."""

import math
from collections.abc import Sequence

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import check_count
from geceval.meta.agreement import rank_table
from geceval.meta.judgments import Item

_ROUNDING = 1e-12  # of sums of the same numbers in another order


def soft_pairwise_accuracy(human: np.ndarray, metric: np.ndarray, permutations: int = 1000, seed: int = 4) -> float:
    """Soft pairwise accuracy (Thompson et al. 2024): do people and the metric agree on how certain a lead is?

    For each pair of systems i < j a one-sided p-value says how often the mean difference of their sentence scores is
    at least as large when signs are flipped at random; the same signs are used for all pairs, for people and metric
    alike. The result is 1 - mean |p_human - p_metric|.

    Args:
        human: [systems, sentences], NaN where there is none (see `imputed_scores`).
        metric: [systems, sentences], NaN where there is none.
        permutations: Number of random sign flips.
        seed: Seed of the flips.

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
    """Human sentence scores, [systems, sentences]: the mean of -rank over a sentence's items; NaN without any."""
    # Ranks of different items compare different systems, so this is an approximation; no such scores were published.
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
    reached = signs @ differences.T >= differences.sum(axis=1) - _ROUNDING * scale
    return np.where(known.any(axis=1), reached.mean(axis=0), np.nan)
