"""An encoder as an adapter over another: factors that fit the inputs, and learning that brings the states nearer."""

import copy
import random

import pytest
import torch

from geceval.models.checkpoints import resolve
from geceval.models.loading import load_encoder
from recipes import encoder_adapter


@pytest.mark.parametrize("rank", [3, 10])
def test_factors_have_the_least_error_of_what_the_layer_computes(rank):
    generator = torch.manual_seed(1)
    change = torch.randn(12, 10, generator=generator)
    inputs = torch.randn(5000, 10, generator=generator) * torch.logspace(0, 1.5, 10)
    left, right = encoder_adapter._factors(change, encoder_adapter._root(inputs.T @ inputs / len(inputs)), rank)
    assert (left.shape, right.shape) == ((12, rank), (rank, 10))
    found = float((inputs @ (change - left @ right).T).square().sum(1).mean())
    # Eckart and Young: the least error of a product of that rank is that of the outputs' own singular values
    least = float((torch.linalg.svdvals(inputs @ change.T)[rank:] ** 2).sum()) / len(inputs)
    plain_left, values, plain_right = torch.linalg.svd(change, full_matrices=False)
    plain = change - (plain_left[:, :rank] * values[:rank]) @ plain_right[:rank]
    assert least <= found + 1e-3 and found <= 1.1 * least + 1e-3
    assert rank == 10 or found < 0.9 * float((inputs @ plain.T).square().sum(1).mean())


def test_rows_of_common_tokens_are_kept_best():
    change = torch.randn(50, 8, generator=torch.manual_seed(2))
    share = torch.full((50,), 1e-4).index_fill(0, torch.tensor([3, 7]), 0.4)
    left, right = encoder_adapter._weighted_rows(change, share, 2)
    error = (change - left @ right).norm(dim=1) / change.norm(dim=1)
    assert error[[3, 7]].max() < 0.05 and error.mean() > 0.5


def test_learning_brings_the_states_nearer(make_checkpoint):
    base = load_encoder(resolve(make_checkpoint(4, "BertModel")))
    target = copy.deepcopy(base)
    torch.manual_seed(0)
    for parameter in target.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    draw = random.Random(1)
    texts = [[2, *(draw.randrange(5, 60) for _ in range(draw.randrange(3, 12))), 3] for _ in range(640)]
    texts, others = texts[:600], texts[600:]
    before = encoder_adapter.state_error(base, target, others)
    started, learnt = (
        encoder_adapter.state_error(
            encoder_adapter.fit(target, copy.deepcopy(base), texts, (4, 4), rate), target, others
        )
        for rate in (1e-9, 1e-2)
    )
    assert learnt < 0.9 * started < 0.9 * before
    assert encoder_adapter.state_error(target, target, others) == 0
