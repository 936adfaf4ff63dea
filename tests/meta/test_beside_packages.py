"""Meta-evaluation beside what scipy and the trueskill package say of the same invented scores."""

import numpy as np
import pytest
from scipy import stats

from geceval.meta.agreement import agreement, judged_pairs
from geceval.meta.correlation import correlate
from geceval.meta.judgments import Item

LISTS = {
    "plain": ([0.61, 0.42, 0.75, 0.58, 0.49, 0.7], [0.31, -0.22, 0.4, 0.12, -0.35, -0.1]),
    "ties": ([0.5, 0.5, 0.7, 0.2, 0.7, 0.9, 0.1], [3, 1, 2, 2, 4, 4, 1]),
    "falling": ([1.0, 2.0, 4.0, 8.0], [0.9, 0.5, 0.1, -0.3]),
    "large": ([1e6 + 1, 1e6 + 4, 1e6 + 2, 1e6 + 3], [1e-6, 3e-6, 2e-6, 5e-6]),
    "pair": ([0.3, 0.1], [5, 7]),
}


@pytest.mark.parametrize("name", LISTS)
def test_correlations_of_systems(name):
    found = correlate(*LISTS[name])
    assert found.pearson == pytest.approx(stats.pearsonr(*LISTS[name]).statistic, abs=1e-12)
    assert found.spearman == pytest.approx(stats.spearmanr(*LISTS[name]).statistic, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in LISTS if name != "ties"])
def test_kendall_of_one_ranking_without_ties(name):
    """People rank all systems on one sentence as the first list does, the metric as the second does."""
    people, metric = LISTS[name]
    systems = [str(number) for number in range(len(people))]
    ranks = stats.rankdata(-np.array(people)).astype(int).tolist()
    items = [Item(0, "a", tuple(((system,), rank) for system, rank in zip(systems, ranks, strict=True)))]
    found = agreement(judged_pairs(items, systems), np.array(metric, dtype=float)[:, None])
    assert found.kendall == pytest.approx(stats.kendalltau(people, metric).statistic, abs=1e-12)
