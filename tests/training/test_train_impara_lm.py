"""Training of IMPARA-LM on a tiny language model: it learns and writes what geceval loads."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import train_impara_lm as script
from geceval.learning.impara_lm import SCALE, LikelihoodRanking, fit
from geceval.learning.ranked_pairs import RankedPair
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.scorers.impara_lm import ImparaLm, Settings

QUICK = ["--pairs", "120", "--batch-size", "16", "--lr", "1e-2", "--lora-rank", "8", "--quiet"]


@pytest.fixture(scope="module")
def causal(make_causal):
    return make_causal(3, "llama")


@pytest.fixture(scope="module")
def ratings(make_ratings):
    return make_ratings(40)


@pytest.fixture(scope="module")
def finished(corpus, causal, ratings, tmp_path_factory):
    """A run of the script with ratings: its folder and results."""
    folder = tmp_path_factory.mktemp("finished") / "toy-lm"
    arguments = ["--m2", str(corpus), "--init-from", str(causal), "--output", str(folder), "--epochs", "2"]
    more = ["--ratings", str(ratings), "--evaluations", "2", "--keep-rank", "4"]
    assert script.main([*arguments, *more, *QUICK]) == 0
    return folder, json.loads((folder / "results.json").read_text())


def test_the_cost_is_that_of_single_texts(causal):
    # softplus(q(worse) - q(better)), q = t * LL / sqrt(n), by the model's own loss on one text at a time.
    base = resolve(causal)
    objective = LikelihoodRanking(None)
    network = objective.network(Recipe(base=str(causal), lora_rank=2), base)
    tokenizer = transformers.AutoTokenizer.from_pretrained(causal)
    pairs = [RankedPair("", "the cat sit .", "the cat sat on the mat ."), RankedPair("", "dogs runs to", "a dog")]
    rows = list(objective.encode(pairs, tokenizer, 128))
    batch = objective.collator(0)(rows)
    with torch.no_grad():
        cost, margins, _ = objective.cost(network, batch)
    model = transformers.AutoModelForCausalLM.from_pretrained(causal).eval()

    def quality(text, words):
        ids = torch.tensor([[0, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
        with torch.no_grad():
            return -SCALE * model(input_ids=ids, labels=ids).loss.item() * (ids.shape[1] - 1) / words**0.5

    expected = [
        quality("the cat sat on the mat.", 7) - quality("the cat sit.", 4),  # read as prose, words as given
        quality("a dog", 2) - quality("dogs runs to", 3),
    ]
    assert margins.tolist() == pytest.approx(expected, abs=1e-4)
    assert cost.item() == pytest.approx(np.logaddexp(0, -np.array(expected)).mean(), abs=1e-4)


def test_it_learns_and_keeps_the_best_evaluation(finished):
    _, results = finished
    (only,) = results["runs"]
    assert [entry["epoch"] for entry in only["history"]] == [0.5, 1, 1.5, 2]
    losses = [entry["rated_loss"] for entry in only["history"]]
    assert only["selection"] == min(losses)
    assert only["epoch"] == only["history"][int(np.argmin(losses))]["epoch"]
    assert results["test"]["accuracy"] > results["untrained"]["accuracy"]


def test_the_head_learns_what_people_want(finished):
    folder, results = finished
    assert results["head"]["pairs"] == 40
    assert results["head"]["accuracy_with_head"] >= results["head"]["accuracy"]
    assert results["head"]["accuracy_with_head"] > 0.9
    config = json.loads((folder / "config.json").read_text())
    assert config["geceval_head_layer"] == 1  # two thirds of two layers
    scorer = ImparaLm(Settings(model=str(folder)))
    good, bad = scorer.score(["the cat sit 9"] * 2, ["the cat sits 9 times", "the cat sitting 9 times"]).scores
    assert good > bad


def test_a_head_on_separable_pairs():
    # The likelihood says nothing, one dimension everything, and the penalty keeps the others small.
    rng = np.random.default_rng(1)
    differences = rng.normal(size=(400, 6))
    differences[:, 3] = np.abs(differences[:, 3])
    weights = fit(differences, 0.1)
    assert ((differences @ weights) > 0).mean() > 0.95
    assert np.abs(weights[3]) > 5 * np.abs(np.delete(weights, 3)).max()
    smaller = fit(differences, 10.0)
    assert np.abs(smaller[1:]).max() < 0.1 * np.abs(weights[1:]).max()


def test_a_lower_rank_keeps_the_largest_part_of_each_change(tmp_path):
    generator = torch.Generator().manual_seed(1)
    names = ("x.lora_A.default.weight", "x.lora_B.default.weight")
    first, second = torch.randn(6, 10, generator=generator), torch.randn(8, 6, generator=generator)
    save_file({names[0]: first, names[1]: second, "scale": torch.tensor(2.0)}, tmp_path / "whole")
    script.lower_rank(tmp_path / "whole", 2, tmp_path / "small")
    found = load_file(tmp_path / "small")
    assert (found[names[0]].shape, found["scale"].item()) == ((2, 10), 2.0)
    # Eckart and Young: the error of the best approximation is the rest of the singular values.
    error = (second @ first - found[names[1]] @ found[names[0]]).norm().item()
    assert error == pytest.approx(torch.linalg.svdvals(second @ first)[2:].norm().item(), rel=1e-5)
