"""A head learns what people prefer where its own differences and negatives leave it free."""

import pytest
import torch

from refit_head import Pairs, accuracy, refit


def pairs(rows, values):
    return Pairs(torch.tensor(rows).double(), torch.tensor(values).double())


def test_each_part_counts():
    torch.manual_seed(1)
    states = torch.randn(200, 3).double()
    head = torch.tensor([1.0, 0.0, 0.0]).double()
    kept = Pairs(states, states @ head)
    people = Pairs(states, states @ torch.tensor([0.0, 1.0, 0.0]).double())
    negatives = pairs([[0.0, 0.0, 1.0]] * 5, [1.0] * 5)
    new = refit(head, [kept], [people], negatives)
    assert accuracy(head, negatives) == 0.0 and accuracy(new, negatives) == 1.0
    assert new[1] > 0.1 and accuracy(new, people) > accuracy(head, people)
    assert accuracy(new, kept) > 0.8
    assert new[2] == pytest.approx(0.5, abs=0.35)  # the margin, less what the penalty of the change takes
