"""The two domains of GMEG in `geceval meta`."""

import json

import pytest


def test_systems_are_compared_within_each_domain(gmeg, answer, tmp_path):
    scores = {"source": [1.0, 1.0, 2.0], "nus": [3.0, 2.0, 1.0], "ref": [2.0, 2.0, 3.0]}
    (tmp_path / "mine.json").write_text(json.dumps(scores))
    arguments = ["meta", "--data", gmeg, "--scores", tmp_path / "mine.json"]
    rows = answer(*arguments)["rows"]
    # scipy.stats.pearsonr of 1, 2.5, 2 and 50, 64.5, 60; of 2, 1, 3 and 80, 20, 90
    assert [(row["human"], row["pearson"], row["spearman"]) for row in rows] == [
        ("fce", pytest.approx(0.999676, abs=1e-6), 1.0),
        ("wiki", pytest.approx(0.924473, abs=1e-6), 1.0),
    ]
    rows = answer(*arguments, "--level", "sentence")["rows"]
    assert [(row["judgments"], row["accuracy"], row["pairs"]) for row in rows] == [("fce", 1.0, 1), ("wiki", 1.0, 3)]
    rows = answer(*arguments, "--level", "sentence", "--gap", "9")["rows"]
    assert [row["pairs"] for row in rows] == [2, 3]


def test_references_are_its_own(gmeg, answer):
    for domain, nus in (("fce", "a 1\nb 1\nc 1\n"), ("wiki", "d 1\n")):
        (gmeg / domain / "nus").write_text(nus)
    rows = answer("meta", "-m", "gleu", "--data", gmeg)["rows"]
    assert [(row["metric"], row["human"]) for row in rows] == [("gleu", "fce"), ("gleu", "wiki")]
    assert rows[0]["pearson"] > 0 > rows[1]["pearson"]  # nus agrees with a reference; people of wiki like it least


def test_page(gmeg, ok, tmp_path):
    scores = {"source": [1.0, 1.0, 2.0], "nus": [3.0, 2.0, 1.0], "ref": [2.0, 2.0, 3.0]}
    (tmp_path / "mine.json").write_text(json.dumps(scores))
    ok("meta", "report", "--data", gmeg, "--scores", tmp_path / "mine.json", "-o", tmp_path / "report.json")
    (board,) = json.loads((tmp_path / "report.json").read_text())["boards"]
    assert (board["name"], board["ranked_by"], board["sentences"], board["judgments"]) == ("GMEG", "fce acc", 3, 4)
    assert board["rows"][0]["values"]["wiki r"] == pytest.approx(0.9245, abs=1e-4)


def test_what_the_data_does_not_have(gmeg, fails, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps({"source": [1.0] * 3, "nus": [2.0] * 3, "ref": [0.0] * 3}))
    arguments = ["meta", "--scores", tmp_path / "mine.json", "--data", gmeg, "--aggregation", "corpus"]
    assert "has human scores of each domain" in fails(*arguments)
