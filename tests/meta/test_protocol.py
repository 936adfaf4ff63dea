"""Meta-evaluation: fixtures of the Length metric on real judgments, invented judgments for the rules."""

from __future__ import annotations

import numpy as np
import pytest

from geceval.meta.data import HumanData, Item, read_seeda, system_set
from geceval.meta.protocol import aggregate, agreement, correlate, correlate_systems, judged_pairs, windows


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


def test_unexpanded_pairs_of_seeda(seeda):
    names = system_set(seeda)
    pairs = judged_pairs(seeda.judgments["sent"], names, expand=False)
    assert int((pairs.human != 0).sum()) == 2286


def test_trueskill_aggregation_of_length(seeda):
    systems = system_set(seeda)
    rated = dict(zip(systems, aggregate(lengths(seeda, systems), "trueskill"), strict=True))
    found = correlate_systems(rated, seeda.scores["ts_sent"], systems)
    assert (found.pearson, found.spearman) == pytest.approx((0.52206, 0.55944), abs=1e-5)


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


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        # Human-ordered pairs: s0 A>C (tie), s0 B>C (metric says C), s1 C>A (metric says C), s1 C>B (tie).
        ("order", (2 / 4, 0.0, 4)),  # a tie goes to C, the later system: wrong on s0, right on s1
        ("zero", (1 / 4, 0.0, 4)),
        ("drop", (1 / 2, 0.0, 2)),
    ],
)
def test_tie_rules(ties, expected):
    found = agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES, ties)
    assert (found.accuracy, found.kendall, found.pairs) == expected
    assert found.tie_share == 0.5


def test_expansion_takes_one_system_a_text():
    expanded = judged_pairs(ITEMS, ["A", "B", "C"])
    single = judged_pairs(ITEMS, ["A", "B", "C"], expand=False)
    assert expanded.human.tolist() == [0, 1, 1, 0, -1, -1]
    assert (single.sentence.tolist(), single.human.tolist()) == ([0, 1, 1, 1], [1, 0, -1, -1])


def test_constant_scores_have_no_correlation():
    found = correlate([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert np.isnan(found.pearson) and np.isnan(found.spearman)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlate([1.0], [1.0, 2.0]), "1 metric scores but 2 human"),
        (lambda: correlate_systems({"A": 1.0}, {"A": 1.0}, ["A", "B"]), "no metric score for B"),
        (lambda: windows({}, {}, ["A", "B"], width=3), "2 to 2 systems, got 3"),
        (lambda: aggregate(SCORES, "median"), "unknown aggregation 'median'"),
        (lambda: agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES, "half"), "unknown tie rule 'half'"),
        (lambda: agreement(judged_pairs([], ["A", "B"]), SCORES), "no pair"),
        (lambda: agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES * np.nan), "system 0 on sentence 0 is NaN"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
