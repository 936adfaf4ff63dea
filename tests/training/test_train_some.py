"""The training script of SOME on tiny checkpoints: it learns ratings and writes what loads."""

import json

import numpy as np
import pytest
import torch
import transformers

import train_some as script
from geceval.corpora.ratings import Rating, read_tmu_gfm
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.models.loading import load_classifier
from geceval.scorers.some import PARTS, Settings, Some
from recipes.some import RatedCollator, Regression, TextModel, correlations, rated_texts, split_ratings

FOLDS = ["--dev", "20", "--test", "20"]
QUICK = [*FOLDS, "--batch-size", "16", "--lr", "3e-3", "--max-length", "32", "--quiet"]


@pytest.fixture(scope="module")
def finished(some_ratings, base, tmp_path_factory):
    """A run of the script with all weights tuned: its folder and results."""
    folder = tmp_path_factory.mktemp("finished") / "toy-some"
    arguments = ["--ratings", str(some_ratings), "--init-from", str(base), "--output", str(folder)]
    arguments += ["--epochs", "6", *QUICK]
    assert script.main(arguments) == 0
    return folder, json.loads((folder / "results.json").read_text())


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_the_loss_is_the_squared_error_of_the_answers(make_checkpoint, pooling):
    # Batched and padded, with token types, against a plain loop over single pairs.
    folder = make_checkpoint(1)
    network = load_classifier(resolve(folder))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = [(("the cat sit", "the cat sat on the mat"), 3.5), (("dogs", ""), 1.0), (("a dog runs", "a dog run"), 2.0)]
    batch = RatedCollator(tokenizer.pad_token_id)(list(Regression().encode(rows, tokenizer, 128)))
    gold = batch.pop("labels")
    assert gold.tolist() == [3.5, 1.0, 2.0]
    assert batch["token_type_ids"].sum(dim=1).tolist() == [7, 1, 4]  # words and [SEP] of the second texts
    with torch.no_grad():
        answers = TextModel(network, pooling)(**batch)
        alone = []
        for (source, output), _ in rows:
            given = tokenizer([source], [output], return_tensors="pt")
            if pooling == "first":
                alone.append(network(**given).logits.item())
            else:
                alone.append(network.classifier(network.bert(**given).last_hidden_state[0].mean(0)).item())
    assert answers.tolist() == pytest.approx(alone, abs=1e-5)


def test_it_learns_and_keeps_the_best_epoch(finished):
    _, results = finished
    assert [entry["outputs"] for entry in results["data"]] == [120, 20, 20]
    for part in PARTS:
        (only,) = results["parts"][part]["runs"]
        assert only["selection"] == max(entry["pearson"] for entry in only["history"])
        losses = [entry["train_loss"] for entry in only["history"]]
        assert losses[-1] < losses[0] / (1 if part == "meaning" else 2)  # one word among two sentences is hard to find
        assert results["parts"][part]["test"]["pearson"] > (0.3 if part == "meaning" else 0.9)


@pytest.mark.slow
def test_adapters_over_two_bases_give_what_was_trained(some_ratings, base, make_checkpoint, tmp_path):
    folder, other = tmp_path / "adapters", make_checkpoint(8, hidden_size=24)
    arguments = ["--ratings", str(some_ratings), "--init-from", str(base), "--meaning-init-from", str(other)]
    more = ["--output", str(folder), "--epochs", "1", *QUICK, "--lora-rank", "4", "--pooling", "mean"]
    assert script.main([*arguments, *more, "--seeds", "1", "2"]) == 0
    results = json.loads((folder / "results.json").read_text())
    dev = split_ratings(read_tmu_gfm(some_ratings), 20, 20)["dev"]
    for part, name in PARTS.items():
        start = base if part != "meaning" else other
        adapter = json.loads((folder / name / "adapter_config.json").read_text())
        assert adapter["base_model_name_or_path"] == str(start) == results["parts"][part]["base"]
        assert json.loads((folder / name / "config.json").read_text())["geceval_pooling"] == "mean"
        runs = results["parts"][part]["runs"]
        assert [entry["seed"] for entry in runs] == [1, 2]
        best = max(runs, key=lambda entry: entry["selection"])
        assert results["parts"][part]["seed"] == best["seed"]
        texts, gold = zip(*rated_texts(dev, part), strict=True)
        answers = Encoder.load(resolve(folder, part=name), head=True).logits(texts)[:, 0]
        assert correlations(answers, gold)["pearson"] == pytest.approx(best["selection"], abs=5e-3)  # in 16 bits


def test_folds_have_the_sizes_of_the_paper_and_share_no_source(shared_data):
    ratings = read_tmu_gfm(shared_data / "tmu-gfm" / "tmu-gfm-dataset.csv")
    folds = split_ratings(ratings, dev=422, test=423, seed=1)
    # Yoshimura et al. (2020), section 5.1: 3,376/422/423.
    assert {fold: len(rows) for fold, rows in folds.items()} == {"train": 3376, "dev": 422, "test": 423}
    sources = [{rating.source for rating in rows} for rows in folds.values()]
    assert sum(map(len, sources)) == len(set().union(*sources)) == 1378
    assert folds == split_ratings(ratings, 422, 423, seed=1) != split_ratings(ratings, 422, 423, seed=2)
    assert sorted(map(hash, sum(folds.values(), []))) == sorted(map(hash, ratings))


def test_a_source_whose_outputs_do_not_fit_goes_elsewhere():
    ratings = [Rating(source, f"{source} {number}", 3, 3, 3) for source in "abcd" for number in range(3)]
    folds = split_ratings([*ratings, Rating("e", "e", 3, 3, 3)], dev=4, test=5)
    assert [len({rating.source for rating in rows}) for rows in folds.values()] == [2, 1, 2]
    assert [len(rows) for rows in folds.values()] == [6, 3, 4]
    with pytest.raises(ValueError, match="the dev fold is empty: 12 ratings are too few for dev=2, test=5"):
        split_ratings(ratings, dev=2, test=5)


def test_the_checkpoint_scores_in_geceval_as_in_training_and_in_plain_transformers(finished, some_ratings):
    folder, results = finished
    test = split_ratings(read_tmu_gfm(some_ratings), 20, 20)["test"]
    result = Some(Settings(model=str(folder))).score([r.source for r in test], [r.output for r in test])
    for part, name in PARTS.items():
        answers = 1 + 3 * np.array(result.details[f"{part}_scores"])
        found = correlations(answers, [getattr(rating, part) for rating in test])
        assert found == pytest.approx(results["parts"][part]["test"], abs=1e-5)
        assert found["mse"] < 0.95  # answers are ratings, 2 or 4 here; the variance of the data is 1
        network = transformers.AutoModelForSequenceClassification.from_pretrained(folder / name).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / name)
        texts = [[r.source for r in test], [r.output for r in test]][0 if part == "meaning" else 1 :]
        with torch.no_grad():
            plain = network(**tokenizer(*texts, padding=True, return_tensors="pt")).logits[:, 0]
        assert answers == pytest.approx(plain.numpy(), abs=1e-5)
