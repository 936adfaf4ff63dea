"""What is done with a finished checkpoint: its threshold, and its agreement with people, in results and card."""

import json

import pytest

import calibrate_threshold
import evaluate_checkpoint
from geceval.learning.impara import Job, train_impara
from geceval.learning.recipe import Recipe
from geceval.meta.judgments import HumanData, Item

SYSTEMS = {"INPUT": ["the cat sit on mat", "dog run"], "BART": ["the cat sat on the mat", "dogs run"]}
SYSTEMS["T5"] = ["the cat sit on the mat", "dog runs"]


@pytest.fixture(scope="module")
def checkpoint(corpus, base, tmp_path_factory):
    """A finished IMPARA."""
    folder = tmp_path_factory.mktemp("trained") / "toy"
    recipe = Recipe(base=str(base), epochs=1, batch_size=16, max_length=32)
    train_impara(Job(m2=(corpus,), recipe=recipe, pairs=40), folder)
    return folder


@pytest.fixture
def human():
    """Two sentences of three systems that people ranked, as SEEDA is read."""
    orders = ("BART", "T5", "INPUT"), ("T5", "BART", "INPUT")
    ranked = [
        Item(n, "one", tuple(((name,), rank) for rank, name in enumerate(row, 1))) for n, row in enumerate(orders)
    ]
    scores = dict.fromkeys(("ts_sent", "ts_edit"), {"BART": 1.0, "T5": 0.5, "INPUT": -1.0})
    return HumanData("seeda", SYSTEMS["INPUT"], [0, 1], SYSTEMS, dict.fromkeys(("sent", "edit"), ranked), scores)


def test_agreement_with_people_goes_into_results_and_card(checkpoint, human):
    before = json.loads((checkpoint / "results.json").read_text())
    agreement, ranking = evaluate_checkpoint.evaluate("impara", checkpoint, [(human, list(SYSTEMS))])
    results = json.loads((checkpoint / "results.json").read_text())
    assert results == {**before, "evaluations": [agreement, ranking]}
    assert agreement["title"] == "Agreement with people on seeda, 3 systems"
    row = dict(zip(agreement["columns"], agreement["rows"][0], strict=True))
    assert row["pairs"] == 6  # three of each sentence
    scores = evaluate_checkpoint.score_systems(human, "impara", checkpoint)
    won = [  # pairs that people ordered, better first
        ("BART", "T5", 0), ("BART", "INPUT", 0), ("T5", "INPUT", 0),
        ("T5", "BART", 1), ("BART", "INPUT", 1), ("T5", "INPUT", 1),
    ]  # fmt: skip
    right = sum(scores[better][place] > scores[worse][place] for better, worse, place in won)
    assert row["sentence accuracy"] == pytest.approx(right / 6)
    means = {system: sum(values) / 2 for system, values in scores.items()}
    assert [line[1] for line in ranking["rows"]] == sorted(means, key=means.get, reverse=True)
    assert "Agreement with people on seeda" in (checkpoint / "README.md").read_text()


def test_the_threshold_goes_into_the_configuration(checkpoint, corpus, capsys):
    assert calibrate_threshold.main([str(checkpoint), "--different", str(corpus), "--corrections", str(corpus)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert json.loads((checkpoint / "config.json").read_text())["geceval_threshold"] == found["threshold"]
    assert json.loads((checkpoint / "results.json").read_text())["calibration"] == found
