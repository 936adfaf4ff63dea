"""The ablation of error detection: one row and seed trained for real on a small corpus, the table, mistakes."""

import argparse
import json

import pytest

import ged_ablation as script
from geceval.meta.judgments import HumanData, Item

SYSTEMS = {"INPUT": "the cat sit on mat dog run", "BART": "the cat sat on mat dog runs"}
SYSTEMS["T5"] = "the cat sit on mat dog runs"


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(
        "source,output,ave_g,ave_f,ave_m\nthe dog run,the dog run,1,1,4\nthe dog run,the dog runs,4,4,4\n"
        "a cat sit,a cat sit,1,1,4\na cat sit,a cat sat,4,4,4\n"
    )
    return path


@pytest.mark.slow
def test_one_detector_and_the_estimator_over_it(corpus, ratings, tmp_path):
    outputs = {system: [text] for system, text in SYSTEMS.items()}
    ranked = [Item(0, "one", ((("BART",), 1), (("T5",), 2)))]
    human = HumanData("seeda", outputs["INPUT"], [0], outputs, {"sent": ranked, "edit": ranked}, {})
    options = argparse.Namespace(
        output=tmp_path / "out", train_m2=corpus, dev_m2=corpus, m2=corpus, ratings=ratings, limit=32, pairs=20
    )
    found = script.train_one(options, human, 4, 1)
    assert list(found) == list(script.COLUMNS)
    detector = json.loads((tmp_path / "out/4-1/ged/results.json").read_text())
    assert found["GED dev F0.5"] == detector["runs"][0]["history"][-1]["f"]
    estimator = json.loads((tmp_path / "out/4-1/impara_ged/results.json").read_text())
    assert estimator["settings"]["base"] == str(tmp_path / "out/4-1/ged")
    assert found["pairs, test fold"] == estimator["test"]["accuracy"]
    assert found["SEEDA sentence (S)"] == found["SEEDA sentence (E)"] in (0.0, 1.0)  # the one pair that people ordered
