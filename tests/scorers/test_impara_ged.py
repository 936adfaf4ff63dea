"""IMPARA-GED; how networks answer and pool, tests/models/test_pooling.py proves for all."""

import numpy as np
import pytest

from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.scorers.impara_ged import ImparaGed, Settings


def test_scores_are_the_sigmoids_of_answers(make_checkpoint):
    checkpoint = resolve(make_checkpoint(61))
    texts = ["the cat sat on the mat .", "dogs run", "", "the " * 300, "a school likes xyz"]
    expected = 1 / (1 + np.exp(-Encoder.load(checkpoint, head=True).logits(texts)[:, 0]))
    assert expected.std() > 1e-3
    result = ImparaGed(Settings(model=str(checkpoint.folder))).score(texts, texts)
    assert result.scores == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.score == pytest.approx(expected.mean(), abs=1e-5)


def test_the_source_does_not_enter_the_number(make_checkpoint):
    scorer = ImparaGed(Settings(model=str(make_checkpoint(61)), guard="off"))
    one, other = (scorer.score([source], ["the cat sat"]) for source in ("the cat sat", "dogs"))
    assert one.scores == other.scores and one.signature == other.signature
