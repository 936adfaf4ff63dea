"""`geceval meta edits` on a few labelled edits."""

import json

import pytest

import geceval
from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, write_m2

SOURCES = ["He go to school .", "She like cat ."]
EDITS = [  # source, edited text, label; by hand beside the gold below: in a reference or not
    (0, "He goes to school .", True),  # in
    (0, "He gone to school .", False),  # not
    (1, "She likes cat .", True),  # in
    (1, "She like cats .", True),  # not
    (1, "She like the cat .", False),  # in
]


@pytest.fixture
def data(tmp_path):
    """Labelled edits as JSON Lines, the last of a sentence that the gold edits lack, and these gold edits."""
    rows = [{"source": SOURCES[place], "hypothesis": text, "label": label} for place, text, label in EDITS]
    rows.append({"source": "A b", "hypothesis": "A c", "label": False})
    (tmp_path / "mine.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    gold = [
        M2Sentence(SOURCES[0], {0: [Edit(1, 2, "goes", "R:VERB:SVA")]}),
        M2Sentence(SOURCES[1], {0: [Edit(1, 2, "likes", "R:VERB:SVA")], 1: [Edit(2, 2, "the", "M:DET")]}),
    ]
    write_m2(tmp_path / "gold.m2", gold)
    return ["--data", tmp_path / "mine.jsonl", "--gold-m2", tmp_path / "gold.m2"]


def test_verdict_of_references(data, answer):
    found = answer("meta", "edits", "-m", "gleu", *data)
    assert [(row["metric"], row["kind"]) for row in found["rows"]] == [("gleu", "all"), ("in a reference", "all")]
    row = found["rows"][1]
    assert (row["edits"], row["right"]) == (5, 0.6)
    # Right and wrong: 1, 1, 0 and 0, 1: of six pairs two are in order and three tied.
    assert row["auc"] == pytest.approx((2 + 3 / 2) / 6)
    assert row["AP right"] == pytest.approx((2 * 2 / 3 + 3 / 5) / 3)  # at 1 two of three are right, then three of five
    assert row["AP wrong"] == pytest.approx((1 / 2 + 2 / 5) / 2)  # at 0 one of two is wrong, then two of five
    assert (row["accuracy"], row["balanced"]) == (3 / 5, pytest.approx((2 / 3 + 1 / 2) / 2))
    assert row["auc low"] <= row["auc"] <= row["auc high"]
    assert found["caption"].startswith("mine.jsonl: 5 labels of edits in 2 sentences, method add; 95% intervals from")
    assert found["notes"][1:] == ["references: gold.m2"]  # nobody labelled an edit twice


def test_a_metric_without_references_judges_all_edits(data, answer):
    (row,) = answer("meta", "edits", "-m", "impara", *data[:2])["rows"]
    metric = geceval.load("impara")
    rows = [json.loads(line) for line in data[1].read_text(encoding="utf-8").splitlines()]
    sources, texts = ([row[name] for row in rows] for name in ("source", "hypothesis"))
    made, unmade = (metric.compute(sources=sources, predictions=column)["scores"] for column in (texts, sources))
    gains = [after - before for after, before in zip(made, unmade, strict=True)]
    assert row["accuracy"] == sum((gain > 0) == each["label"] for gain, each in zip(gains, rows, strict=True)) / 6


def test_kinds_and_their_heat_map(data, answer, ok, tmp_path):
    rows = answer("meta", "edits", "-m", "gleu", *data, "--by", "operation", "--plot", tmp_path / "map.svg")["rows"]
    # The only insertion is wrong: one class, no row.
    assert [(row["metric"], row["kind"], row["edits"]) for row in rows] == [
        *(("gleu", "all", 5), ("gleu", "R", 4), ("in a reference", "all", 5), ("in a reference", "R", 4))
    ]
    assert (tmp_path / "map.svg").read_text(encoding="utf-8").startswith("<?xml")
    types = answer("meta", "edits", "-m", "gleu", *data, "--by", "type")["rows"]
    assert {row["kind"] for row in types} <= {"all", "VERB:SVA", "VERB:TENSE", "VERB", "VERB:FORM"}
    text = ok("meta", "edits", "-m", "gleu", *data, "--format", "markdown")
    assert text.splitlines()[0].startswith("| metric | kind | edits | right | threshold | auc |")
    assert "| in a reference | all | 5 | 0.6000 |" in text and ".583 " in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--method", "all"], "Invalid value for '--method'"), (["--plot", "map.gif"], "map.gif: figures are written to")],
)
def test_mistakes(data, fails, arguments, message):
    assert fails("meta", "edits", "-m", "gleu", *data, *arguments).startswith(message)


def test_what_the_data_does_not_have(data, fails, tmp_path):
    assert "gleu needs references: pass --gold-m2" in fails("meta", "edits", "-m", "impara", "gleu", *data[:2])
    write_m2(tmp_path / "other.m2", [M2Sentence("x", {0: []})])
    arguments = ["meta", "edits", "-m", "gleu", *data[:2], "--gold-m2", tmp_path / "other.m2"]
    assert "mine.jsonl: right and wrong edits are needed, of sentences of" in fails(*arguments)
    assert "options of edits stand behind it" in fails("meta", *data[:2], "edits", "-m", "impara")
