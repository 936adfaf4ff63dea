"""`geceval attack`: its formats hold what `geceval.attack` finds; files of one's own; mistakes."""

import re

import pytest

import geceval

SOURCES = ["He go to two school .", "They is good and not bad .", "I saw Anna in Rome ."]
GOOD = ["He goes to two schools .", "They are good and not bad .", "I saw Anna in Rome ."]
EVIL = "<img src=x>"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"source": SOURCES, "good": GOOD, "ref": GOOD, "mine": [EVIL] * 3, "short": GOOD[1:]}
    for name, lines in columns.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["attack", "-m", "green", "-s", "source.txt", "-p", "good.txt", "-r", "ref.txt"]


@pytest.fixture(scope="module")
def found():
    """What the library says of the files."""
    return geceval.attack("green", SOURCES, {"good": GOOD}, GOOD, attacks={"mine": [EVIL] * 3})["green"]


def test_json(files, answer, found):
    content = answer(*files, "--attack", "mine.txt")
    (each,) = content["metrics"]
    assert content["geceval"] == geceval.__version__
    assert list(each) == [
        *("metric", "rows", "flips", "headlines", "control", "systems", "sentences", "signature", "test")
    ]
    assert list(each["rows"][0]) == [
        *("family", "name", "kind", "score", "above_source", "above_reference", "beaten", "changed", "example")
    ]
    assert [row["score"]["value"] for row in each["rows"]] == [row.score.value for row in found.rows]
    assert each["headlines"][0]["worst"]["name"] == found.headlines[0].worst.name
    assert each["rows"][-1]["family"] == "yours" and each["rows"][-1]["example"] == EVIL


def test_tables(files, ok, found):
    lines = ok(*files).splitlines()
    assert lines[0].split() == ["green", "attack", "score", ">", "source", ">", "reference", "beats", "changed"]
    rows = [line.split() for line in lines]
    source, constant = (next(row for row in found.rows if row.name == name) for name in ("source", "constant"))
    assert ["control", "source", f"{source.score.value:.2f}", "–", "0%", "0/1", "0"] in rows
    share = f"{100 * constant.above_source.value:.0f}%"
    assert ["ignore", "constant", f"{constant.score.value:.2f}", share, "0%", "0/1", "3"] in rows
    assert lines[-3].split()[:5] == ["green", "static", "0", "of", "1"]
    assert lines[-2:] == [found.signature, found.test]


def test_failures_are_marked(files, ok, tmp_path):
    (tmp_path / "bad.txt").write_text("x\n" * 3)
    lines = ok(*files[:-4], "-p", "bad.txt", "-r", "ref.txt").splitlines()
    failing = [line for line in lines if line.endswith("FAIL")]
    assert any("two commas" in line and "1/1" in line for line in failing)
    assert not any(line.endswith("FAIL") for line in lines if line.lstrip().startswith(("source ", "bad ", "UPPER")))


def test_page(files, ok, tmp_path, found):
    assert ok(*files, "--attack", "mine.txt", "--output", "page.html") == ""
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count('scope="row"') == len(found.rows) + len(found.flips)
    assert EVIL not in page and "&lt;img src=x&gt;" in page
    assert "no honest system beaten" in page and "<script" not in page
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["green"]
    assert found.signature.replace("'", "&#39;") in page


def test_search(files, answer):
    def searched(*options):
        rows = answer(*files, *options)["metrics"][0]["rows"]
        return [row for row in rows if row["kind"] == "searched"]

    assert searched() == []
    names = [row["name"] for row in searched("--budget", "4", "--seed", "2")]
    assert names == ["best reference", "best prefix", "deletion climb", "best concatenation", "beam search"]


def test_the_example_corpus_is_the_default(answer):
    (each,) = answer("attack", "-m", "green")["metrics"]
    assert (each["sentences"], each["systems"], each["control"]["name"]) == (44, 2, "strong")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "green", "-p", "good.txt"], "--predictions needs the sources: -s FILE"),
        (["-m", "green", "--attack", "mine.txt"], "--attack needs the sources: -s FILE"),
        (["-m", "green", "-s", "source.txt", "-r", "short.txt"], "short.txt has 2 lines but source.txt has 3"),
        (["-m", "green", "-s", "source.txt", "-p", "short.txt"], "short.txt has 2 lines but source.txt has 3"),
        (["-m", "green", "-s", "source.txt"], "attack: green needs references"),
        (["-m", "green", "--output", "page.tex"], "page.tex: latex is not written here, only table, json, html"),
    ],
)
def test_mistakes(files, fails, arguments, message):
    assert fails("attack", *arguments).startswith(message)
