"""Expected Wins by hand, and those of judgments beside the published ones."""

import numpy as np
import pytest

from geceval.meta.aggregation import count_wins, expected_wins, human_expected_wins


@pytest.mark.parametrize("kind", ["sent", "edit"])
def test_expected_wins_of_seeda(seeda, kind):
    found = human_expected_wins(seeda.judgments[kind], list(seeda.outputs))
    # Published: the mean of 1,000 bootstrap samples, to 3 decimals; the fact sheet (1.3) allows .001.
    assert found == pytest.approx(seeda.scores[f"ew_{kind}"], abs=1e-3)


def test_expected_wins_of_gjg15(gjg15):
    found = human_expected_wins(gjg15.judgments["all"], list(gjg15.outputs))
    assert found == pytest.approx(gjg15.scores["ew"], abs=5.1e-4)


def test_expected_wins_by_hand():
    # A beats B 3:1 and never meets C; B and C are 2:2.
    wins = np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    assert expected_wins(wins).tolist() == [(3 / 4 + 0) / 2, (1 / 4 + 1 / 2) / 2, (0 + 1 / 2) / 2]


def test_draws_and_nan_are_no_wins():
    assert expected_wins(count_wins(np.ones((2, 4)))).tolist() == [0.0, 0.0]
    assert count_wins(np.array([[1.0, np.nan], [0.0, 5.0]])).tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_one_system_has_nobody_to_beat():
    with pytest.raises(ValueError, match="at least two systems"):
        expected_wins(np.zeros((1, 1)))
