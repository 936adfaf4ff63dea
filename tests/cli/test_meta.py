"""`geceval meta` on invented judgments of invented outputs, in the form in which GJG15 was published."""

import functools
import json
from pathlib import Path

import pytest
from docs_corpora import write_gjg15

from geceval.corpora.judgments import GJG15_SYSTEMS

M2 = "S a x c\nA 1 2|||R:X|||b|||REQUIRED|||-NONE-|||0\n\nS d y\nA 1 2|||R:X|||e|||REQUIRED|||-NONE-|||0\n\nS f\n\n"


@pytest.fixture
def checkout(tmp_path) -> Path:
    """AMU corrects everything, RAC one sentence, all others nothing; one annotator says so."""
    source = ["a x c", "d y", "f"]
    texts = {name: source for name in GJG15_SYSTEMS} | {"AMU": ["a b c", "d e", "f"], "RAC": ["a b c", "d y", "f"]}
    rankings = [(0, ("AMU RAC", 1), ("CAMB INPUT", 3)), (1, ("AMU", 2), ("RAC UFC", 4)), (2, ("IPN AMU", 1))]
    items = "".join(
        f'<ranking-item src-id="{sentence}" user="u">'
        + "".join(f'<translation system="{systems}" rank="{rank}"/>' for systems, rank in groups)
        + "</ranking-item>"
        for sentence, *groups in rankings
    )
    (tmp_path / "gold.m2").write_text(M2, encoding="utf-8")
    return write_gjg15(tmp_path / "gjg15", texts, items)


@pytest.fixture
def answer(answer, checkout):
    """Run `geceval meta` on these judgments; its JSON."""
    return functools.partial(answer, "meta", "--data", checkout)


@pytest.fixture
def gold(checkout) -> list:
    return ["--gold-m2", checkout.parent / "gold.m2"]


def test_sentence_level(answer, gold):
    found = answer("-m", "m2", *gold, "--level", "sentence")
    # Ordered pairs: on sentence 0 AMU and RAC each beat CAMB and INPUT, on sentence 1 AMU beats RAC and UFC.
    assert found["rows"] == [
        {"metric": "m2", "judgments": "all", "accuracy": 1.0, "kendall": 1.0, "pairs": 6, "ties": 0.0}
    ]
    assert found["notes"][0].startswith("m2|text:auto|beta:0.5|") and "gold_m2:gold.m2@" in found["notes"][0]


def test_both_levels_in_one_table_with_the_best_first(answer, gold, checkout):
    # The source is always preferred, so that AMU, and RAC where it corrects, lose to all others.
    (checkout.parent / "none.json").write_text(
        json.dumps({name: [0.0, 0.0, 0.0] if name in ("AMU", "RAC") else [1.0, 1.0, 0.0] for name in GJG15_SYSTEMS})
    )
    both = answer("-m", "m2", "--scores", checkout.parent / "none.json", *gold, "--level", "both")
    assert [row["metric"] for row in both["rows"]] == ["m2", "none"]
    assert list(both["rows"][0]) == ["metric", "accuracy all", "pearson ts"]
    skills = answer("-m", "m2", *gold, "--aggregation", "trueskill")["rows"]
    assert both["rows"][0]["accuracy all"] == 1.0  # as in test_sentence_level
    assert both["rows"][0]["pearson ts"] == [row["pearson"] for row in skills if row["human"] == "ts"][0]
    # AMU and RAC lose to CAMB and INPUT, AMU to UFC; AMU and RAC tie on sentence 1, where the later one, RAC, wins.
    assert both["rows"][1]["accuracy all"] == 0.0


def test_system_level_of_two_metrics(answer, gold):
    rows = answer("-m", "m2", "gleu", *gold)["rows"]
    assert [f"{row['metric']} {row['human']}" for row in rows] == ["m2 ew", "m2 ts", "gleu ew", "gleu ts"]
    # F0.5 of M2: AMU 1, RAC P=1 R=1/2 -> 1.25 * .5 / (.25 + .5) = .8333, the others 0; scipy.stats.pearsonr of these
    # and Table 3b of GJG15.
    assert rows[0]["pearson"] == pytest.approx(0.55362, abs=1e-5)


