"""F-beta, and counts, one by one and in arrays."""

import numpy as np
import pytest

from geceval.core.f_score import Counts, f_beta, ratio


@pytest.mark.parametrize(
    ("precision", "recall", "beta", "wanted"),
    [
        (1.0, 1.0, 0.5, 1.0),
        (0.0, 0.0, 0.5, 0.0),
        (1.0, 0.0, 0.5, 0.0),
        (1.0, 0.0, 1e-200, 0.0),  # beta² is 0 in floating point
        (0.5, 0.25, 1.0, 1 / 3),  # 2 * .125 / .75
        (0.5, 0.25, 0.5, 0.15625 / 0.375),  # 1.25 * .125 / (.25 * .5 + .25)
        (0.5, 0.25, 2.0, 0.625 / 2.25),  # 5 * .125 / (4 * .5 + .25)
    ],
)
def test_f_beta(precision, recall, beta, wanted):
    assert f_beta(precision, recall, beta) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("beta", [0.0, -1.0, float("nan")])
def test_beta_must_be_positive(beta):
    with pytest.raises(ValueError, match="beta must be positive"):
        f_beta(0.5, 0.5, beta)


def test_counts_without_proposals_or_gold():
    # the convention of the M2 scorer: nothing proposed is precision 1, nothing to find is recall 1
    assert (Counts().precision, Counts().recall, Counts().f()) == (1.0, 1.0, 1.0)
    assert (Counts(fn=2).precision, Counts(fn=2).recall, Counts(fn=2).f()) == (1.0, 0.0, 0.0)
    assert (Counts(fp=2).precision, Counts(fp=2).recall, Counts(fp=2).f()) == (0.0, 1.0, 0.0)


def test_counts_add_up():
    total = Counts(1, 2, 3) + Counts(0.5, 0, 1)
    assert total == Counts(1.5, 2, 4)
    assert total.to_details(1.0) == {
        "precision": 1.5 / 3.5,
        "recall": 1.5 / 5.5,
        "f": pytest.approx(3 / 9),  # F1 = 2 TP / (2 TP + FP + FN)
        "tp": 1.5,
        "fp": 2,
        "fn": 4,
    }


def test_arrays_give_what_their_numbers_give():
    rows = np.array([[0, 0, 0], [0, 0, 2], [0, 2, 0], [3, 1, 2], [0.5, 0.25, 1.5]])
    one_by_one = [Counts(*row) for row in rows.tolist()]
    for beta in (0.5, 2.0):
        assert Counts.of(rows).f(beta).tolist() == [counts.f(beta) for counts in one_by_one]
    assert Counts.of(rows).precision.tolist() == [counts.precision for counts in one_by_one]
    assert ratio(rows[:, 0], rows[:, 0] + rows[:, 1], empty=0.0).tolist() == [0, 0, 0, 0.75, 2 / 3]
