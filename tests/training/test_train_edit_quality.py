"""The training of the judge of edits: its cases by hand, and a run on tiny data."""

import numpy as np
import pytest

from geceval.core.files import read_json
from geceval.edits.edit import Edit
from geceval.models.edit_judge import EditHead
from geceval.scorers.edit_quality import EditQuality, Settings
from recipes.edit_quality import UNSEEN, annotated_cases, shift_to_systems, system_cases
from train_edit_quality import main

M2 = """\
S He go to the school yesterday with my brother .
A 1 2|||R:VERB:TENSE|||went|||REQUIRED|||-NONE-|||0
A 3 4|||U:DET||||||REQUIRED|||-NONE-|||0

S She like cat very much .
A 1 2|||R:VERB:SVA|||likes|||REQUIRED|||-NONE-|||0
A 2 3|||R:NOUN:NUM|||cats|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def m2(tmp_path):
    path = tmp_path / "mine.m2"
    path.write_text(M2, encoding="utf-8")
    return path


def test_annotated_edits_are_right_and_their_reverse_is_wrong(m2):
    cases = annotated_cases([m2], 2)
    right = {(case.before, case.after) for case in cases if case.kind == "annotator"}
    undone = {(case.after, case.before) for case in cases if case.kind == "annotator, undone"}
    assert len(right) == 4
    assert undone and undone <= right
    assert {case.target for case in cases if case.kind == "annotator"} == {0.97}
    assert all(case.target == (0.97 if "mended" in case.kind else 0.03) for case in cases if case.kind != "annotator")


def test_edits_of_systems_by_the_references_that_have_them():
    source = "She like cats very much ."
    rows = [(source, ["She likes cats much ."], ["She likes cats very much .", source])]
    by_target = {case.target: case for case in system_cases(rows, "some", 9)}
    assert set(by_target) == {0.8, UNSEEN}  # `likes` is in one reference of two; that `very` is gone is in none
    assert by_target[0.8].kind == "some, in a reference"
    assert "very" not in by_target[UNSEEN].after and "very" in by_target[UNSEEN].before


def test_cases_weigh_what_they_stand_for_and_the_shift_meets_what_people_find_right():
    rows = [(f"She like cats {n} .", [f"She likes cats {n} !"], [f"She likes cats {n} ."]) for n in range(4)]
    cases = system_cases(rows + [(source, [source + " ?"], [source]) for source, *_ in rows], "some", 4)
    weights = {case.target: case.weight for case in cases}
    assert weights == {0.95: pytest.approx(2 / 3), UNSEEN: pytest.approx(4 / 3)}  # 4 of 4 and 4 of 8 edits
    tensors = {"mean": 0.0, "deviation": 1.0, "output.bias": 0.0}
    tensors |= {"hidden.weight": np.zeros((1, 1)), "hidden.bias": np.zeros(1), "output.weight": np.zeros(1)}
    shift = shift_to_systems(EditHead(tensors), np.zeros((len(cases), 1)), cases, ["some"])
    mean = (0.97 * 4 + 0.74 * 8) / 12
    assert shift == pytest.approx(np.log(mean / (1 - mean)))
    assert shift_to_systems(EditHead(tensors), np.zeros((len(cases), 1)), cases, ["another"]) == 0.0


def test_run_writes_a_judge_that_the_metric_loads(m2, tmp_path, capsys):
    folder = tmp_path / "judge"
    assert main(["--m2", str(m2), "--output", str(folder)]) == 0
    results = read_json(folder / "results.json")
    (row,) = results["folds"]["sets"]
    assert row["set"] == "annotators" and row["cases"] == sum(results["folds"]["cases"].values())
    assert '"set": "annotators"' in capsys.readouterr().out
    scorer = EditQuality(Settings(model=str(folder)))
    (chances,) = scorer.judge(["She like cat ."], [[Edit(1, 2, "likes")]])
    assert 0 < chances[0] < 1
    assert scorer._judge.name.startswith("judge@")
