"""`geceval meta` on invented judgments of invented outputs, in the form in which GJG15 was published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geceval.cli.app import run
from geceval.meta.data import GJG15_SYSTEMS

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "m2", "--data", "{data}"], "m2 needs references: pass --gold-m2"),
        (["-m", "m2", "--data", "{data}", "--gold-m2", "{short}"], "1 sentences, but the data has line 3"),
        (["-m", "m2", "--data", "{data}", "--systems", "base"], "gjg15 has no system set 'base'"),
        (["-m", "m2", "--data", "{nowhere}"], "neither a checkout of SEEDA"),
        (["-m", "m3", "--data", "{data}", "--gold-m2", "{gold}"], "unknown metric 'm3'"),
    ],
)
def test_mistakes_are_one_line(checkout, capsys, arguments, message):
    (checkout.parent / "short.m2").write_text("S a x c\n\n", encoding="utf-8")
    names = {"data": checkout, "nowhere": checkout.parent / "no"}
    names |= {name: checkout.parent / f"{name}.m2" for name in ("short", "gold")}
    assert run(["meta", *(argument.format(**names) for argument in arguments)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
