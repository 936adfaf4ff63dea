"""An encoder as an adapter over another: factors that fit the inputs, and learning that brings the states nearer."""

import pytest
import torch

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
