"""The three regressors of SOME that ship with geceval: what their files say, and that they are what was measured."""

import json

import pytest

from geceval.corpora.ratings import read_tmu_gfm
from geceval.models.checkpoints import ASSETS, resolve
from geceval.scorers.some import PARTS
from recipes.some import evaluate, split_ratings

FOLDER = ASSETS / "some"


@pytest.fixture(scope="module")
def results():
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def test_they_are_small_adapters_over_bundled_encoders(results):
    assert {path.name for path in FOLDER.iterdir()} == {"README.md", "results.json", *PARTS.values()}
    for part, name in PARTS.items():
        checkpoint = resolve("bundled", bundled="some", part=name)
        assert checkpoint.base.model == results["parts"][part]["base"]
        assert checkpoint.base.folder.parent == ASSETS
        assert sum(path.stat().st_size for path in (FOLDER / name).iterdir()) < 2_000_000
        names = {"adapter_config.json", "adapter_model.safetensors", "config.json"}
        assert {path.name for path in (FOLDER / name).iterdir()} == names


def test_the_figures_on_the_test_fold_are_those_of_the_card(results, shared_data):
    settings = results["settings"]
    ratings = read_tmu_gfm(shared_data / "tmu-gfm" / "tmu-gfm-dataset.csv")
    test = split_ratings(ratings, settings["dev"], settings["test"], settings["fold_seed"])["test"]
    assert len(test) == 423
    found = evaluate(FOLDER, "grammaticality", test)
    assert found == pytest.approx(results["parts"]["grammaticality"]["test"], abs=1e-4)
