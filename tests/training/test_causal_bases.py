"""SOME and error detection over tiny causal models, whose tokens do not see what follows."""

import csv
import json
import random

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

import geceval
from geceval.core.options import RunTime
from geceval.learning.network import new_network
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.detector import Detector
from geceval.models.encoder import Encoder
from geceval.models.tokenizers import load_tokenizer

QUICK = ["--batch-size", "8", "--lr", "1e-2", "--max-length", "150", "--quiet"]
SENTENCES = ["the cat sit on mat dog run school", "a dog sat", "the mat likes", "", "a " * 200]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def causal(request, make_causal):
    return make_causal(5, request.param)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """90 outputs of 45 sources; the verb at the end of an output decides all three ratings."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("ratings") / "toy.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "output", "grammer", "fluency", "meaning", "system", "ave_g", "ave_f", "ave_m"])
        for number in range(45):
            for _ in range(2):
                verb = rng.choice(["sat", "sit"])
                output = f"{rng.choice(['the', 'a'])} {rng.choice(['cat', 'dog'])} {verb}"
                mean = 4.0 if verb == "sat" else 2.0
                table.writerow([f"a cat sit {number}", output, "", "", "", "x", mean, mean, mean])
    return path


@pytest.mark.parametrize(("pooling", "stated"), [("first", "last"), ("last", "last"), ("mean", "mean")])
def test_some_learns_and_what_is_loaded_is_what_was_trained(
    load_script, causal, ratings, tmp_path, pooling, stated
):
    folder = tmp_path / "some"
    arguments = ["--ratings", str(ratings), "--dev", "15", "--test", "15", "--init-from", str(causal), *QUICK]
    arguments += ["--output", str(folder), "--pooling", pooling, "--lora-rank", "8", "--epochs", "20"]
    assert load_script("train_some").main(arguments) == 0
    results = json.loads((folder / "results.json").read_text())
    assert results["parts"]["grammaticality"]["test"]["pearson"] > 0.7
    config = json.loads((folder / "grammer/config.json").read_text())
    assert (config["geceval_pooling"], config["geceval_border"]) == (stated, "<|endoftext|>" if "gpt2" in config["model_type"] else "<s>")
    good, bad = geceval.load("some", model=str(folder)).compute(
        sources=["a cat sit 1"] * 2, predictions=["the dog sat", "the dog sit"]
    )["grammaticality_scores"]
    assert good > bad + 0.2
    kept = load_file(folder / "run/grammaticality/seed-1/network.safetensors")
    saved = load_file(folder / "grammer/adapter_model.safetensors")
    head = next(name for name in saved if name.endswith("score.weight"))
    trained = next(value for name, value in kept.items() if name.endswith("score.modules_to_save.default.weight"))
    assert torch.equal(saved[head], trained.half())
