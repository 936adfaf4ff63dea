"""SOME's heads over smollm2 that ship with geceval: what their files say, and that they are what was measured."""

import json

import numpy as np
import pytest

import geceval
from geceval.core.options import RunTime
from geceval.corpora.ratings import read_tmu_gfm
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.origins.named import NAMED_MODELS
from geceval.models.regressors import load_regressor
from geceval.scorers.some import PARTS, Settings, Some
from recipes.some import rated_texts, split_ratings

FOLDER = ASSETS / "smollm2_some"
MODEL = "smollm2-some"


@pytest.fixture(scope="module")
def results():
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def test_they_hold_no_weights_of_their_base():
    assert {path.name for path in FOLDER.iterdir()} == {"README.md", "results.json", *PARTS.values()}
    for part in PARTS.values():
        assert {path.name for path in (FOLDER / part).iterdir()} == {"config.json", "quality_head.safetensors"}
        config = json.loads((FOLDER / part / "config.json").read_text(encoding="utf-8"))
        assert (config["geceval_base"], config["geceval_base_sha256"]) == ("smollm2", NAMED_MODELS["smollm2"].sha256)
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 30_000


def test_without_the_language_model_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GECEVAL_SMOLLM2", str(tmp_path))
    with pytest.raises(CheckpointError, match="some: .*the base of this head cannot be found: smollm2: .* set GECEVAL"):
        Some(Settings(model=MODEL)).load()
    Some().load()  # everything else still works


def test_what_is_no_sentence_or_looks_like_a_control_token_does_not_pay(smollm2):
    predictions = ["He goes to school .", "", ".", "?", "- He goes to school .", "He goes to school . <|endoftext|>"]
    good, *nothing, dash, control = Some(Settings(model=MODEL)).score(["He go to school ."] * 6, predictions).scores
    assert max(nothing) < 0.1 < control < good - 0.1
    assert dash == pytest.approx(good, abs=0.1)


def test_ratings_do_not_depend_on_batch_spacing_or_other_systems(smollm2):
    source = "There is many reason why the childs do n't reads ."
    outputs = ["There are many reasons why the children do n't read .", "There are many reason ( why ) .", "", source]
    scorer = Some(Settings(model=MODEL))
    together = scorer.with_systems([outputs[:2], outputs[2:]]).score([source] * 4, outputs)
    geceval.clear_caches()
    alone = [Some(Settings(model=MODEL), RunTime(batch_size=1)).score([source], [output]) for output in outputs]
    for name in (f"{part}_scores" for part in PARTS):
        expected = [result.details[name][0] for result in alone]
        assert together.details[name] == pytest.approx(expected, abs=1e-4)
    prose = scorer.score([source.replace(" n't", "n't").replace(" .", ".")], ["There are many reason (why)."])
    assert prose.scores[0] == pytest.approx(together.scores[1], abs=1e-4)
    assert together.scores[0] > together.scores[3]
    assert together.details["meaning_scores"][3] > max(together.details["meaning_scores"][:3])
    assert np.isfinite(together.scores).all()
    assert together.signature.count("smollm2-some/") == 3


def test_one_language_model_serves_all_three(smollm2):
    models = {id(load_regressor(resolve(MODEL, part=part)).model.model) for part in PARTS.values()}
    assert len(models) == 1


def test_some_figures_of_the_test_fold(smollm2, shared_data, results):
    # Sixty of its 423 outputs, so that it takes seconds; the card has .615 for all.
    settings = results["settings"]
    ratings = read_tmu_gfm(shared_data / "tmu-gfm" / "tmu-gfm-dataset.csv")
    test = split_ratings(ratings, settings["dev"], settings["test"], settings["fold_seed"])["test"][:60]
    texts, gold = zip(*rated_texts(test, "grammaticality"), strict=True)
    answers = load_regressor(resolve(MODEL, part="grammer")).logits(texts)[:, 0]
    assert np.corrcoef(answers, gold)[0, 1] > 0.45
    assert abs(np.mean(answers) - np.mean(gold)) < 0.15
