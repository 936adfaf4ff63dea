"""`geceval leaderboard`: the page says what `geceval.compare` finds."""

import re
from pathlib import Path

import pytest

import geceval

SOURCES = ["a b c d", "d c b a", "a a b b", "c b c d"] * 6
REFERENCES = [text.replace("b", "x") for text in SOURCES]
SYSTEMS = {"bad": SOURCES, "good": REFERENCES[:20] + SOURCES[20:], "twin": REFERENCES[:20] + SOURCES[20:]}
EVIL = "<img src=x>"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in {"source": SOURCES, "ref": REFERENCES, **SYSTEMS}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["-m", "gleu", "green", "-s", "source.txt", "-r", "ref.txt"]


def test_the_page_holds_the_numbers_of_compare(files, ok, read_page):
    ok("leaderboard", *files, "-p", "bad.txt", "good.txt", "twin.txt", "--output", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    library = geceval.compare(["gleu", "green"], SOURCES, SYSTEMS, [[text] for text in REFERENCES])
    by_system = {
        name: [next(each for each in own.standings if each.system == name) for own in library.values()]
        for name in SYSTEMS
    }
    assert [[text for _, text in row] for row in read_page(page).tables[0][1:]] == [
        [name, *(f"{each.rank} {each.score:.3f} {each.low:.3f} to {each.high:.3f}" for each in by_system[name])]
        for name in ("good", "twin", "bad")
    ]
    assert [each.rank for each in library["gleu"].standings] == [3, 1, 1]
    assert "gleu: good and twin share the first rank." in page
    assert page.count("<svg") == 2 and page.count("<circle") == 6
    assert library["green"].signature in page


def test_the_page_says_where_the_guard_struck_and_why(tmp_path, monkeypatch, ok):
    monkeypatch.chdir(tmp_path)
    sources = ["He go to school every day .", "She like cats ."] * 30
    outputs = {"source": sources, "good": ["He goes to school every day .", "She likes cats ."] * 30}
    outputs["bad"] = ["He goes to school every day .", f"{EVIL} ."] * 30
    for name, lines in outputs.items():
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")
    command = ["leaderboard", "-m", "impara_lm", "-s", "source.txt", "--resamples", "50"]
    ok(*command, "-p", "good.txt", "bad.txt", "--output", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<b>impara_lm: bad</b> 30 of 60 (says something else 30)" in page and "<b>impara_lm: good" not in page
    lines = [f"line {line} says something else" for line in range(2, 61, 2)]
    assert re.findall(r"<li>(line \d+ .*?)</li>", page) == lines
    ok(*command, "-p", "good.txt", "source.txt", "--output", "clean.html")
    assert "Penalised by the guard" not in Path("clean.html").read_text(encoding="utf-8")


def test_of_many_systems_that_share_the_first_rank_only_the_best_is_named(files, ok):
    for number in range(5):
        Path(f"s{number}.txt").write_text("\n".join(SYSTEMS["good"]) + "\n", encoding="utf-8")
    systems = ["s4.txt", "bad.txt", *(f"s{number}.txt" for number in range(4))]
    ok("leaderboard", *files, "-p", *systems, "--output", "page.html")
    assert "gleu: 5 of 6 systems share the first rank; s4 has the best score." in Path("page.html").read_text("utf-8")


def test_names_are_text(files, ok):
    Path(f"{EVIL}.txt").write_text("\n".join(SOURCES) + "\n", encoding="utf-8")
    ok("leaderboard", *files, "-p", f"{EVIL}.txt", "good.txt", "--title", EVIL, "--output", "page.html")
    assert EVIL not in Path("page.html").read_text(encoding="utf-8")


def test_a_mistake_is_one_line_and_writes_nothing(files, fails):
    assert "at least two systems" in fails("leaderboard", *files, "-p", "bad.txt", "--output", "page.html")
    assert not Path("page.html").exists()
