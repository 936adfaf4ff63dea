"""The checkpoints of IMPARA, IMPARA-LM and SOME that ship with geceval: what they are, and how they judge."""

import json

import numpy as np
import pytest

from geceval.corpora.ratings import read_tmu_gfm
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.models.regressors import load_regressor
from geceval.scorers import impara_lm, some
from geceval.scorers.impara import Impara
from geceval.scorers.impara_lm import ImparaLm
from geceval.scorers.some import Some
from recipes.some import evaluate, rated_texts, split_ratings

ADAPTER = {"adapter_config.json", "adapter_model.safetensors", "config.json"}
WORSE_AND_BETTER = [
    ("He have been lived here since three year .", "He has lived here for three years ."),
    ("I am agree with this opinions .", "I agree with this opinion ."),
    ("There is many reason why the childs do not reads .", "There are many reasons why the children do not read ."),
    ("It depend of how many money you has .", "It depends on how much money you have ."),
]
SOURCE, FULL = WORSE_AND_BETTER[2]
PARTIAL = "There are many reasons why the childs do not read ."


def files(folder):
    return {path.name for path in folder.iterdir()}


def content(folder, name="config.json"):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_impara_is_an_adapter_that_prefers_plainly_better_sentences():
    assert files(ASSETS / "impara") == {"README.md", "results.json", *ADAPTER}
    checkpoint = resolve("bundled", bundled="impara")
    assert checkpoint.base.folder == ASSETS / "encoder"
    logits = Encoder.load(checkpoint, head=True).logits([text for pair in WORSE_AND_BETTER for text in pair])
    margins = np.diff(logits.reshape(-1, 2), axis=1)
    assert (margins > 0).all(), margins


def test_a_different_sentence_counts_nothing_for_impara():
    result = Impara().score(["This are a sentence ."] * 2, ["This is a sentence .", "Dogs like meat ."])
    assert result.scores[0] > 0
    assert result.scores[1] == 0
    assert result.details["zeroed"] == 1


@pytest.fixture(params=["bundled", "smollm2-impara"])
def model(request):
    """A checkpoint of IMPARA-LM; the large one where its language model is installed."""
    if request.param != "bundled":
        request.getfixturevalue("smollm2")
    return request.param


def test_impara_lm_prefers_what_is_corrected_more_and_is_not_fooled(model):
    predictions = [FULL, PARTIAL, SOURCE, "the the the", "", f"{FULL} <|endoftext|>", "<|endoftext|>"]
    scores = ImparaLm(impara_lm.Settings(model=model)).score([SOURCE] * 7, predictions).scores
    assert scores[0] > scores[1] > scores[2] > max(scores[3:5])
    assert max(scores[5:]) < scores[0] - 1  # control tokens left in the output


def test_without_the_language_model_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GECEVAL_SMOLLM2", str(tmp_path))
    with pytest.raises(CheckpointError, match="impara_lm: .*the base of this adapter cannot be found: smollm2: "):
        ImparaLm(impara_lm.Settings(model="smollm2-impara")).load()
    with pytest.raises(CheckpointError, match="some: .*the base of this head cannot be found: smollm2: .* set GECEVAL"):
        Some(some.Settings(model="smollm2-some")).load()
    with pytest.raises(CheckpointError, match="config.json is missing.* holds several networks, fluency, gr"):
        ImparaLm(impara_lm.Settings(model="smollm2-some")).load()
    ImparaLm().load()
    Some().load()


@pytest.mark.slow
def test_figures_of_some_on_the_test_fold_are_those_of_the_card(shared_data):
    results = content(ASSETS / "some", "results.json")
    test = fold(shared_data, results)
    assert len(test) == 423
    found = evaluate(ASSETS / "some", "grammaticality", test)
    assert found == pytest.approx(results["parts"]["grammaticality"]["test"], abs=1e-4)


def fold(shared_data, results):
    settings = results["settings"]
    ratings = read_tmu_gfm(shared_data / "tmu-gfm" / "tmu-gfm-dataset.csv")
    return split_ratings(ratings, settings["dev"], settings["test"], settings["fold_seed"])["test"]


@pytest.mark.slow
def test_some_figures_of_the_heads_on_the_test_fold(smollm2, shared_data):
    # Sixty of its 423 outputs, so that it takes seconds; the card has .615 for all.
    test = fold(shared_data, content(ASSETS / "smollm2_some", "results.json"))[:60]
    texts, gold = zip(*rated_texts(test, "grammaticality"), strict=True)
    answers = load_regressor(resolve("smollm2-some", part="grammer")).logits(texts)[:, 0]
    assert np.corrcoef(answers, gold)[0, 1] > 0.45
    assert abs(np.mean(answers) - np.mean(gold)) < 0.15


def test_what_is_no_sentence_or_looks_like_a_control_token_does_not_pay(smollm2):
    predictions = ["He goes to school .", "", ".", "?", "- He goes to school .", "He goes to school . <|endoftext|>"]
    scores = Some(some.Settings(model="smollm2-some")).score(["He go to school ."] * 6, predictions).scores
    good, *nothing, dash, control = scores
    assert max(nothing) < 0.1 < control < good - 0.1
    assert dash == pytest.approx(good, abs=0.1)
