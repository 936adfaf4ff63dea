"""The training script on a tiny checkpoint: it learns and writes what geceval loads."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

import train_impara as script
from geceval.learning.impara import Job, train_impara
from geceval.learning.ranked_pairs import RankedPair
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.scorers.impara import Impara, Settings

QUICK = ["--pairs", "120", "--batch-size", "16", "--lr", "3e-3", "--max-length", "32", "--quiet"]


@pytest.fixture(scope="module")
def finished(corpus, base, tmp_path_factory):
    """A run of the script with all weights tuned: its folder and results."""
    folder = tmp_path_factory.mktemp("finished") / "toy-impara"
    arguments = ["--m2", str(corpus), "--init-from", str(base), "--output", str(folder), "--epochs", "3", *QUICK]
    assert script.main(arguments) == 0
    return folder, json.loads((folder / "results.json").read_text())


def test_it_learns_and_keeps_the_best_epoch(finished):
    folder, results = finished
    (only,) = results["runs"]
    losses = [entry["dev_loss"] for entry in only["history"]]
    assert len(losses) == 3
    assert only["epoch"] == 1 + int(np.argmin(losses))
    assert only["selection"] == min(losses)
    assert min(losses) < 0.2  # 0.5 is chance
    assert results["test"]["accuracy"] > 0.8
    assert results["data"] == [{"corpus": "toy.m2", "corrections": 60, "edits": 120, "pairs": {
        "train": 96, "dev": 12, "test": 12}}]  # fmt: skip
    assert not list(folder.glob("run/**/checkpoint-*"))


def test_the_checkpoint_scores_in_geceval_and_in_plain_transformers(finished):
    folder, _ = finished
    texts = ["the cat sat on the mat", "the cat sit on the mat"]
    result = Impara(Settings(model=str(folder), threshold=-2)).score(texts, texts)
    assert result.scores[0] > result.scores[1]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        plain = torch.sigmoid(network(**tokenizer(texts, padding=True, return_tensors="pt")).logits[:, 0])
    assert result.scores == pytest.approx(plain.tolist(), abs=1e-5)


def test_card_and_results_say_what_was_measured(finished, base):
    folder, results = finished
    config = json.loads((folder / "config.json").read_text())
    assert (config["geceval_pooling"], config["geceval_max_length"]) == ("first", 32)
    assert (config["geceval_threshold"], config["geceval_se_model"]) == (0.9, str(base))
    card = (folder / "README.md").read_text()
    assert f"accuracy {results['test']['accuracy']:.3f}" in card
    assert f"| toy.m2 | {results['settings']['m2'][0]['sha256'][:12]} | 60 | 120 | 96 | 12 | 12 |" in card


def test_an_adapter_over_the_base_gives_what_was_trained(corpus, base, tmp_path):
    folder = tmp_path / "adapter"
    arguments = ["--m2", str(corpus), "--init-from", str(base), "--output", str(folder), "--epochs", "1", *QUICK]
    more = ["--lora-rank", "4", "--pooling", "mean", "--parallel-only", "--head-deviation", "0.2"]
    assert script.main([*arguments, *more]) == 0
    assert not (folder / "model.safetensors").exists()
    assert json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"] == str(base)
    assert all(tensor.dtype == torch.float16 for tensor in load_file(folder / "adapter_model.safetensors").values())
    assert json.loads((folder / "config.json").read_text())["geceval_pooling"] == "mean"
    results = json.loads((folder / "results.json").read_text())
    # The adapter in 16 bits, merged, against the network as it was when training ended, both on the dev pairs.
    dev = [RankedPair(*row) for row in json.loads((folder / "run/pairs.json").read_text())["dev"]]
    logits = Encoder.load(resolve(folder), head=True).logits([t for pair in dev for t in (pair.low, pair.high)])
    margins = logits.reshape(-1, 2) @ [-1, 1]
    assert (1 / (1 + np.exp(margins))).mean() == pytest.approx(results["runs"][0]["selection"], abs=2e-3)


def test_a_base_given_by_a_relative_path_is_named_from_the_checkpoint(corpus, base, tmp_path, monkeypatch):
    """How it is found from there, tests/learning/test_network.py proves."""
    shutil.copytree(base, tmp_path / "bases/toy")
    monkeypatch.chdir(tmp_path)
    recipe = Recipe(base="bases/toy", epochs=1, batch_size=16, max_length=32)
    train_impara(Job(m2=(corpus,), recipe=recipe, pairs=40, threshold=-0.5), "runs/mine")
    assert json.loads(Path("runs/mine/config.json").read_text())["geceval_se_model"] == "../../bases/toy"
