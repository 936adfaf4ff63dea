"""Meta-evaluation: fixtures of the Length metric on real judgments, invented judgments for the rules."""

from __future__ import annotations

import numpy as np
import pytest

from geceval.meta.aggregation import aggregate
from geceval.meta.agreement import Pairs, agreement, judged_pairs, rank_table
from geceval.meta.correlation import correlate, correlate_systems, top_k, windows
from geceval.meta.judgments.data import HumanData, Item, system_set
from geceval.meta.judgments.readers import read_seeda
from geceval.meta.trueskill import rate_scores


def lengths(data: HumanData, systems: list[str]) -> np.ndarray:
    return np.array([[len(text) for text in data.outputs[system]] for system in systems], dtype=float)


@pytest.fixture(scope="module")
def seeda(shared_data) -> HumanData:
    return read_seeda(shared_data / "seeda")


# Length in characters against the human scores: gec-metrics' tests and README, recomputed in the fact sheet, 7.1.
LENGTH_BASE = {
    "ew_edit": (0.42736690406501093, 0.4545454545),
    "ew_sent": (0.4532076150049142, 0.5454545455),
    "ts_edit": (0.4834645229702062, 0.5944055944),
    "ts_sent": (0.4880423593992749, 0.5524475525),
}


@pytest.mark.parametrize("name", LENGTH_BASE)
def test_length_against_seeda_systems(seeda, name):
    systems = system_set(seeda)
    sums = dict(zip(systems, lengths(seeda, systems).sum(axis=1), strict=True))
    found = correlate_systems(sums, seeda.scores[name], systems)
    assert (found.pearson, found.spearman) == pytest.approx(LENGTH_BASE[name], abs=1e-9)


@pytest.mark.parametrize(
    ("systems", "kind", "expected"),
    [
        ("base", "edit", (0.5365853658536586, 0.07317073170731707, 7708)),
        ("base", "sent", (0.5455708346658139, 0.09114166933162776, 9381)),
        ("+INPUT", "edit", (0.54440, 0.08880, 9640)),
        ("+INPUT", "sent", (0.54977, 0.09955, 11321)),
        ("+fluency", "edit", (0.52210, 0.04420, 12172)),
        ("+fluency", "sent", (0.51377, 0.02754, 15289)),
        ("all", "edit", (0.52841, 0.05683, 14570)),
        ("all", "sent", (0.51902, 0.03803, 17747)),
    ],
)
def test_length_against_seeda_sentences(seeda, systems, kind, expected):
    names = system_set(seeda, systems)
    found = agreement(judged_pairs(seeda.judgments[kind], names), lengths(seeda, names))
    assert (found.accuracy, found.kendall, found.pairs) == pytest.approx(expected, abs=5.1e-6)


@pytest.mark.parametrize(
    ("systems", "kind", "expected"),
    [
        # Fact sheet, section 3: pairs that people ordered, one system a text.
        ("base", "edit", 1998),
        ("base", "sent", 2286),
        ("+INPUT", "edit", 2368),
        ("+INPUT", "sent", 2629),
        ("+fluency", "edit", 3415),
        ("+fluency", "sent", 4100),
        ("all", "edit", 3890),
        ("all", "sent", 4556),
    ],
)
def test_unexpanded_pairs_of_seeda(seeda, systems, kind, expected):
    pairs = judged_pairs(seeda.judgments[kind], system_set(seeda, systems), expand=False)
    assert int((pairs.human != 0).sum()) == expected


