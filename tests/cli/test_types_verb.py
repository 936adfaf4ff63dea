"""`geceval types` on a corpus whose edits come from M2 files."""

import math

import pytest

SOURCE = "a b c\nd e f\ng h i\n"
GOLD = """S a b c
A 0 1|||R:DET|||A|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:SVA|||B|||REQUIRED|||-NONE-|||0

S d e f
A 0 1|||R:DET|||D|||REQUIRED|||-NONE-|||0

S g h i
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""
SVA, D = "A 1 2|||R:VERB:SVA|||B|||REQUIRED|||-NONE-|||0\n", "A 0 1|||R:DET|||D"
M2 = {  # one: two hits, a false alarm, a miss; two: a hit, two misses
    "one": GOLD.replace("A 1 2|||R:VERB:SVA|||B", "A 2 3|||R:NOUN|||B"),
    "two": GOLD.replace(SVA, "").replace(D, "A -1 -1|||noop|||-NONE-"),
}
TEXTS = {"one": "A b B\nD e f\ng h i\n", "two": "A b c\nd e f\ng h i\n"}
FILES = ["-s", "source.txt", "--gold-m2", "gold.m2"]
ONE = [*FILES, "-p", "one.txt", "--predictions-m2", "one.m2", "--resamples", "20"]
BOTH = [*FILES, "-p", "one.txt", "two.txt", "--predictions-m2", "one.m2", "two.m2", "--resamples", "20"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"source.txt": SOURCE, "gold.m2": GOLD}
    texts |= {f"{name}.m2": text for name, text in M2.items()} | {f"{name}.txt": text for name, text in TEXTS.items()}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def cells(line):
    return line.split()


def test_one_system(files, ok):
    header, rule, *rows = ok("types", *ONE).splitlines()
    assert cells(header) == ["type", "tp", "fp", "fn", "precision", "recall", "f", "low", "high"]
    rows = {cells(row)[0]: cells(row)[1:7] for row in rows[:-3]}
    assert rows == {
        "all": ["2", "1", "1", "0.6667", "0.6667", "0.6667"],
        "R": ["2", "1", "1", "0.6667", "0.6667", "0.6667"],
        "DET": ["2", "0", "0", "1.0000", "1.0000", "1.0000"],
        "NOUN": ["0", "1", "0", "0.0000", "1.0000", "0.0000"],
        "VERB:SVA": ["0", "0", "1", "1.0000", "0.0000", "0.0000"],
    }


def test_two_systems_side_by_side(files, ok):
    out = ok("types", *BOTH, "--types", "DET", "--measure", "success", "--baseline", "two")
    header, _, first, second, caption, errant, test = out.splitlines()
    assert cells(header) == ["type", "system", "tp", "fn", "share", "low", "high", "difference", "p_holm"]
    assert cells(first)[:5] == ["DET", "one", "2", "0", "1.0000"] and cells(first)[-2] == "0.5000"
    assert cells(second)[:5] == ["DET", "two", "1", "1", "0.5000"] and cells(second)[-2:] == ["–", "–"]
    assert caption == "3 sentences, 2 systems, measure success"
    assert errant.startswith("errant|text:auto|beta:0.5|")
    assert test.startswith("types|types:DET|baseline:two|resamples:20|")


def test_on_a_narrow_terminal_columns_go_on_below(files, ok, monkeypatch):
    wide = [cells(line) for line in ok("types", *BOTH, "--types", "NOUN").splitlines()[:4]]
    monkeypatch.setattr("geceval.cli.tables.terminal_width", lambda output: 50)
    lines = ok("types", *BOTH, "--types", "NOUN").splitlines()
    parts = [[cells(line) for line in lines[start : start + 4]] for start in (0, 4, 8)]
    assert all(len(line) <= 50 for line in lines[:12])
    for row in (0, 2, 3):
        assert [part[row][:2] for part in parts] == [wide[row][:2]] * 3
        assert [cell for part in parts for cell in part[row][2:]] == wide[row][2:]


def test_json_and_tsv_hold_all_measures(files, answer, ok):
    rows = answer("types", *BOTH, "--types", "NOUN")["rows"]
    measures = ["type", "type_only", "detection", "success", "overcorrection", "change_rate"]
    assert {row["measure"] for row in rows} == set(measures)
    by_name = {(row["measure"], row["system"]): row for row in rows}
    assert by_name["type", "two"] == {
        **{"measure": "type", "type": "NOUN", "system": "two", "tp": 0, "fp": 0, "fn": 0},
        **dict.fromkeys(["precision", "recall", "value", "low", "high", "difference", "p", "p_holm"]),
    }
    assert by_name["change_rate", "one"]["value"] == pytest.approx(1 / 3)
    header, first, *_ = ok("types", *BOTH, "--types", "NOUN", "--format", "tsv").splitlines()
    values = dict(zip(header.split("\t"), first.split("\t"), strict=True))
    assert (values["fp"], float(values["value"]), math.isnan(float(values["p"]))) == ("1", 0, True)


@pytest.mark.parametrize(("form", "start"), [("markdown", "| type | system |"), ("latex", "% errant")])
def test_tables_of_papers(form, start, files, ok):
    assert ok("types", *BOTH, "--format", form).startswith(start)


def test_figure_and_page(files, ok, read_page):
    assert ok("types", *BOTH, "--plot", "map.png", "--output", "page.html") == ""
    assert (files / "map.png").read_bytes().startswith(b"\x89PNG")
    text = (files / "page.html").read_text(encoding="utf-8")
    page = read_page(text)
    assert {"svg", "table"} <= {tag for tag, _ in page.tags}
    assert "<td>VERB:SVA</td>" in text and '<td class="n">0.667</td>' in text
    assert "NOUN" not in text[text.index("<svg") : text.index("</svg>")]  # nothing to find there


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*FILES, "-p", "one.txt", "--measure", "f"], "Invalid value for '--measure'"),
        ([*FILES, "-p", "one.txt", "-r", "one.txt"], "errant would take --gold-m2 and leave out -r"),
        (["-s", "source.txt", "-p", "one.txt"], "errant needs references: pass -r FILE... or --gold-m2 FILE"),
        ([*ONE, "--baseline", "three"], "no system 'three' to compare with"),
        ([*ONE, "--plot", "map.gif"], "map.gif: figures are written to"),
        ([*ONE, "-o", "sort=1"], "unknown option 'sort'"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(files, fails, arguments, message):
    assert message in fails("types", *arguments, "--output", "out.txt")
    assert not (files / "out.txt").exists()


def test_a_selector_of_nothing_is_a_warning(files, call):
    code, out, err = call("types", *ONE, "--types", "DTE")
    assert code == 0 and cells(out.splitlines()[2])[:5] == ["DTE", "0", "0", "0", "–"]
    assert err == "geceval: warning: types: no edit has a type that 'DTE' selects; did you mean 'DET'?\n"
    assert call("types", *ONE, "--types", "DTE", "--quiet")[2] == ""
