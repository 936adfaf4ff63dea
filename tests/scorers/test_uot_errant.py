"""UOT-ERRANT: perfect and empty corrections, bounds, types, files, signature."""

import pytest

from geceval import registry

SOURCES = ["He go to school by the bus .", "I likes cat .", "It is fine .", "She have two dog .", "WE are happy ."]
PREDICTIONS = ["He goes to school by bus .", "I like cats .", "It is very fine .", "She have two dog ."]
PREDICTIONS.append("We are happy .")
REFERENCES = [["He goes to school by bus .", "He went to school on the bus ."], ["I like the cat .", "I like cats ."]]
REFERENCES += [["It is fine ."], ["She has two dogs ."], ["We are happy ."]]
FIRST = [row[0] for row in REFERENCES]


def scorer(**options):
    return registry.make_scorer("uot_errant", {"nlp": "bundled", **options})


def test_a_perfect_correction_scores_exactly_one():
    result = scorer().score(SOURCES, FIRST, REFERENCES)
    assert result.score == 1.0 and result.scores == [1.0] * len(SOURCES)
    assert (result.details["precision"], result.details["recall"]) == (1.0, 1.0)
    assert (result.details["fp"], result.details["fn"]) == (0.0, 0.0)


def test_the_published_defect():
    """A perfect correction can score more than 1."""
    above = scorer(behaviour="published").score(SOURCES[1:2], FIRST[1:2], FIRST[1:2])
    assert above.details["precision"] > 1 and above.details["fp"] < 0


def test_bounds_and_order():
    result = scorer().score(SOURCES, PREDICTIONS, REFERENCES)
    assert result.scores[0] == result.scores[1] == 1.0
    assert result.scores[2] == result.scores[3] == 0.0  # a false alarm; nothing done
    assert 0 < result.score < 1
    details = result.details
    assert details["precision"] == pytest.approx(details["tp"] / (details["tp"] + details["fp"]))
    assert details["annotators"][:2] == [0, 1]
    for grain in ("operation", "main", "full"):
        rows = details["by_type"][grain].values()
        for name in ("tp", "fp", "fn"):
            assert sum(row[name] for row in rows) == pytest.approx(details[name])
    assert details["by_type"]["full"]["M:ADV"]["fp"] > 0


def test_plans_are_those_of_the_score():
    metric = scorer()
    plans = metric.plans(SOURCES, PREDICTIONS, REFERENCES)
    result = metric.score(SOURCES, PREDICTIONS, REFERENCES)
    assert sum(float(plan.plan.sum()) for plan in plans) == pytest.approx(result.details["tp"])
    assert [(edit.start, edit.end, edit.correction) for edit in plans[1].gold] == [(1, 2, "like"), (2, 3, "cats")]
    assert plans[2].plan.shape == (1, 0) and plans[3].plan.shape == (0, 2)


def test_edits_from_files_on_both_sides(tmp_path):
    """With both files nothing is parsed, and the edits are those that ERRANT would find."""
    (tmp_path / "gold.m2").write_text(
        "S She have two dog .\nA 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0\n"
        "A 3 4|||R:NOUN:NUM|||dogs|||REQUIRED|||-NONE-|||0\n\n"
    )
    (tmp_path / "system.m2").write_text("S She have two dog .\nA 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0\n\n")
    files = {"gold_m2": str(tmp_path / "gold.m2"), "predictions_m2": str(tmp_path / "system.m2")}
    columns = [SOURCES[3]], ["She has two dog ."]
    found = scorer(**files).score(*columns)
    expected = scorer().score(*columns, ["She has two dogs ."])
    assert found.score == expected.score and found.details == expected.details
    assert "gold_m2:gold.m2@" in found.signature and "predictions_m2:system.m2@" in found.signature
    with pytest.raises(ValueError, match=r"do not make predictions\[0\]"):
        scorer(**files).score([SOURCES[3]], ["She had two dog ."])
