"""Correlations of systems: the Length metric on real judgments, plain rules on invented scores."""

import numpy as np
import pytest
from scipy import stats

from geceval.meta.aggregation import aggregate
from geceval.meta.correlation import correlate, correlate_systems, top_k, windows
from geceval.meta.judgments import system_set

RANKINGS = ("ew_edit", "ew_sent", "ts_edit", "ts_sent")


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        # Fact sheet, 7.1: r and rho with each ranking; those of `base` are in the tests of gec-metrics.
        (
            "base",
            (0.427366904, 0.454545454, 0.453207615, 0.545454545, 0.483464523, 0.594405594, 0.488042359, 0.552447552),
        ),
        ("+INPUT", (0.40763, 0.51099, 0.40911, 0.58791, 0.38841, 0.62637, 0.40133, 0.59341)),
        ("+fluency", (-0.19719, 0.05495, -0.21466, 0.09890, -0.32990, 0.12967, -0.37999, 0.10330)),
        ("all", (-0.11003, 0.14643, -0.11261, 0.18214, -0.20332, 0.20714, -0.26542, 0.18571)),
    ],
)
def test_length_against_seeda_systems(seeda, lengths, systems, expected):
    names = system_set(seeda, systems)
    sums = dict(zip(names, lengths(seeda, names).sum(axis=1), strict=True))
    found = [correlate_systems(sums, seeda.scores[name], names) for name in RANKINGS]
    tolerance = 1e-9 if systems == "base" else 5.1e-6
    values = [value for each in found for value in (each.pearson, each.spearman)]
    assert values == pytest.approx(expected, abs=tolerance)


def test_trueskill_aggregation_of_length(seeda, lengths):
    systems = system_set(seeda)
    rated = dict(zip(systems, aggregate(lengths(seeda, systems), "trueskill"), strict=True))
    found = [correlate_systems(rated, seeda.scores[name], systems) for name in RANKINGS]
    expected = (0.44589, 0.46853, 0.50237, 0.54545, 0.48790, 0.58741, 0.52206, 0.55944)  # fact sheet, 7.1
    assert [value for each in found for value in (each.pearson, each.spearman)] == pytest.approx(expected, abs=5.1e-6)


def test_windows_of_length(seeda, lengths):
    systems = system_set(seeda)
    sums = dict(zip(systems, lengths(seeda, systems).sum(axis=1), strict=True))
    found = windows(sums, seeda.scores["ts_edit"], systems, width=4)
    # The window test of gec-metrics, section 7.1 of the fact sheet.
    pearson = [-0.12719090478691203, 0.5900362463225375, 0.15518369973793955, 0.1205407475751627, 0.02436579076767783]
    pearson += [-0.02121433684516863, -0.16182645121353734, -0.23114390326454237, 0.40786665626270313]
    assert [c.pearson for c in found] == pytest.approx(pearson, abs=1e-9)
    assert [c.spearman for c in found] == pytest.approx([0.2, 0.8, 0.4, 0.4, 0, 0.2, -0.4, -0.4, 0.4], abs=1e-9)


def test_best_systems():
    human = {"A": 3.0, "B": 4.0, "C": 1.0, "D": 2.0}
    metric = {"A": 3.0, "B": 1.0, "C": 5.0, "D": 2.0}
    found = top_k(metric, human, ["A", "B", "C", "D"], smallest=2)
    assert len(found) == 3
    assert found[1] == correlate([1.0, 3.0, 2.0], [4.0, 3.0, 2.0])  # B, A, D
    assert (found[2].pearson, found[2].spearman) == pytest.approx((-1.0, -1.0))


@pytest.mark.parametrize(
    ("metric", "human"),
    [
        ([0.61, 0.42, 0.75, 0.58, 0.49, 0.7], [0.31, -0.22, 0.4, 0.12, -0.35, -0.1]),
        ([0.5, 0.5, 0.7, 0.2, 0.7, 0.9, 0.1], [3, 1, 2, 2, 4, 4, 1]),
        ([1e6 + 1, 1e6 + 4, 1e6 + 2, 1e6 + 3], [1e-6, 3e-6, 2e-6, 5e-6]),
        ([0.3, 0.1], [5, 7]),
    ],
)
def test_as_scipy_says(metric, human):
    found = correlate(metric, human)
    assert found.pearson == pytest.approx(stats.pearsonr(metric, human).statistic, abs=1e-12)
    assert found.spearman == pytest.approx(stats.spearmanr(metric, human).statistic, abs=1e-12)


@pytest.mark.parametrize("value", [1.0, 0.1])  # the mean of three times 0.1 is not 0.1
def test_constant_scores_have_no_correlation(value):
    for found in (correlate([value] * 3, [1.0, 2.0, 3.0]), correlate([1.0, 2.0, 3.0], [value] * 3)):
        assert np.isnan(found.pearson) and np.isnan(found.spearman)


def test_correlations_stay_within_their_range():
    # SEEDA's Expected Wins of T5 and PIE against any falling scores: -1.0000000000000002 without a limit.
    draw = np.random.default_rng(1)
    found = [abs(correlate(draw.random(2), draw.random(2)).pearson) for _ in range(200)]
    assert max(found) == 1.0 and min(found) > 1 - 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlate([1.0], [1.0, 2.0]), "1 metric scores but 2 human"),
        (lambda: correlate_systems({"A": 1.0}, {"A": 1.0}, ["A", "B"]), "no metric score for B"),
        (lambda: windows({}, {}, ["A", "B"], width=3), "2 to 2 systems, got 3"),
        (lambda: top_k({}, {}, ["A", "B"]), "2 to 2, got 4"),
        (lambda: aggregate(np.ones((2, 2)), "median"), "aggregation must be one of .*, got 'median'"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
