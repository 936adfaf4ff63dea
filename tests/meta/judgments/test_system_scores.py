"""The human ranking of systems from judgments: beside the published scores, and by hand."""

from __future__ import annotations

import pytest

from geceval.meta.judgments.data import Item
from geceval.meta.judgments.readers import read_seeda
from geceval.meta.judgments.system_scores import human_expected_wins, human_trueskill


@pytest.fixture(scope="module")
def seeda(shared_data):
    return read_seeda(shared_data / "seeda")


@pytest.mark.parametrize("kind", ["sent", "edit"])
def test_expected_wins_of_seeda(seeda, kind):
    found = human_expected_wins(seeda.judgments[kind], list(seeda.outputs))
    # Published: the mean of 1,000 bootstrap samples, to 3 decimals; the fact sheet (1.3) allows .001.
    assert found == pytest.approx(seeda.scores[f"ew_{kind}"], abs=1e-3)


def test_expected_wins_of_gjg15(gjg15):
    found = human_expected_wins(gjg15.judgments["all"], list(gjg15.outputs))
    assert found == pytest.approx(gjg15.scores["ew"], abs=5.1e-4)


def test_trueskill_of_seeda(seeda):
    found = human_trueskill(seeda.judgments["sent"], list(seeda.outputs), runs=8)
    # Fact sheet, 1.3: eight seeds land within .02 of every published value.
    assert found == pytest.approx(seeda.scores["ts_sent"], abs=0.02)


ITEMS = [Item(sentence, "u", ((("A",), 1), (("B",), 2))) for sentence in range(3)]
TIED = [Item(0, "u", ((("A",), 1), (("B",), 1)))]


def test_one_win_of_trueskill_by_hand():
    # Two steps (one pair and one more), beta = .5 * 2 / 40 = .025; trueskill 0.4.5 with sigma .5, tau 0, draw .25:
    # rate_1vs1 twice, A winning.
    import trueskill

    rules = trueskill.TrueSkill(mu=0, sigma=0.5, beta=0.025, tau=0, draw_probability=0.25)
    a, b = rules.rate_1vs1(*rules.rate_1vs1(rules.create_rating(), rules.create_rating()))
    found = human_trueskill(ITEMS[:1], ["A", "B"], runs=2)
    assert found == pytest.approx({"A": a.mu, "B": b.mu}, abs=1e-6)


def test_draws_only_leave_equals_and_a_system_without_comparisons_its_prior():
    found = human_trueskill(TIED, ["A", "B", "C"], runs=3)
    assert found == pytest.approx({"A": 0.0, "B": 0.0, "C": 0.0}, abs=1e-9)
    assert human_trueskill(ITEMS, ["C", "A", "B"], runs=1)["C"] == 0.0


def test_a_run_follows_its_seed():
    items = [*ITEMS, Item(4, "u", ((("B",), 1), (("A",), 2), (("C",), 3)))]
    first, again, other = (human_trueskill(items, ["A", "B", "C"], 4, seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: human_trueskill(ITEMS, ["A", "B"], runs=0), "runs must be at least 1"),
        (lambda: human_trueskill(ITEMS, ["C", "D"]), "compare no two"),
        (lambda: human_expected_wins(ITEMS, ["A"]), "at least two systems"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
