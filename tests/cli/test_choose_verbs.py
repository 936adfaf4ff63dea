"""`geceval rerank` and `geceval vote` on small files."""

import json

import pytest

SOURCES = ["He go to school .", "They sleeps .", "A cat sat ."]
FILES = {
    "source": SOURCES,
    "a": ["He goes to school .", "They sleeps .", "A cat sat ."],
    "b": ["He goes to a school .", "They sleep .", "A cat sat ."],
    "c": ["He go to a school .", "They slept .", "A cat ."],
    "ref": ["He goes to school .", "They sleep .", "A cat sat ."],
}
SYSTEMS = ["-s", "source.txt", "-p", "a.txt", "b.txt", "c.txt"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [{"source": source, "candidates": list(row)} for source, *row in zip(*list(FILES.values())[:4], strict=True)]
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_texts_and_table(call, answer, tmp_path):
    code, out, err = call("vote", *SYSTEMS)
    assert (code, out) == (0, "He goes to a school .\nThey sleeps .\nA cat sat .\n")
    assert "[vote]" in err and "3 sentences, 0 with none of the candidates" in err
    options = ["-m", "gleu", "-r", "ref.txt", "--report-metric", "m2", "gleu", "--oracle"]
    found = answer("rerank", *options, *SYSTEMS, "--output", "best.txt")
    assert (tmp_path / "best.txt").read_text().splitlines() == FILES["ref"]
    rows = {row.pop("system"): row for row in found["rows"]}
    assert [(rows[name]["chosen"], rows[name]["same text"]) for name in "abc"] == [(2, 2), (1, 2), (0, 0)]
    assert list(rows) == ["a", "b", "c", "[rerank]", "[oracle]"] and rows["[rerank]"]["chosen"] is None
    # b: hits go -> goes and sleeps -> sleep, one false alarm
    assert rows["b"]["m2"] == pytest.approx(1.25 * 2 / (0.25 * 2 + 3)) and rows["[rerank]"]["m2"] == 1
    assert rows["[rerank]"]["m2 gain"] == pytest.approx(1 - rows["a"]["m2"])  # P 1, R .5: F .833, the best single
    assert rows["a"]["m2 gain"] == 0 and rows["[rerank]"]["m2 low"] <= 1 <= rows["[rerank]"]["m2 high"]
    assert [note.partition("|")[0] for note in found["notes"]] == ["1 * gleu", "oracle of m2", "m2", "compare", "gleu"]


def test_lists_of_candidates(ok, call, tmp_path):
    by_file = call("vote", *SYSTEMS)[1]
    for more in ("-n", "lists.jsonl"), ("-s", "source.txt", "-n", "lists.jsonl"), ("-n", "lists.jsonl:candidates"):
        assert call("vote", *more)[1] == by_file
    (tmp_path / "none.jsonl").write_text('{"source": "A cat", "candidates": []}\n{"source": "x", "candidates": ["y"]}')
    code, out, err = call("vote", "-n", "none.jsonl")
    assert (code, out) == (0, "A cat\ny\n") and "2 sentences, 1 with none" in err


def test_answers_come_out_cleaned(call, answer, tmp_path):
    answers = [f"Sure! Here is the corrected sentence: {text}" for text in FILES["ref"]]
    (tmp_path / "answers.txt").write_text("\n".join(answers) + "\n", encoding="utf-8")
    given = ["-s", "source.txt", "-p", "answers.txt"]
    for verb in ["vote", "--text", "answers"], ["rerank", "-m", "gleu", "-r", "ref.txt", "-o", "text=answers"]:
        _, out, err = call(*verb, *given)
        assert out.splitlines() == FILES["ref"] and err.count(f"{verb[0]}: answers were cleaned: preamble 3") == 1
        found = answer(*verb, *given, "--output", "best.txt", "--quiet")
        assert [(row["chosen"], row["same text"]) for row in found["rows"][:1]] == [(3, 3)]
    report = ["--report-metric", "m2", "-o", "m2.text=answers", "--output", "best.txt"]
    row = answer("rerank", "-m", "gleu", "-r", "ref.txt", *given, *report, "--quiet")["rows"][0]
    assert (row["chosen"], row["same text"]) == (3, 3)  # what is reported changes nothing of what comes out
    _, out, err = call("rerank", "-m", "gleu", "-r", "ref.txt", *given)
    assert out.splitlines() == answers and "3 predictions have text around the correction" in err


def test_mbr_and_weights(call):
    assert call("rerank", "--method", "mbr", *SYSTEMS)[1].splitlines()[0] == "He goes to a school ."
    options = ["-r", "ref.txt", "-m", "gleu=-1", "green=0"]
    assert call("rerank", *options, *SYSTEMS)[1].splitlines() == [FILES["c"][0], FILES["a"][1], FILES["c"][2]]
    assert call("rerank", "--method", "mbr", "--utility", "gleu", *SYSTEMS)[1].splitlines()[0] == FILES["b"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vote", *SYSTEMS, "--min-count", "4"], "min_count is 4, but no sentence has more than 3 candidates"),
        (["vote", *SYSTEMS, "-n", "lists.jsonl"], "pass the candidates: either -p FILE"),
        (["vote", "-s", "source.txt"], "pass the candidates: either -p FILE"),
        (["rerank", "-m", "gleu", *SYSTEMS, "-r", "ref.txt", "ref.txt"], "ref.txt is given twice"),
        (["vote", "-n", "a.txt"], "a.txt: lists of candidates are rows of a .jsonl file"),
        (["vote", "-s", "short.txt", "-n", "lists.jsonl"], "lists.jsonl has 3 rows but short.txt has 2"),
        (["vote", "-s", "source.txt", "-p", "a.txt", "short.txt"], "short.txt has 2 lines but source.txt has 3"),
        (["vote", *SYSTEMS, "--report-metric", "gleu"], "gleu needs references"),
        (["rerank", *SYSTEMS], "Missing option '-m'"),
        (["rerank", "-m", "gleu=x", "-r", "ref.txt", *SYSTEMS], "option -m gleu=x must be a number, got 'x'"),
        (["rerank", "-m", "glue", *SYSTEMS], "unknown metric 'glue'"),
        (["rerank", "-m", "gleu", "--utility", "recall", *SYSTEMS], "--utility is for --method mbr"),
        (["rerank", "-m", "gleu", "--method", "mbr", *SYSTEMS], "--metrics is for --method metric"),
        (["rerank", "-m", "gleu", "--oracle", *SYSTEMS], "--oracle needs --report-metric"),
        (["rerank", "-m", "gleu", *SYSTEMS, "--output", "no/x.txt"], "no/x.txt: No such file or directory"),
        (["vote", *SYSTEMS, "-r", "ref.txt"], "--references is for the metrics of the table: name one, such as --rep"),
        (["vote", *SYSTEMS, "-o", "nope=1"], "--option is for the metrics of the table"),
        (["rerank", "--method", "mbr", *SYSTEMS, "--gold-m2", "x"], "--gold-m2 is for the metrics of the table"),
        (["vote", *SYSTEMS, "--output", "x.json"], "x.json: texts are written, one a line: name a file such as x.txt"),
        (["rerank", "-m", "gleu", *SYSTEMS, "--output", "x.tsv"], "name a file such as x.txt"),
        (["rerank", "--method", "mbr", "--utility", "F0.5", *SYSTEMS], "must be f0.5, jaccard, recall, precision, agr"),
        (["rerank", "-m", "gleu", "gleu=2", "-r", "ref.txt", *SYSTEMS], "-m gleu=2: gleu is given twice"),
        (["rerank", "-m", "gleu=0", "-r", "ref.txt", *SYSTEMS], "at least one of the weights must not be 0"),
        (["vote", "-n", "bare.jsonl"], "bare.jsonl: no column 'source' with the sources; pass them as -s FILE"),
        (["vote", "-n", "twice.jsonl"], "twice.jsonl: 1 id (7) in several rows"),
    ],
)
def test_mistakes(arguments, message, fails, tmp_path):
    (tmp_path / "short.txt").write_text("a b c\nd e f\n")
    (tmp_path / "bare.jsonl").write_text('{"candidates": ["x"]}')
    (tmp_path / "twice.jsonl").write_text('{"id": 7, "source": "x", "candidates": ["x"]}\n' * 2)
    assert message in fails(*arguments)
