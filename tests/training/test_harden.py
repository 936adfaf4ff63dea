"""A finished estimator that learns what negatives are worth keeps the order of the versions of a sentence."""

import json

import numpy as np
import pytest
import torch

import harden
from geceval.learning.impara import Job, train_impara
from geceval.learning.recipe import Recipe
from recipes.hardening import Hardening, losses


def test_losses():
    row = Hardening(("a", "b"), ("a a",), (0,), np.array([1.0, 0.0], np.float32))
    # a is 1 above b as before; "a a" is .5 below a: softplus(0) * .25
    anchor, negatives = losses(torch.tensor([2.0, 1.0, 1.5]), [row])
    assert (anchor.item(), negatives.item()) == (0.0, pytest.approx(0.25 * np.log(2)))
    # a is 2 above b, 1 more than before: smooth L1 .5; "a a" is 1 above a: softplus(6) * .25
    anchor, negatives = losses(torch.tensor([3.0, 1.0, 4.0]), [row])
    assert (anchor.item(), negatives.item()) == (0.5, pytest.approx(0.25 * np.log1p(np.exp(6.0)), rel=1e-5))
    anchor, _ = losses(torch.tensor([2.0, 1.0, 1.5, 7.0, 6.0, 6.5]), [row, row])
    assert anchor.item() == 0.0


@pytest.mark.slow
def test_it_learns_on(corpus, base, tmp_path, capsys):
    recipe = Recipe(base=str(base), epochs=1, batch_size=16, max_length=32, lora_rank=4, pooler="identity")
    train_impara(Job(m2=(corpus,), recipe=recipe, pairs=40, threshold=-2), tmp_path / "impara")
    harden.HELD = 10
    arguments = [str(tmp_path / "impara"), "--m2", str(corpus), "--output", str(tmp_path / "harder"), "--groups", "50"]
    assert harden.main([*arguments, "--lr", "1e-2", "--dtype", "float32"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["before"]["ordered_as_before"] == 1.0
    assert measured["after"]["negatives_above"] < measured["before"]["negatives_above"]
    assert json.loads((tmp_path / "harder" / "results.json").read_text())["hardened"] == measured
