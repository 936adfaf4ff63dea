"""`geceval transport`: which edit answers which, in three formats."""

import pytest

from geceval.registry import make_scorer
from geceval.workflows.transport import transport_plans

SOURCE, OWN = "She have two dog .", "She has two dogs ."
FIRST, SECOND = "She had a dog .", "She has two dogs ."
EVIL = "<script>alert(1)</script>"
GOLD_M2 = f"""S {SOURCE}
A 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 3 4|||R:NOUN:NUM|||dogs|||REQUIRED|||-NONE-|||0

S It is fine .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""
OWN_M2 = f"S {SOURCE}\nA 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0\n\nS It is fine .\n\n"


@pytest.fixture
def m2(tmp_path):
    (tmp_path / "gold.m2").write_text(GOLD_M2, encoding="utf-8")
    (tmp_path / "own.m2").write_text(OWN_M2, encoding="utf-8")
    return ["--predictions-m2", tmp_path / "own.m2", "--gold-m2", tmp_path / "gold.m2"]


def words(line):
    return " ".join(line.split())


def test_an_edit_answers_its_like(ok):
    """The second reference is the correction itself, so all mass goes to the same edits."""
    lines = list(map(words, ok("transport", SOURCE, OWN, FIRST, SECOND).splitlines()))
    assert lines[0] == "line edit type mass transported reference's edit type mass reference"
    plan = make_scorer("uot_errant").plans([SOURCE], [OWN], [[FIRST, SECOND]])[0]
    assert plan.annotator == 1
    for row, (edit, kind) in enumerate((("1:2 have → has", "R:VERB:SVA"), ("3:4 dog → dogs", "R:NOUN:NUM"))):
        mass = f"{plan.masses[row]:.4f}"
        moved = f"{plan.plan[row, row]:.4f}"
        assert f"1 {edit} {kind} {mass} {moved} {edit} {kind} {mass} reference 2" in lines
    assert lines[-1] == "1 sentence"


def test_edits_of_files_as_json(answer, m2):
    first, second = answer("transport", *m2)["sentences"]
    assert (first["line"], first["prediction"], first["reference"]) == (1, "She has two dog .", "annotator 0")
    assert [edit["correction"] for edit in first["edits"]] == ["has"]
    assert [(e["start"], e["end"], e["source"]) for e in first["reference_edits"]] == [(1, 2, "have"), (3, 4, "dog")]
    scorer = make_scorer("uot_errant", {"gold_m2": m2[3], "predictions_m2": m2[1]})
    result = scorer.score([SOURCE, "It is fine ."], ["She has two dog .", "It is fine ."])
    assert sum(map(sum, first["transported"])) == pytest.approx(result.details["tp"])
    assert first["recall"] == pytest.approx(result.details["recall"])
    assert (second["edits"], second["transported"], second["precision"], second["recall"]) == ([], [], 1.0, 1.0)


def test_only_some_sentences(ok, answer, m2):
    lines = list(map(words, ok("transport", *m2, "--changed").splitlines()))
    assert lines[-1] == "1 of 2 sentences"
    assert [line.split()[0] for line in lines[2:-1]] == ["1", "1"]
    assert any("0.0000 3:4 dog → dogs" in line for line in lines)  # what nobody answers
    assert [sentence["line"] for sentence in answer("transport", *m2, "--line", "2")["sentences"]] == [2]


def test_the_page(ok, read_page):
    page = read_page(ok("transport", f"{EVIL} go .", *[f"{EVIL} goes ."] * 2, "--format", "html"))
    table = [[text for _, text in row] for row in page.tables[0]]
    assert len(page.tables) == 1 and EVIL in page.text
    assert table[0][1].startswith("1:2 go → goes") and table[0][-1] == "unanswered"
    assert table[1][0].startswith("1:2 go → goes") and table[-1][0] == "missed"
    mass = table[1][0].rpartition(" ")[2]
    assert table[1][1:] == [mass, "0.000"] and float(mass) > 0
    assert table[2][1:] == ["0.000", ""]


def test_options_of_the_metric(answer):
    options = [], ["-o", "behaviour=published"]
    plain, published = (answer("transport", SOURCE, OWN, SECOND, *each) for each in options)
    assert plain["sentences"][0]["precision"] == pytest.approx(1.0)
    assert published["sentences"][0]["precision"] != pytest.approx(1.0, abs=1e-3)


MISTAKES = [
    (["a", "b"], "transport needs references: as texts, as -r FILE..., or --gold-m2 FILE"),
    (["a", "b", "c", "--line", "0"], "transport: line must be one of the 1 sentences, counted from 1, got 0"),
    (["a", "b", "c", "-o", "behaviour=x"], "uot_errant: behaviour must be one of"),
    (["a", "b", "c", "-o", "weights=none"], "unknown option 'weights'"),
    (["a", "b", "c", "--model", "{gold}"], "uot_errant: "),
    (["--predictions-m2", "{gold}", "--gold-m2", "{own}", "-o", "predictions_m2={own}"], "predictions_m2 is no option"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[message[:30] for _, message in MISTAKES])
def test_mistakes_are_one_line(fails, m2, arguments, message):
    assert message in fails("transport", *(each.format(own=m2[1], gold=m2[3]) for each in arguments))


def test_names_of_references_in_python():
    (plan,) = transport_plans([SOURCE], [OWN], [[None, FIRST, SECOND]], options={"nlp": "bundled"})
    assert plan.reference == "reference 3"
    with pytest.raises(TypeError, match="uot_errant: unknown option 'x'"):
        transport_plans([SOURCE], [OWN], [[FIRST]], options={"x": 1})
    with pytest.raises(ValueError, match="transport needs the sources"):
        transport_plans()
