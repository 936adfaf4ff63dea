"""The training script of the faithfulness estimator: its pairs, its calibration, and a run on a tiny checkpoint."""

import json

import numpy as np
import pytest
import torch

import train_meaning
from geceval.edits.edit import Edit
from geceval.learning.impara import likeliest_scale
from geceval.models.quantised import read_weights
from geceval.scorers.meaning import Meaning, Settings
from recipes.distillation.groups import Confusions
from recipes.meaning import Job, Pair, make_pairs, meaning_card, read_pairs
from recipes.negatives import Corpus

SOURCE = "he go to the school yesterday with my brother ."
FIRST = [Edit(0, 1, "He"), Edit(1, 2, "went")]
SECOND = [Edit(1, 2, "walked"), Edit(3, 4, "")]


@pytest.fixture(scope="module")
def pairs():
    corpus = Corpus(["He went to school yesterday .", "Anna has three cats , you know .", "It was cold ."])
    errors = Confusions([("They goes .", [Edit(1, 2, "go")])])
    (made,) = make_pairs({SOURCE: [FIRST, SECOND]}, corpus, errors)
    return made


def test_positive_pairs_are_what_people_wrote(pairs):
    first = "He went to the school yesterday with my brother ."
    second = "he walked to school yesterday with my brother ."
    positive = {(pair.source.lower(), pair.text.lower(), pair.kind) for pair in pairs if pair.label == 1}
    wanted = {(SOURCE, first.lower(), "reference"), (SOURCE, second, "reference")}
    wanted |= {(first.lower(), second, "two references"), (second, first.lower(), "two references")}
    # Prose has no space before its last mark.
    wanted, found = ({tuple(part.replace(" .", ".") for part in pair) for pair in each} for each in (wanted, positive))
    assert wanted <= found
    kinds = {"reference", "two references", "part", "errors", "errors in the output", "reworded"}
    assert {kind for *_, kind in positive} <= kinds


def test_the_scale_makes_labels_likeliest():
    # Three of four are right, so that the likeliest logit is ln 3, whatever the network gave.
    factor = likeliest_scale(np.array([4.0, 4.0, 4.0, -4.0]))
    assert 4 * factor == pytest.approx(np.log(3), abs=1e-3)


def test_no_source_is_in_two_folds(corpus):
    folds, counts = read_pairs(Job(m2=(corpus,), pairs=100_000))
    sources = [{pair.source.replace(" ", "") for pair in rows if pair.kind == "reference"} for rows in folds.values()]
    assert sum(map(len, sources)) == len(set.union(*sources))
    assert counts[0]["pairs"] == sum(map(len, folds.values()))


def test_mined_pairs_are_learnt_from_beside_others(corpus, tmp_path):
    path = tmp_path / "mined.tsv"
    path.write_text("0\tsearched deletion\ta b c\ta b\n1\treference\ta b c\ta b d\n", encoding="utf-8")
    folds, counts = read_pairs(Job(m2=(corpus,), pairs=10, mined=(path, path)))
    assert [row["pairs"] for row in counts[1:]] == [2, 2]
    mined = [pair for fold in folds.values() for pair in fold if pair.source == "a b c"]
    assert mined == [Pair("a b c", "a b", 0.0, "searched deletion"), Pair("a b c", "a b d", 1.0, "reference")] * 2


@pytest.mark.slow
def test_a_run_writes_what_the_metric_loads(corpus, base, tmp_path):
    folder = tmp_path / "toy"
    arguments = ["--m2", str(corpus), "--init-from", str(base), "--output", str(folder), "--lora-rank", "2", "--quiet"]
    assert train_meaning.main([*arguments, "--pairs", "2000", "--dtype", "float32"]) == 0
    results = json.loads((folder / "results.json").read_text())
    assert (folder / "README.md").read_text() == meaning_card(results, folder)
    assert results["test"]["pairs"] == sum(row["pairs"] for row in results["test"]["kinds"])
    scores = Meaning(Settings(model=str(folder))).score(["a cat sat"] * 2, ["a cat sat", "the dog ran"]).scores
    assert scores[0] == 1.0
    assert 0 < scores[1] < 1
    further = [*arguments, "--adapter", str(folder / "adapter_model.safetensors"), "--dtype", "float32", "--seeds", "2"]
    further[further.index(str(folder))] = str(tmp_path / "further")
    assert train_meaning.main([*further, "--lr", "1e-9", "--pairs", "200"]) == 0
    first, second = (read_weights(path / "adapter_model.safetensors") for path in (folder, tmp_path / "further"))
    scale = json.loads((tmp_path / "further" / "results.json").read_text())["scale"]
    head, bias = (first.pop(f"base_model.model.classifier.{name}") for name in ("weight", "bias"))
    # The output layer is calibrated anew, and stored in 16 bits; training starts without its bias.
    calibrated, new_bias = (second.pop(f"base_model.model.classifier.{name}") for name in ("weight", "bias"))
    assert calibrated.numpy() == pytest.approx(scale * head.numpy(), rel=2**-10, abs=2**-24)
    assert bias != 0 == new_bias
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