def test_all_pairs_of_the_files(seeda, gjg15):
    """Fact sheet, section 1.1: unexpanded and expanded pairs with, in brackets, those that people tied."""
    expected = {
        "sent": (5347, 791, 33544, 15797),
        "edit": (5347, 1457, 33544, 18974),
        "all": (20516, 5694, 109098, 59117),
    }
    for data in (seeda, gjg15):
        for kind, items in data.judgments.items():
            single, expanded = (judged_pairs(items, list(data.outputs), expand=expand) for expand in (False, True))
            counts = [count for p in (single, expanded) for count in (len(p.human), int((p.human == 0).sum()))]
            assert tuple(counts) == expected[kind]
    without_input = [system for system in gjg15.outputs if system != "INPUT"]
    pairs = judged_pairs(gjg15.judgments["all"], without_input)
    assert int((pairs.human != 0).sum()) == 44434  # section 3


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        # Fact sheet, 7.1: r and rho with EW_edit, EW_sent, TS_edit, TS_sent.
        ("+INPUT", (0.40763, 0.51099, 0.40911, 0.58791, 0.38841, 0.62637, 0.40133, 0.59341)),
        ("+fluency", (-0.19719, 0.05495, -0.21466, 0.09890, -0.32990, 0.12967, -0.37999, 0.10330)),
        ("all", (-0.11003, 0.14643, -0.11261, 0.18214, -0.20332, 0.20714, -0.26542, 0.18571)),
    ],
)
def test_length_against_other_sets_of_systems(seeda, systems, expected):
    names = system_set(seeda, systems)
    sums = dict(zip(names, lengths(seeda, names).sum(axis=1), strict=True))
    found = [correlate_systems(sums, seeda.scores[name], names) for name in LENGTH_BASE]
    assert [value for each in found for value in (each.pearson, each.spearman)] == pytest.approx(expected, abs=5.1e-6)


def test_trueskill_aggregation_of_length(seeda):
    systems = system_set(seeda)
    rated = dict(zip(systems, aggregate(lengths(seeda, systems), "trueskill"), strict=True))
    found = [correlate_systems(rated, seeda.scores[name], systems) for name in LENGTH_BASE]
    expected = (0.44589, 0.46853, 0.50237, 0.54545, 0.48790, 0.58741, 0.52206, 0.55944)  # fact sheet, 7.1
    assert [value for each in found for value in (each.pearson, each.spearman)] == pytest.approx(expected, abs=5.1e-6)


def test_trueskill_of_length_over_random_orders(seeda):
    systems = system_set(seeda)
    rated = dict(zip(systems, rate_scores(lengths(seeda, systems), orders=4, seed=3), strict=True))
    found = correlate_systems(rated, seeda.scores["ts_sent"], systems)
    # Fact sheet, section 2: 30 shuffles of the sentences lie in [.517, .541] and [.545, .601].
    assert 0.517 < found.pearson < 0.541 and 0.545 < found.spearman < 0.601


def test_windows_of_length(seeda):
    systems = system_set(seeda)
    sums = dict(zip(systems, lengths(seeda, systems).sum(axis=1), strict=True))
    found = windows(sums, seeda.scores["ts_edit"], systems, width=4)
    # The window test of gec-metrics, section 7.1 of the fact sheet.
    pearson = [-0.12719090478691203, 0.5900362463225375, 0.15518369973793955, 0.1205407475751627, 0.02436579076767783]
    pearson += [-0.02121433684516863, -0.16182645121353734, -0.23114390326454237, 0.40786665626270313]
    assert [c.pearson for c in found] == pytest.approx(pearson, abs=1e-9)
    assert [c.spearman for c in found] == pytest.approx([0.2, 0.8, 0.4, 0.4, 0, 0.2, -0.4, -0.4, 0.4], abs=1e-9)


def test_length_against_gjg15(gjg15):
    systems = system_set(gjg15, "all")
    table = lengths(gjg15, systems)
    sums = dict(zip(systems, table.sum(axis=1), strict=True))
    ew = correlate_systems(sums, gjg15.scores["ew"], systems)
    assert (ew.pearson, ew.spearman) == pytest.approx((-0.175093788793105, -0.016483516483516484), abs=1e-9)
    ts = correlate_systems(sums, gjg15.scores["ts"], systems)
    assert (ts.pearson, ts.spearman) == pytest.approx((-0.2232996476764572, -0.06043956043956044), abs=1e-9)
    found = agreement(judged_pairs(gjg15.judgments["all"], systems), table)
    assert (found.accuracy, found.kendall, found.pairs) == pytest.approx((0.54463, 0.08925, 49981), abs=5.1e-6)


