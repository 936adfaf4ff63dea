"""Heat maps by the metric's and by the annotators' ranks: fixtures of the Length metric, and rules by hand."""

import numpy as np
import pytest
from meta.test_agreement import ITEMS, SCORES

from geceval.meta.agreement import judged_pairs
from geceval.meta.judgments import system_set
from geceval.meta.pair_maps import by_human_rank, by_metric_rank


def test_metric_ranks_of_length(seeda, lengths):
    systems = system_set(seeda)
    found = by_metric_rank(judged_pairs(seeda.judgments["sent"], systems), lengths(seeda, systems))
    # Fact sheet, section 4: ranks from 1, ties in the order of the list.
    expected = {(1, 2): (57, 119), (1, 12): (128, 234), (2, 9): (101, 180), (6, 7): (28, 52), (11, 12): (51, 111)}
    for (better, worse), counts in expected.items():
        assert (found.agree[better - 1, worse - 1], found.pairs[better - 1, worse - 1]) == counts
    assert found.pairs.sum() == 9381
    assert np.isnan(found.share[np.tril_indices(12)]).all()
    assert found.kendall[0, 1] == pytest.approx(2 * 57 / 119 - 1)


SHARES = {
    "edit": [0.5665, 0.5285, 0.3826, 0.4250, 0.5028, 0.5012, 0.4483, 0.6258, 0.3556, 0.4127],
    "sent": [0.5902, 0.4615, 0.5872, 0.6507, 0.4915, 0.5156, 0.5982, 0.4899, 0.6118, 0.5411],
}
PAIRS = {
    "edit": [3573, 1211, 230, 40, 1585, 409, 58, 449, 90, 63],
    "sent": [915, 728, 642, 670, 1292, 1216, 1008, 1190, 711, 1009],
}


@pytest.mark.parametrize("kind", SHARES)
def test_human_ranks_of_length(seeda, kind, lengths):
    systems = system_set(seeda)
    found = by_human_rank(seeda.judgments[kind], systems, lengths(seeda, systems))
    above = np.triu_indices(5, k=1)  # the sheet lists (1,2), (1,3) ... (4,5)
    assert found.share[above] == pytest.approx(SHARES[kind], abs=5.1e-5)
    assert found.pairs[above].tolist() == PAIRS[kind]


SYSTEMS = ["A", "B", "C"]


def test_metric_ranks_by_hand():
    found = by_metric_rank(judged_pairs(ITEMS, SYSTEMS), SCORES)
    # Sentence 0 is ranked A C B, sentence 1 B C A (ties in the order of the list). People: A > C (cell 1,2: agrees),
    # B > C (cell 2,3: people prefer the worse rank), C > A (cell 2,3: agrees), C > B (cell 1,2: they do not).
    assert found.pairs.tolist() == [[0, 2, 0], [0, 0, 2], [0, 0, 0]]
    assert found.agree.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("ties", "expand", "first_third", "first_second"),
    [
        # Ranks 1 and 3: A > C tied, B > C wrong. Ranks 1 and 2: C > A right, C > B tied.
        ("order", True, (0, 2), (2, 2)),
        ("zero", True, (0, 2), (1, 2)),
        ("drop", True, (0, 1), (1, 1)),
        ("order", False, (0, 1), (2, 2)),  # only A speaks for A and B on sentence 0
    ],
)
def test_human_ranks_by_hand(ties, expand, first_third, first_second):
    found = by_human_rank(ITEMS, SYSTEMS, SCORES, ties, expand=expand)
    assert (found.agree[0, 2], found.pairs[0, 2]) == first_third
    assert (found.agree[0, 1], found.pairs[0, 1]) == first_second


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: by_metric_rank(judged_pairs(ITEMS, SYSTEMS), SCORES * np.nan), "system number 1 on sentence 1 is NaN"),
        (lambda: by_human_rank(ITEMS, SYSTEMS, SCORES, "hties"), "of a heat map must be one of .*, got 'hties'"),
        (lambda: by_human_rank(ITEMS[:1], SYSTEMS[:2], SCORES[:2]), "no pair"),
        (lambda: by_human_rank([], SYSTEMS, SCORES), "no pair"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
