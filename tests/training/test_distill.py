"""Distillation of a tiny language model: it learns and writes what geceval loads."""

import json

import pytest

import distill as script
import evaluate_checkpoint
from geceval.models.checkpoints import resolve
from geceval.scorers.impara_lm import ImparaLm, Settings

QUICK = ["--texts", "200", "--held", "8", "--errors", "2", "--layers", "2", "--vocabulary", "257"]
QUICK += ["--batch-size", "4", "--lr", "1e-2", "--dtype", "float32"]
QUICK += ["--max-length", "120", "--quiet"]


@pytest.fixture(scope="module")
def teacher(make_causal):
    return make_causal(3, "llama", num_hidden_layers=3)


@pytest.fixture(scope="module")
def ratings(make_ratings):
    return make_ratings(12)


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    path = tmp_path_factory.mktemp("sentences") / "plain.txt"
    path.write_text("the dog sat on a mat\nthe cat runs to school\n")
    return path


@pytest.fixture(scope="module")
def finished(corpus, teacher, ratings, sentences, tmp_path_factory):
    """A run of the script with ratings: its folder and results."""
    folder = tmp_path_factory.mktemp("finished") / "toy-student"
    arguments = ["--m2", str(corpus), "--sentences", str(sentences), "--init-from", str(teacher)]
    arguments += ["--output", str(folder), "--ratings", str(ratings), "--epochs", "3"]
    assert script.main([*arguments, *QUICK]) == 0
    return folder, json.loads((folder / "results.json").read_text())


def test_it_learns_what_the_teacher_says(finished):
    folder, results = finished
    (only,) = results["runs"]
    losses = [entry["held_loss"] for entry in only["history"]]
    assert losses[-1] < losses[0]
    right = max(entry["held_accuracy"] + entry["rated_accuracy"] for entry in only["history"])
    assert only["selection"] == pytest.approx(1 - right / 2)
    assert evaluate_checkpoint.lm_card(results, folder) == (folder / "README.md").read_text()


def test_the_student_is_a_smaller_model_that_the_metric_reads(finished):
    folder, results = finished
    config = json.loads((folder / "config.json").read_text())
    assert (config["num_hidden_layers"], config["vocab_size"]) == (2, 257)
    assert (config["geceval_start_token"], config["geceval_head_layer"]) == ("<s>", 2)
    assert resolve(str(folder)).setting("scale") == 0
    good, bad = ImparaLm(Settings(model=str(folder))).score(["x"] * 2, ["the cat sat .", "the cat sit ."]).scores
    assert good != bad
    assert results["data"]["texts"] >= 100