ITEMS = [
    Item(0, "a", ((("A", "B"), 1), (("C",), 3))),
    Item(1, "a", ((("A",), 2), (("B",), 2), (("C",), 1))),
]
# A and C tie on sentence 0; B loses to C there. On sentence 1 C beats A and ties with B.
SCORES = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
INFINITE = np.array([[1.0, 0.0], [-np.inf, 2.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        # Human-ordered pairs: s0 A>C (tie), s0 B>C (metric says C), s1 C>A (metric says C), s1 C>B (tie).
        ("order", (2 / 4, 0.0, 4)),  # a tie goes to C, the later system: wrong on s0, right on s1
        ("zero", (1 / 4, 0.0, 4)),
        ("drop", (1 / 2, 0.0, 2)),
        # All six pairs; people tie A and B twice, which the metric never does.
        ("hties", (np.nan, (1 - 1) / 6, 6)),
        # Exact ties: 1 of 6 right. Ties up to 1: only C > A on sentence 1 stays apart (2 > 1): right, and A = B on
        # sentence 0. Ties up to 2: both A = B.
        ("calibrated", (2 / 6, 2 * 2 / 6 - 1, 6)),
    ],
)
def test_tie_rules(ties, expected):
    found = agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES, ties)
    assert (found.accuracy, found.kendall, found.pairs) == pytest.approx(expected, nan_ok=True)
    assert found.tie_share == 0.5
    assert found.epsilon == (1.0 if ties == "calibrated" else 0.0)


def test_ties_that_people_share():
    # Pair 1: both tie. 2: only people tie. 3: only the metric ties. 4: alike. 5: opposite.
    pairs = Pairs(np.arange(5), np.zeros(5, dtype=int), np.ones(5, dtype=int), np.array([0, 0, 1, 1, 1]))
    scores = np.array([[0.0, 3.0, 0.0, 1.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    assert agreement(pairs, scores, "hties").kendall == pytest.approx((1 + 1 - 1) / 5)
    found = agreement(pairs, scores, "calibrated")
    assert (found.accuracy, found.kendall, found.epsilon) == pytest.approx((2 / 5, (2 - 3) / 5, 0.0))
    assert found.tie_share == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_calibration_is_the_best_of_all_thresholds(seed):
    generator = np.random.default_rng(seed)
    pairs = Pairs(np.arange(60), np.zeros(60, dtype=int), np.ones(60, dtype=int), generator.integers(-1, 2, 60))
    scores = np.round(generator.normal(size=(2, 60)), 1)
    difference = scores[0] - scores[1]

    def accuracy(epsilon: float) -> float:
        return float((np.where(np.abs(difference) <= epsilon, 0, np.sign(difference)) == pairs.human).mean())

    best = max(accuracy(epsilon) for epsilon in [0.0, *np.abs(difference)])
    found = agreement(pairs, scores, "calibrated")
    assert found.accuracy == best == accuracy(found.epsilon)


def test_rank_table():
    assert rank_table(ITEMS, ["C", "A"]).tolist() == [[3, 1], [1, 2]]
    single = rank_table(ITEMS, ["A", "B", "C", "D"], expand=False)
    assert np.isnan(single).tolist() == [[False, True, False, True], [False, False, False, True]]


def test_best_systems():
    human = {"A": 3.0, "B": 4.0, "C": 1.0, "D": 2.0}
    metric = {"A": 3.0, "B": 1.0, "C": 5.0, "D": 2.0}
    found = top_k(metric, human, ["A", "B", "C", "D"], smallest=2)
    assert [k for k, _ in found] == [4, 3, 2]
    assert found[1][1] == correlate([1.0, 3.0, 2.0], [4.0, 3.0, 2.0])  # B, A, D
    assert (found[2][1].pearson, found[2][1].spearman) == pytest.approx((-1.0, -1.0))


def test_expansion_takes_one_system_a_text():
    expanded = judged_pairs(ITEMS, ["A", "B", "C"])
    single = judged_pairs(ITEMS, ["A", "B", "C"], expand=False)
    assert expanded.human.tolist() == [0, 1, 1, 0, -1, -1]
    assert (single.sentence.tolist(), single.human.tolist()) == ([0, 1, 1, 1], [1, 0, -1, -1])


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
        (lambda: aggregate(SCORES, "median"), "unknown aggregation 'median'"),
        (lambda: agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES, "half"), "unknown tie rule 'half'"),
        (lambda: agreement(judged_pairs([], ["A", "B"]), SCORES), "no pair"),
        (lambda: agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES * np.nan), "system 0 on sentence 0 is NaN"),
        (
            lambda: agreement(judged_pairs(ITEMS, ["A", "B", "C"]), INFINITE),
            "system 1 on sentence 0 is infinite",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
