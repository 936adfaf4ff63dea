"""`geceval chunks`: one table, three formats."""

import functools
import io
import json
import re

import pytest

from geceval.cli.tables import blocks_text, terminal_colours

# Cases 2 and 5 of the authors' edge cases: see tests/workflows/test_chunks.py for the cells.
OWN = "S a b c\nA 0 0|||X|||X|||REQUIRED|||-NONE-|||0\n\nS d e\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
GOLD = """S a b c
A 3 3|||X|||Y|||REQUIRED|||-NONE-|||0
A 0 0|||X|||X|||REQUIRED|||-NONE-|||1
A 3 3|||X|||Y|||REQUIRED|||-NONE-|||1

S d e
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

"""
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def ok(ok):
    """Run `geceval chunks`; its output."""
    return functools.partial(ok, "chunks")


@pytest.fixture
def m2(tmp_path):
    """Two sentences, the second of which nobody changes: --predictions-m2, --gold-m2."""
    (tmp_path / "own.m2").write_text(OWN, encoding="utf-8")
    (tmp_path / "gold.m2").write_text(GOLD, encoding="utf-8")
    return ["--predictions-m2", tmp_path / "own.m2", "--gold-m2", tmp_path / "gold.m2"]


def test_the_table_has_marks_that_need_no_colour(ok, m2):
    out = ok(*m2)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "sentence 1 0:0 0:3 3:3"
    assert lines[2:6] == [
        "source ∅ a b c ∅",
        "correction ? X a b c − ∅",
        "annotator 0 + ∅ a b c − Y",
        "annotator 1 ✓ X a b c − Y",
    ]
    assert lines[7] == "sentence 2 0:2"
    assert [line.split(":")[0] for line in lines[14:18]] == ["✓ hit", "− under", "+ over", "? varies"]
    assert lines[18] == "2 sentences; dependent, correction"
    assert "\x1b" not in out


def test_only_some_sentences(ok, m2):
    out = ok(*m2, "--changed")
    assert "sentence 2" not in out and "1 of 2 sentences;" in out
    out = ok(*m2, "--line", "2")
    assert "sentence 1" not in out and "sentence 2" in out


def test_json(ok, m2):
    found = json.loads(ok(*m2, "--format", "json", "--assumption", "independent"))
    assert (found["assumption"], found["level"]) == ("independent", "correction")
    first, second = found["sentences"]
    assert first["line"] == 1
    assert first["chunks"] == [
        {"start": 0, "end": 0, "corrected": True},
        {"start": 0, "end": 3, "corrected": False},
        {"start": 3, "end": 3, "corrected": True},
    ]
    assert first["rows"][1]["name"] == "correction" and first["rows"][1]["cells"] == [
        {"text": "X", "changed": True, "label": "hit"},
        {"text": "a b c", "changed": False, "label": None},
        {"text": "", "changed": False, "label": "under"},
    ]
    assert second["chunks"] == [{"start": 0, "end": 2, "corrected": False}]


def test_the_page(ok, read_page, m2, tmp_path):
    target = tmp_path / "chunks.html"
    assert ok(*m2, "--output", target) == ""
    text = target.read_text(encoding="utf-8")
    page = read_page(text)
    first, second = page.tables
    assert first == [
        [(None, ""), (None, "0:0"), (None, "0:3"), (None, "3:3")],
        [(None, "source"), (None, "∅"), ("ck-same", "a b c"), (None, "∅")],
        [(None, "correction"), ("ck-varies", "X varies"), ("ck-same", "a b c"), ("ck-under", "∅ under")],
        [(None, "annotator 0"), ("ck-over", "∅ over"), ("ck-same", "a b c"), ("ck-under", "Y under")],
        [(None, "annotator 1"), ("ck-hit", "X hit"), ("ck-same", "a b c"), ("ck-under", "Y under")],
    ]
    assert second[1] == [(None, "source"), ("ck-same", "d e")]
    # The legend has the labels that occur, in their order, and every label has a colour in the light and in the dark.
    assert re.findall(r'<b class="ck-(\w+)">', text) == ["hit", "under", "over", "varies"]
    both = r"light-dark\((#\w+), (#\w+)\)"
    for label in ("hit", "wrong", "under", "over", "varies"):
        rule = rf"\.ck-{label} {{ color: {both}; background: {both}; }}"
        ((ink, dark_ink, paper, dark_paper),) = re.findall(rule, text)
        assert contrast(ink, paper) >= 4.5 and contrast(dark_ink, dark_paper) >= 4.5, label  # WCAG AA


