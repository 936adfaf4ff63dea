"""`geceval meta` on invented judgments of invented outputs, in the form in which GJG15 was published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geceval.cli.app import run
from geceval.corpora.judgments import GJG15_SYSTEMS

GOLD = ["a b c", "d e", "f"]
M2 = "S a x c\nA 1 2|||R:X|||b|||REQUIRED|||-NONE-|||0\n\nS d y\nA 1 2|||R:X|||e|||REQUIRED|||-NONE-|||0\n\nS f\n\n"


@pytest.fixture
def checkout(tmp_path) -> Path:
    """AMU corrects everything, RAC one sentence, all others nothing; one annotator says so."""
    folder = tmp_path / "gjg15"
    outputs = folder / "data/original/official_submissions"
    outputs.mkdir(parents=True)
    source = ["a x c", "d y", "f"]
    texts = {name: source for name in GJG15_SYSTEMS} | {"AMU": GOLD, "RAC": ["a b c", "d y", "f"]}
    for name, lines in texts.items():
        (outputs / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    rankings = [(0, ("AMU RAC", 1), ("CAMB INPUT", 3)), (1, ("AMU", 2), ("RAC UFC", 4)), (2, ("IPN AMU", 1))]
    items = "".join(
        f'<ranking-item src-id="{sentence}" user="u">'
        + "".join(f'<translation system="{systems}" rank="{rank}"/>' for systems, rank in groups)
        + "</ranking-item>"
        for sentence, *groups in rankings
    )
    (folder / "data/judgments.xml").write_text(f"<r>{items}</r>", encoding="utf-8")
    (tmp_path / "gold.m2").write_text(M2, encoding="utf-8")
    return folder


def answer(capsys, *arguments: str) -> dict:
    assert run(["meta", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_sentence_level(checkout, capsys):
    data = ["--data", str(checkout), "--gold-m2", str(checkout.parent / "gold.m2")]
    found = answer(capsys, "-m", "m2", *data, "--level", "sentence")
    # Ordered pairs: on sentence 0 AMU and RAC each beat CAMB and INPUT, on sentence 1 AMU beats RAC and UFC.
    assert found["rows"] == [
        {"metric": "m2", "judgments": "all", "accuracy": 1.0, "kendall": 1.0, "pairs": 6, "ties": 0.0}
    ]
    assert found["notes"][0].startswith("m2|beta:0.5|") and "gold_m2:gold.m2@" in found["notes"][0]


def test_both_levels_in_one_table_with_the_best_first(checkout, capsys):
    data = ["--data", str(checkout), "--gold-m2", str(checkout.parent / "gold.m2")]
    # The source is always preferred, so that AMU, and RAC where it corrects, lose to all others.
    (checkout.parent / "none.json").write_text(
        json.dumps({name: [0.0, 0.0, 0.0] if name in ("AMU", "RAC") else [1.0, 1.0, 0.0] for name in GJG15_SYSTEMS})
    )
    both = answer(capsys, "-m", "m2", "--scores", str(checkout.parent / "none.json"), *data, "--level", "both")
    assert [row["metric"] for row in both["rows"]] == ["m2", "none"]
    assert list(both["rows"][0]) == ["metric", "accuracy all", "pearson ts"]
    skills = answer(capsys, "-m", "m2", *data, "--aggregation", "trueskill")["rows"]
    assert both["rows"][0]["accuracy all"] == 1.0  # as in test_sentence_level
    assert both["rows"][0]["pearson ts"] == [row["pearson"] for row in skills if row["human"] == "ts"][0]
    # AMU and RAC lose to CAMB and INPUT, AMU to UFC; AMU and RAC tie on sentence 1, where the later one, RAC, wins.
    assert both["rows"][1]["accuracy all"] == 0.0


def test_system_level_of_two_metrics(checkout, capsys):
    data = ["--data", str(checkout), "--gold-m2", str(checkout.parent / "gold.m2")]
    rows = answer(capsys, "-m", "m2", "gleu", *data)["rows"]
    assert [(row["metric"], row["human"]) for row in rows] == [
        ("m2", "ew"),
        ("m2", "ts"),
        ("gleu", "ew"),
        ("gleu", "ts"),
    ]
    # F0.5 of M2: AMU 1, RAC P=1 R=1/2 -> 1.25 * .5 / (.25 + .5) = .8333, the others 0; scipy.stats.pearsonr of these
    # and Table 3b of GJG15.
    assert rows[0]["pearson"] == pytest.approx(0.55362, abs=1e-5)


def test_windows(checkout, capsys):
    data = ["--data", str(checkout), "--gold-m2", str(checkout.parent / "gold.m2")]
    rows = answer(capsys, "-m", "m2", *data, "--window", "12")["rows"]
    assert [(row["human"], row["first rank"]) for row in rows] == [("ew", 1), ("ew", 2), ("ts", 1), ("ts", 2)]


def test_best_systems(checkout, capsys):
    data = ["--data", str(checkout), "--gold-m2", str(checkout.parent / "gold.m2")]
    rows = answer(capsys, "-m", "m2", *data, "--top-k", "--systems", "AMU", "RAC", "CAMB", "IPN", "POST")["rows"]
    assert [(row["human"], row["k"]) for row in rows] == [("ew", 5), ("ew", 4), ("ts", 5), ("ts", 4)]


@pytest.fixture
def scores(checkout) -> str:
    """A metric of another program: AMU is best on every sentence, the rest are equal."""
    path = checkout.parent / "mine.json"
    path.write_text(json.dumps({name: [float(name == "AMU")] * 3 for name in GJG15_SYSTEMS}), encoding="utf-8")
    return str(path)


def test_scores_of_another_program(checkout, scores, capsys):
    found = answer(capsys, "--scores", scores, "--data", str(checkout), "--level", "sentence")
    # Six ordered pairs: RAC against CAMB and INPUT are tied, and the later-listed wins there, which people deny.
    assert found["rows"] == [
        {"metric": "mine", "judgments": "all", "accuracy": 4 / 6, "kendall": 2 / 6, "pairs": 6, "ties": 2 / 6}
    ]
    assert found["notes"] == ["mine: from a file, without a signature"]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("zero", (4 / 6, 4 / 6, 6)),
        ("drop", (1.0, 1.0, 4)),
        # All ten pairs: people tie AMU with RAC and CAMB with INPUT on sentence 0, RAC with UFC on sentence 1 and AMU
        # with IPN on sentence 2; the metric ties the middle two of these.
        ("hties", (None, (4 + 2) / 10, 10)),
        ("calibrated", (6 / 10, 2 / 10, 10)),
    ],
)
def test_tie_rules(checkout, scores, capsys, ties, expected):
    data = ["--data", str(checkout), "--level", "sentence"]
    (row,) = answer(capsys, "--scores", scores, *data, "--ties", ties)["rows"]
    assert (row["accuracy"], row["kendall"], row["pairs"]) == pytest.approx(expected)
    assert row["ties"] == pytest.approx(2 / 6)


def test_unexpanded_pairs(checkout, scores, capsys):
    (row,) = answer(capsys, "--scores", scores, "--data", str(checkout), "--level", "sentence", "--unexpanded")["rows"]
    assert (row["pairs"], row["accuracy"]) == (2, 1.0)  # AMU over CAMB, AMU over RAC


def test_heat_map_rows(checkout, scores, capsys):
    data = ["--scores", scores, "--data", str(checkout), "--pairwise"]
    rows = {(row["better"], row["worse"]): row for row in answer(capsys, *data, "human")["rows"]}
    assert {cell: (row["accuracy"], row["pairs"]) for cell, row in rows.items() if row["pairs"]} == {
        (1, 3): (0.5, 4),
        (2, 4): (1.0, 2),
    }
    rows = answer(capsys, *data, "metric")["rows"]
    # The metric ranks AMU first and the others in the order of the list: RAC, CAMB ... INPUT 11th, UFC 6th.
    assert {(row["better"], row["worse"]): row["kendall"] for row in rows if row["pairs"]} == {
        cell: 1.0 for cell in [(1, 2), (1, 3), (1, 6), (1, 11), (2, 3), (2, 11)]
    }


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_saved_scores_give_the_same_report(checkout, capsys, suffix):
    data = ["--data", str(checkout)]
    gold = ["--gold-m2", str(checkout.parent / "gold.m2")]
    saved = str(checkout.parent / f"saved.{suffix}")
    first = answer(capsys, "-m", "m2", "gleu", *data, *gold, "--save", saved)
    again = answer(capsys, "--scores", saved, *data)
    assert again["rows"] == first["rows"]
    assert again["notes"] == first["notes"][:2] and first["notes"][2] == "references: gold.m2"


def test_sentences_of_geceval_score_are_read(checkout, capsys):
    systems = [str(checkout / "data/original/official_submissions" / name) for name in GJG15_SYSTEMS]
    saved, gold = str(checkout.parent / "sentences.json"), str(checkout.parent / "gold.m2")
    source = str(checkout / "data/original/official_submissions/INPUT")
    scored = ["score", "-m", "m2", "-s", source, "-p", *systems, "--gold-m2", gold, "--sentence", "--format", "json"]
    assert run([*scored, "--output", saved]) == 0
    first = answer(capsys, "-m", "m2", "--data", str(checkout), "--gold-m2", gold)
    assert answer(capsys, "--scores", saved, "--data", str(checkout))["rows"] == first["rows"]


def test_who_takes_what_from_an_m2_file(checkout, capsys):
    """Annotator 1 speaks of the first sentence only: the others are not theirs."""
    gold = checkout.parent / "two.m2"
    gold.write_text(M2.replace("-NONE-|||0\n\nS d", "-NONE-|||0\nA 1 2|||R:X|||q|||REQUIRED|||-NONE-|||1\n\nS d"))
    data = ["--data", str(checkout), "--gold-m2", str(gold), "--level", "sentence"]
    notes = answer(capsys, "-m", "errant", "m2", "gleu", *data)["notes"]
    errant, m2, gleu, references = notes
    assert "|gold_m2:none|" in errant and "|refs:1-2" in errant  # its own edits of the annotators' texts
    assert "|gold_m2:two.m2@" in m2 and "|refs:1-2" in m2  # the annotators' edits
    assert "|gold_m2:none|" in gleu and "|refs:1-2" in gleu
    assert references == "references: two.m2"


def test_constant_scores_and_two_systems_are_said(checkout, capsys):
    path = checkout.parent / "same.json"
    path.write_text(json.dumps({name: [0.5] * 3 for name in GJG15_SYSTEMS}), encoding="utf-8")
    arguments = ["--scores", str(path), "--data", str(checkout), "--systems", "AMU", "IPN", "--format", "json"]
    assert run(["meta", *arguments]) == 0
    captured = capsys.readouterr()
    assert [(row["pearson"], row["spearman"]) for row in json.loads(captured.out)["rows"]] == [(None, None)] * 2
    assert "same: all systems have the same score" in captured.err
    assert "with two systems every correlation is 1 or -1" in captured.err


def test_two_systems_in_the_order_of_people(checkout, scores, capsys):
    rows = answer(capsys, "--scores", scores, "--data", str(checkout), "--systems", "IPN", "AMU")["rows"]
    assert [(row["pearson"], row["spearman"]) for row in rows] == [pytest.approx((1.0, 1.0))] * 2


def test_nothing_is_half_written(checkout, scores):
    folder = checkout.parent
    names = {"output": "table.txt", "plot": "figure.bmp", "save": "scores.parquet"}
    options = [part for name, file in names.items() for part in (f"--{name}", str(folder / file))]
    assert run(["meta", "--scores", scores, "--data", str(checkout), *options]) == 2
    assert not any((folder / file).exists() for file in names.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "m2", "--data", "{data}"], "m2 needs references: pass --gold-m2"),
        (["-m", "m2", "--data", "{data}", "--gold-m2", "{short}"], "1 sentences, but the data has line 3"),
        (["-m", "m2", "--data", "{data}", "--systems", "base"], "gjg15 has no system set 'base'"),
        (["-m", "m2", "--data", "{nowhere}"], "neither a checkout of SEEDA"),
        (["--data", "{data}"], "meta takes metrics (-m NAME...), files of scores"),
        (["--scores", "{gold}", "--data", "{data}"], "scores are read from .tsv, .json, .parquet"),
        (["--scores", "{other}", "--data", "{data}"], "other: unknown system 'GPT-9'; the systems are AMU"),
        (["--scores", "{few}", "--data", "{data}"], "few: no scores of RAC"),
        (["--scores", "{few}", "--data", "{data}", "--systems", "AMU"], "name at least two"),
        (["--scores", "{few}", "--data", "{data}", "--systems", "AMU", "T5"], "unknown system 'T5'"),
        (["--scores", "{cut}", "--data", "{data}"], "cut, AMU: scores of 2 lines, but the data has 3 sentences"),
        (["--scores", "{nan}", "--data", "{data}"], "nan, AMU, line 2: the score is nan"),
        (["--scores", "{few}", "{few}", "--data", "{data}", "--systems", "AMU", "IPN"], "another metric 'few'"),
        (["--scores", "{few}", "--data", "{data}", "--window", "2", "--top-k"], "window and top_k are different"),
        (["--scores", "{few}", "--data", "{data}", "--level", "sentence", "--top-k"], "top_k is an analysis of"),
        (["--scores", "{few}", "--data", "{data}", "--ties", "zero"], "'system' reads no ties"),
        (["--scores", "{few}", "--data", "{data}", "--unexpanded"], "'system' reads no unexpanded"),
        (
            ["--scores", "{few}", "--data", "{data}", "--level", "sentence", "--aggregation", "average"],
            "'sentence' reads no aggregation",
        ),
        (
            ["--scores", "{few}", "--data", "{data}", "--pairwise", "metric", "--ties", "zero"],
            "'pairwise metric' reads no ties",
        ),
        (["--scores", "{few}", "--data", "{data}", "--gold-m2", "{gold}"], "--gold-m2 is for metrics: add -m NAME..."),
        (["--scores", "{few}", "--data", "{data}", "--plot", "a.txt"], "figures are written to .png, .svg, .pdf"),
        (["--scores", "{few}", "--data", "{data}", "--save", "a.txt"], "scores are written to .tsv"),
        (["-m", "m3", "--data", "{data}", "--gold-m2", "{gold}"], "unknown metric 'm3'"),
    ],
)
def test_mistakes_are_one_line(checkout, capsys, arguments, message):
    (checkout.parent / "short.m2").write_text("S a x c\n\n", encoding="utf-8")
    names = {"data": checkout, "nowhere": checkout.parent / "no"}
    names |= {name: checkout.parent / f"{name}.m2" for name in ("short", "gold")}
    few = {"AMU": [1, 2, 3], "IPN": [3, 2, 1]}
    bad = {"other": {"GPT-9": [1, 2, 3]}, "few": few, "cut": {"AMU": [1, 2]}, "nan": {"AMU": [1, None, 2]}}
    for name, content in bad.items():
        names[name] = checkout.parent / f"{name}.json"
        names[name].write_text(json.dumps(content), encoding="utf-8")
    assert run(["meta", *(argument.format(**names) for argument in arguments)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
