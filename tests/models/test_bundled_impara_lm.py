"""The IMPARA-LM adapter that ships with geceval: what its files say, and how it judges over the real language model."""

import json

import numpy as np
import pytest

from geceval.core.options import RunTime
from geceval.learning.impara_lm.card import impara_lm_card
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.sources.named import NAMED
from geceval.scorers.impara_lm import ImparaLm, Settings

FOLDER = ASSETS / "impara_lm"
SOURCE = "There is many reason why the childs do not reads ."
PARTIAL = "There are many reasons why the childs do not read ."
FULL = "There are many reasons why the children do not read ."


@pytest.fixture(scope="module")
def results():
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def test_it_is_a_small_adapter_over_the_weights_of_the_package():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 10_000_000
    adapter = json.loads((FOLDER / "adapter_config.json").read_text(encoding="utf-8"))
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    assert adapter["base_model_name_or_path"] == "smollm2"
    assert config["geceval_base_sha256"] == NAMED["smollm2"].sha256


def test_the_card_is_made_from_the_results(results):
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == impara_lm_card(results, FOLDER)


def test_the_more_is_corrected_the_better(smollm2):
    scores = ImparaLm().score([SOURCE] * 3, [FULL, PARTIAL, SOURCE]).scores
    assert scores[0] > scores[1] > scores[2]


def test_relative_scores_are_those_of_any_batch(smollm2):
    pairs = [(SOURCE, FULL), (SOURCE, PARTIAL), (SOURCE, SOURCE), ("a b", "")]
    columns = [list(column) for column in zip(*pairs, strict=True)]
    together = ImparaLm(Settings(relative=True)).score(*columns)
    alone = [ImparaLm(Settings(relative=True), RunTime(batch_size=1)).score([s], [p]).score for s, p in pairs]
    assert together.scores == pytest.approx(alone, abs=1e-4)
    assert together.scores[2] == 0
    assert np.isfinite(together.scores).all()
    assert "model:bundled@" in together.signature


def test_without_the_language_model_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GECEVAL_SMOLLM2", str(tmp_path))
    with pytest.raises(CheckpointError, match="impara_lm: .*the base of this adapter cannot be found: smollm2: "):
        ImparaLm().load()
    assert resolve("bundled").folder == ASSETS / "encoder"  # everything else still works