def test_windows_and_best_systems(answer, gold):
    rows = answer("-m", "m2", *gold, "--window", "12")["rows"]
    assert [(row["human"], row["first rank"]) for row in rows] == [("ew", 1), ("ew", 2), ("ts", 1), ("ts", 2)]
    rows = answer("-m", "m2", *gold, "--top-k", "--systems", "AMU", "RAC", "CAMB", "IPN", "POST")["rows"]
    assert [(row["human"], row["k"]) for row in rows] == [("ew", 5), ("ew", 4), ("ts", 5), ("ts", 4)]


@pytest.fixture
def scores(checkout) -> Path:
    """A metric of another program: AMU is best on every sentence, the rest are equal."""
    path = checkout.parent / "mine.json"
    path.write_text(json.dumps({name: [float(name == "AMU")] * 3 for name in GJG15_SYSTEMS}), encoding="utf-8")
    return path


def test_scores_of_another_program(answer, scores):
    found = answer("--scores", scores, "--level", "sentence")
    # Six ordered pairs: RAC against CAMB and INPUT are tied, and the later-listed wins there, which people deny.
    assert found["rows"] == [
        {"metric": "mine", "judgments": "all", "accuracy": 4 / 6, "kendall": 2 / 6, "pairs": 6, "ties": 2 / 6}
    ]
    assert found["notes"] == ["mine: from a file, without a signature"]
    (row,) = answer("--scores", scores, "--level", "sentence", "--unexpanded")["rows"]
    assert (row["pairs"], row["accuracy"]) == (2, 1.0)  # AMU over CAMB, AMU over RAC
    # All ten pairs: people tie AMU with RAC and CAMB with INPUT on sentence 0, RAC with UFC on sentence 1 and AMU
    # with IPN on sentence 2; the metric ties the middle two of these.
    (row,) = answer("--scores", scores, "--level", "sentence", "--ties", "hties")["rows"]
    assert (row["accuracy"], row["kendall"], row["pairs"]) == (None, pytest.approx((4 + 2) / 10), 10)
    assert row["ties"] == pytest.approx(2 / 6)


def test_heat_map_rows(answer, scores):
    rows = answer("--scores", scores, "--pairwise", "human")["rows"]
    found = {(row["better"], row["worse"]): (row["accuracy"], row["pairs"]) for row in rows if row["pairs"]}
    assert found == {(1, 3): (0.5, 4), (2, 4): (1.0, 2)}
    # The metric ranks AMU first and the others in the order of the list: RAC, CAMB ... INPUT 11th, UFC 6th.
    rows = answer("--scores", scores, "--pairwise", "metric")["rows"]
    found = [(row["better"], row["worse"]) for row in rows if row["pairs"]]
    assert found == [(1, 2), (1, 3), (1, 6), (1, 11), (2, 3), (2, 11)]


def test_saved_scores_and_those_of_geceval_score_give_the_same_report(answer, ok, gold, checkout):
    saved = checkout.parent / "saved.tsv"
    first = answer("-m", "m2", "gleu", *gold, "--save", saved)
    again = answer("--scores", saved)
    assert again["rows"] == first["rows"]
    assert again["notes"] == first["notes"][:2] and first["notes"][2] == "references: gold.m2"
    outputs, scored = checkout / "data/original/official_submissions", checkout.parent / "sentences.json"
    systems = ["-s", outputs / "INPUT", "-p", *(outputs / name for name in GJG15_SYSTEMS)]
    ok("score", "-m", "m2", *systems, *gold, "--sentence", "--output", scored)
    assert answer("--scores", scored)["rows"] == first["rows"][:2]


