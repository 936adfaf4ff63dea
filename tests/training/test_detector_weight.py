"""Weights of the detector beside the quality estimator, on hand-made differences and through the command."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def script(load_script):
    return load_script("detector_weight")


def test_accuracy_of_the_weighted_sum(script):
    # Pairs 0 and 2 are the first half. The logit is right on 0 and 1, the detector's mean on 0, 2 and 3.
    found = {
        "logit": np.array([1.0, 0.3, -0.15, -4.0]),
        "mean": np.array([1.0, -1.0, 1.0, 1.0]),
        "sum": np.array([-1.0, -1.0, -1.0, -1.0]),
    }
    rows = {tuple(row[:2]): row[2:] for row in script.accuracies(found, np.array([0, 1, 0, 1]))}
    assert len(rows) == 2 * len(script.WEIGHTS)
    assert rows["mean", "0"] == rows["sum", "0"] == [0.5, 0.5]
    assert rows["mean", "0.2"] == [1.0, 0.5]  # pair 2 is won, pair 1 not yet lost
    assert rows["mean", "1"] == [1.0, 0.0]  # pair 1 is lost, pair 3 not yet won
    assert rows["mean", "5"] == [1.0, 0.5]
    assert rows["sum", "1"] == [0.0, 0.0]


def test_the_command_agrees_with_the_metric(script, tmp_path, capsys):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(
        "source,output,ave_g,ave_f,ave_m\n"
        "He go home .,He go home .,1,1,4\nHe go home .,He goes home .,4,4,4\n"
        "I has a apple .,I has a apple .,1,1,4\nI has a apple .,I have an apple .,4,4,4\n"
    )
    assert script.main(["bundled", "--ratings", str(ratings), "--output", str(tmp_path / "table.md")]) == 0
    text = (tmp_path / "table.md").read_text()
    assert capsys.readouterr().out == text
    assert "| mean | 0 | 1.000 | 1.000 |" in text
    # A positive weighted difference is a higher score of the metric itself.
    from geceval.scorers.impara_ged import ImparaGed, Settings

    pairs = [("He go home .", "He go home .", "He goes home .")]
    found = script.differences("bundled", "bundled", pairs)
    low, high = (
        ImparaGed(Settings(detector_weight=0.7, detector_reduction="sum")).score(*[list(pairs[0][1:])] * 2).scores
    )
    logit = np.log(high / (1 - high)) - np.log(low / (1 - low))
    assert found["logit"][0] + 0.7 * found["sum"][0] == pytest.approx(logit, rel=1e-3)


def test_mistakes_are_one_line(script, tmp_path, capsys):
    ratings = tmp_path / "ratings.csv"
    for text, what in ((None, "No such file"), ("source,output,ave_g,ave_f,ave_m\na b,a c,1,1,4\n", "rated apart")):
        if text is not None:
            ratings.write_text(text)
        assert script.main(["bundled", "--ratings", str(ratings)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("detector_weight: ") and what in line and str(ratings) in line
