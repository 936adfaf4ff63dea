"""SOME: its regressors together, its weights, its three folders, and bad input."""

import json
import shutil

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import geceval
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.scorers.some import PARTS, Settings, Some


@pytest.fixture(scope="module")
def make_some(make_checkpoint, tmp_path_factory):
    """A function that makes a folder with three regressors."""

    def make(seed=0, **config):
        folder = tmp_path_factory.mktemp("some")
        for number, part in enumerate(PARTS.values()):
            shutil.copytree(make_checkpoint(100 * seed + number, **config), folder / part)
        return folder

    return make


@pytest.fixture(scope="module")
def local(make_some):
    return str(make_some(1))


def ratings_and_scores(folder, sources, predictions, weights):
    """By the regressors' own loops, which tests/models/ holds against transformers."""
    texts = {"meaning": list(zip(sources, predictions, strict=True))}
    networks = {part: Encoder.load(resolve(folder, part=part), head=True) for part in PARTS.values()}
    parts = [(network.logits(texts.get(part, predictions))[:, 0] - 1) / 3 for part, network in networks.items()]
    return parts, sum(weight * values for weight, values in zip(weights, parts, strict=True))


@pytest.mark.parametrize(
    ("weights", "triple"),
    [("sentence", (0.55, 0.43, 0.02)), ("system", (0.01, 0.98, 0.01)), ((0.2, 0.0, 1.5), (0.2, 0.0, 1.5))],
)
def test_scores_are_the_weighted_ratings(make_some, corpus, weights, triple):
    # The named weights: Table 1 of the paper, the last row.
    folder = make_some(0)
    sources, predictions = corpus()
    parts, expected = ratings_and_scores(folder, sources, predictions, triple)
    result = Some(Settings(model=str(folder), weights=weights)).score(sources, predictions)
    assert result.scores == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.score == pytest.approx(expected.mean(), abs=1e-5)
    for part, values in zip(PARTS, parts, strict=True):
        assert result.details[f"{part}_scores"] == pytest.approx(values.tolist(), abs=1e-5)
        assert result.details[part] == pytest.approx(values.mean(), abs=1e-5)


def test_the_scale_is_that_of_the_ratings_and_nothing_is_clipped(make_some):
    folder = make_some(3)
    for part, answer in zip(PARTS.values(), (4.0, 1.0, 5.5), strict=True):
        state = load_file(folder / part / "model.safetensors")
        state["classifier.weight"].zero_()
        state["classifier.bias"].fill_(answer)
        save_file(state, folder / part / "model.safetensors", metadata={"format": "pt"})
    result = Some(Settings(model=str(folder), weights=(1, 1, 1))).score(["a cat"], ["the cat"])
    assert [result.details[part] for part in PARTS] == [1.0, 0.0, 1.5]
    assert result.score == 2.5  # the sum: weights are taken as they are


def test_a_pair_shares_128_sub_words_and_the_cut_is_reported(local, caplog):
    line, short = " ".join(["the cat"] * 100), "a dog"
    geceval.clear_caches()
    result = Some(Settings(model=local, guard="off")).score([line, short], [short, line])
    assert sorted(record.getMessage().partition(": ")[2] for record in caplog.records) == [
        *["longer than 128 tokens and cut: 1 of 2 texts, first on line 1; what lies beyond does not count"] * 2,
        "longer than 128 tokens and cut: 2 of 2 texts, first on line 1; what lies beyond does not count",
    ]
    # The longer text loses first: [CLS] 123 words [SEP] a dog [SEP].
    cut = " ".join(line.split()[:123])
    again = Some(Settings(model=local)).score([cut, short], [short, cut])
    assert result.details["meaning_scores"] == pytest.approx(again.details["meaning_scores"], abs=1e-5)


def test_a_length_stored_with_a_regressor_holds_for_it(make_some):
    folder = make_some(5)
    path = folder / "meaning" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "geceval_max_length": 64}))
    assert "|max_length:128,128,64|" in Some(Settings(model=str(folder))).score(["a"], ["a"]).signature
    given = Some(Settings(model=str(folder), max_length=32)).score(["a"], ["a"])
    assert "|max_length:32|" in given.signature


@pytest.mark.parametrize("part", PARTS.values())
def test_a_missing_regressor_is_named(local, tmp_path, part):
    shutil.copytree(local, tmp_path / "some")
    (tmp_path / "some" / part).rename(tmp_path / "some" / "other")
    with pytest.raises(CheckpointError, match=f"some: no sub-folder '{part}'"):
        Some(Settings(model=str(tmp_path / "some"))).score(["a"], ["a"])


@pytest.mark.parametrize("part", PARTS.values())
def test_each_of_the_three_networks_changes_the_signature(local, make_some, tmp_path, part):
    shutil.copytree(local, tmp_path / "some")
    shutil.rmtree(tmp_path / "some" / part)
    shutil.copytree(make_some(10) / part, tmp_path / "some" / part)
    lines = [Some(Settings(model=str(model))).score(["a"], ["a"]).signature for model in (local, tmp_path / "some")]
    hashes = [line.split("|model:")[1].split("|")[0].split(",") for line in lines]
    changed = [one[-7:] != other[-7:] for one, other in zip(*hashes, strict=True)]
    assert changed == [part == other for other in PARTS.values()]


def test_an_answer_that_is_not_finite_is_an_error(local, monkeypatch):
    scorer = Some(Settings(model=local))
    scorer.load()
    monkeypatch.setattr(scorer._loaded["meaning"], "logits", lambda *_: np.array([[3.5], [np.inf]], np.float32))
    with pytest.raises(ValueError, match=r"some: the regressor of meaning gives inf for predictions\[1\]"):
        scorer.score(["a", "b"], ["a", "b"])


@pytest.mark.parametrize(("bad", "error"), [(["one"], ValueError), ([1] * 8, TypeError), (["\ud800"] * 8, ValueError)])
def test_a_bad_system_is_refused_in_its_own_turn(local, corpus, bad, error):
    sources, predictions = corpus(8, seed=6)
    scorer = Some(Settings(model=local)).with_systems([predictions, bad])
    assert scorer.score(sources, predictions) == Some(Settings(model=local)).score(sources, predictions)
    with pytest.raises(error):
        scorer.score(sources, bad)
