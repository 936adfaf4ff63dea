"""Agreement on sentences: the Length metric on real judgments, invented judgments for the rules."""

import numpy as np
import pytest

from geceval.meta.agreement import Pairs, agreement, judged_pairs, rank_table
from geceval.meta.judgments import Item, system_set


@pytest.mark.parametrize(
    ("systems", "kind", "expected", "unexpanded"),
    [
        # Fact sheet, sections 7.1 and 3: accuracy, tau and pairs; pairs of one system a text.
        ("base", "edit", (0.5365853658536586, 0.07317073170731707, 7708), 1998),
        ("base", "sent", (0.5455708346658139, 0.09114166933162776, 9381), 2286),
        ("+INPUT", "edit", (0.54440, 0.08880, 9640), 2368),
        ("+INPUT", "sent", (0.54977, 0.09955, 11321), 2629),
        ("+fluency", "edit", (0.52210, 0.04420, 12172), 3415),
        ("+fluency", "sent", (0.51377, 0.02754, 15289), 4100),
        ("all", "edit", (0.52841, 0.05683, 14570), 3890),
        ("all", "sent", (0.51902, 0.03803, 17747), 4556),
    ],
)
def test_length_against_seeda_sentences(seeda, lengths, systems, kind, expected, unexpanded):
    names = system_set(seeda, systems)
    found = agreement(judged_pairs(seeda.judgments[kind], names), lengths(seeda, names))
    assert (found.accuracy, found.kendall, found.pairs) == pytest.approx(expected, abs=5.1e-6)
    single = judged_pairs(seeda.judgments[kind], names, expand=False)
    assert int((single.human != 0).sum()) == unexpanded


def test_all_pairs_of_the_files(seeda, gjg15):
    """Fact sheet, section 1.1: unexpanded and expanded pairs with, in brackets, those that people tied."""
    expected = {"sent": (5347, 791, 33544, 15797), "edit": (5347, 1457, 33544, 18974)}
    expected["all"] = (20516, 5694, 109098, 59117)
    for data in (seeda, gjg15):
        for kind, items in data.judgments.items():
            single, expanded = (judged_pairs(items, list(data.outputs), expand=expand) for expand in (False, True))
            counts = [count for p in (single, expanded) for count in (len(p.human), int((p.human == 0).sum()))]
            assert tuple(counts) == expected[kind]
    without_input = [system for system in gjg15.outputs if system != "INPUT"]
    pairs = judged_pairs(gjg15.judgments["all"], without_input)
    assert int((pairs.human != 0).sum()) == 44434  # section 3


ITEMS = [Item(0, "a", ((("A", "B"), 1), (("C",), 3))), Item(1, "a", ((("A",), 2), (("B",), 2), (("C",), 1)))]


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


def test_expansion_takes_one_system_a_text():
    expanded = judged_pairs(ITEMS, ["A", "B", "C"])
    single = judged_pairs(ITEMS, ["A", "B", "C"], expand=False)
    assert expanded.human.tolist() == [0, 1, 1, 0, -1, -1]
    assert (single.sentence.tolist(), single.human.tolist()) == ([0, 1, 1, 1], [1, 0, -1, -1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: agreement(judged_pairs(ITEMS, ["A", "B", "C"]), SCORES, "half"), "tie rule must be .*, got 'half'"),
        (lambda: agreement(judged_pairs([], ["A", "B"]), SCORES), "no pair"),
        (lambda: agreement(judged_pairs(ITEMS, list("ABC")), SCORES * np.nan), "system number 1 on sentence 1 is NaN"),
        (lambda: agreement(judged_pairs(ITEMS, list("ABC")), INFINITE), "system number 2 on sentence 1 is infinite"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