def contrast(ink: str, paper: str) -> float:
    """Contrast ratio of WCAG 2."""

    def luminance(colour):
        values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_of_learners_cannot_become_markup(ok, read_page):
    out = ok(f"a {EVIL}", f"b {EVIL}", f"a {EVIL} &amp; <b> .", "--format", "html")
    page = read_page(out)
    assert "<script" not in out and EVIL in page.text and "&amp; <b>" in page.text


def test_texts_and_files_say_the_same(ok, tmp_path):
    texts = ["He go to school .", "He goes to the school .", "He goes to school .", "He went to school ."]
    for name, text in zip("spqr", texts, strict=True):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    s, p, q, r = (tmp_path / name for name in "spqr")
    expected = ok(*texts, "--format", "json")
    assert ok("-s", s, "-p", p, "-r", q, r, "--format", "json") == expected
    assert ok(*texts[:2], "-r", q, "-r", r, "--format", "json") == expected
    rows = json.loads(expected)["sentences"][0]["rows"]
    assert [row["name"] for row in rows[2:]] == ["reference 1", "reference 2"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", Terminal())
    assert terminal_colours(None) is not None
    assert terminal_colours("file.txt") is None
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal_colours(None) is None
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert terminal_colours(None) is None


def test_wide_tables_go_on_below():
    columns, cells = ["row", "first", "second"], [[("name", ""), ("x" * 12, "red"), ("y" * 12, "")]]
    plain = blocks_text(columns, cells, width=30)
    assert [line.split() for line in plain.splitlines() if "─" not in line] == [
        ["row", "first"], ["name", "x" * 12], ["row", "second"], ["name", "y" * 12]
    ]  # fmt: skip
    assert max(map(len, plain.splitlines())) <= 30
    assert f"\x1b[31m{'x' * 12}" in blocks_text(columns, cells, width=30, colours="standard")


MISTAKES = [
    (["a", "b"], "chunks needs references: as texts, as -r FILE..., or --gold-m2 FILE"),
    (["a"], "chunks takes SOURCE CORRECTION REFERENCE"),
    (["a", "b", "c", "-p", "x"], "either texts, SOURCE CORRECTION REFERENCE..., or -s FILE and -p FILE"),
    (["a", "b", "c", "--gold-m2", "{gold}"], "--gold-m2 FILE takes the place of references"),
    (["--gold-m2", "{gold}"], "chunks needs the corrections: -p FILE, or --predictions-m2 FILE"),
    (["-p", "{own}", "-r", "{own}"], "chunks needs the sources: -s FILE, or an M2 file"),
    (["a", "b", "c", "--line", "2"], "line must be one of the 1 sentences, counted from 1, got 2"),
    (["a b c", "b", "--predictions-m2", "{own}", "--gold-m2", "{gold}"], "gold.m2 has 2 sentences for 1 source;"),
    (["a", "b", "c", "--format", "tsv"], "'tsv' is not one of"),
    (["--predictions-m2", "{gold}", "--gold-m2", "{gold}"], "one annotator is expected"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[message[:24] for _, message in MISTAKES])
def test_mistakes_are_one_line(fails, m2, arguments, message):
    assert message in fails("chunks", *(each.format(own=m2[1], gold=m2[3]) for each in arguments))