def test_who_takes_what_from_an_m2_file(answer, checkout):
    """Annotator 1 speaks of the first sentence only: the others are not theirs."""
    gold = checkout.parent / "two.m2"
    gold.write_text(M2.replace("-NONE-|||0\n\nS d", "-NONE-|||0\nA 1 2|||R:X|||q|||REQUIRED|||-NONE-|||1\n\nS d"))
    found = answer("-m", "errant", "m2", "gleu", "--gold-m2", gold, "--level", "sentence")
    errant, m2, gleu, references = found["notes"]
    assert "|gold_m2:none|" in errant and "|refs:1-2" in errant  # its own edits of the annotators' texts
    assert "|gold_m2:two.m2@" in m2 and "|refs:1-2" in m2  # the annotators' edits
    assert "|gold_m2:none|" in gleu and "|refs:1-2" in gleu
    assert references == "references: two.m2"


def test_constant_scores_and_two_systems_are_said(call, checkout):
    path = checkout.parent / "same.json"
    path.write_text(json.dumps({name: [0.5] * 3 for name in GJG15_SYSTEMS}), encoding="utf-8")
    arguments = ["--data", checkout, "--scores", path, "--systems", "AMU", "IPN", "--format", "json"]
    code, out, err = call("meta", *arguments)
    assert code == 0
    assert [(row["pearson"], row["spearman"]) for row in json.loads(out)["rows"]] == [(None, None)] * 2
    assert "same: all systems have the same score" in err
    assert "with two systems every correlation is 1 or -1" in err


def test_nothing_is_half_written(fails, checkout, scores):
    folder = checkout.parent
    names = {"output": "table.txt", "plot": "figure.bmp", "save": "scores.parquet"}
    options = [part for name, file in names.items() for part in (f"--{name}", folder / file)]
    assert "figures are written to .png, .svg, .pdf" in fails("meta", "--data", checkout, "--scores", scores, *options)
    assert not any((folder / file).exists() for file in names.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "m2"], "m2 needs references: pass --gold-m2"),
        (["-m", "m2", "--gold-m2", "{short}"], "1 sentences, but the data has line 3"),
        (["-m", "m2", "--systems", "base"], "gjg15 has no system set 'base'"),
        (["-m", "m2", "--data", "{nowhere}"], "nowhere.m2: there is no such folder"),
        ([], "meta takes metrics (-m NAME...), files of scores"),
        (["--scores", "{gold}"], "scores are read from .tsv, .json, .parquet"),
        (["--scores", "{few}"], "few: no scores of RAC"),
        (["--scores", "{few}", "--systems", "AMU"], "name at least two"),
        (["--scores", "{few}", "--systems", "AMU", "T5"], "unknown system 'T5'"),
        (["--scores", "{few}", "{few}", "--systems", "AMU", "IPN"], "another metric 'few'"),
        (["--scores", "{few}", "--window", "2", "--top-k"], "window and top_k are different"),
        (["--scores", "{few}", "--level", "sentence", "--top-k"], "top_k is an analysis of"),
        (["--scores", "{few}", "--ties", "zero"], "'system' reads no ties"),
        (["--scores", "{few}", "--unexpanded"], "'system' reads no unexpanded"),
        (["--scores", "{few}", "--pairwise", "metric", "--ties", "zero"], "'pairwise metric' reads no ties"),
        (["--scores", "{few}", "--level", "both", "--aggregation", "average"], "'both' reads no aggregation"),
        (["--scores", "{few}", "--level", "both", "--window", "4"], "window is an analysis of one level"),
        (["--scores", "{few}", "--level", "sentence", "--aggregation", "average"], "'sentence' reads no aggregation"),
        (["--scores", "{few}", "--gold-m2", "{gold}"], "--gold-m2 is for metrics: add -m NAME..."),
        (["--scores", "{few}", "--save", "a.txt"], "scores are written to .tsv"),
    ],
)
def test_mistakes_are_one_line(fails, checkout, arguments, message):
    names = {name: checkout.parent / f"{name}.m2" for name in ("short", "gold", "nowhere")}
    names["short"].write_text("S a x c\n\n", encoding="utf-8")
    names["few"] = checkout.parent / "few.json"
    names["few"].write_text(json.dumps({"AMU": [1, 2, 3], "IPN": [3, 2, 1]}), encoding="utf-8")
    assert message in fails("meta", "--data", checkout, *(argument.format(**names) for argument in arguments))
