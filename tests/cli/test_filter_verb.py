"""`geceval filter`, and edits coloured by how likely they are right."""

import functools

import pytest

import geceval
from geceval.cli.tables import Cell, judged, table_text
from geceval.edits.m2 import parse_m2

SOURCES = ["He go to school.", "They sleep."]
PREDICTIONS = ["He goes to the school.", "They sleep."]


@pytest.fixture
def files(tmp_path):
    """Prose: -s, -p."""
    arguments = []
    for flag, lines in (("-s", SOURCES), ("-p", PREDICTIONS)):
        path = tmp_path / f"{flag[1]}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        arguments += [flag, path]
    return arguments


@pytest.mark.parametrize(("least", "lines", "count"), [("0", PREDICTIONS, 0), ("1", SOURCES, 2)])
def test_text_is_what_the_library_gives(call, files, least, lines, count):
    expected = "".join(f"{line}\n" for line in lines)
    assert call("filter", *files, "--min", least) == (0, expected, f"{count} of 2 edits undone\n")
    filtered = geceval.filter_edits(SOURCES, PREDICTIONS)
    assert call("filter", *files, "--quiet") == (0, "".join(f"{line}\n" for line in filtered), "")


def test_m2_has_the_edits_that_are_kept(call, files, tmp_path):
    out = tmp_path / "kept.m2"
    assert call("filter", *files, "--min", "0", "--output", out)[:2] == (0, "")
    first, second = parse_m2(out.read_text(encoding="utf-8"))
    assert first.source == "He go to school ."
    assert [(edit.start, edit.end, edit.correction) for edit in first.edits[0]] == [(1, 2, "goes"), (3, 3, "the")]
    assert second.edits == {0: []}
    assert "noop" in call("filter", *files, "--min", "1", "--format", "m2")[1].split("\n\n")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min", "1.5"], "Invalid value for '--min'"),
        (["--output", "a.html"], "a.html: html is not written here, only text, m2; see --format"),
        (["--text", "odd"], "text must be one of"),
    ],
)
def test_mistakes_are_one_line(fails, files, options, message):
    assert message in fails("filter", *files, *options)


def test_impacts_and_the_worst_corrections_say_how_likely_an_edit_is_right(answer, ok, files):
    first = answer("impacts", *files)[0]["edits"]
    (edits,) = geceval.load("edit_quality").compute(sources=SOURCES[:1], predictions=PREDICTIONS[:1])["edits"]
    assert [edit["right"] for edit in first] == [edit["probability"] for edit in edits]
    worst = functools.partial(answer, "score", "-m", "gleu", *files, "-r", files[1], "--worst", "1", "--quiet")
    assert [edit["right"] for edit in worst("--edits")["rows"][0]["edits"]] == [edit["right"] for edit in first]
    assert "edits" not in worst()["rows"][0]
    unchanged = ["score", "-m", "gleu", "-s", files[1], "-p", files[1], "-r", files[3], "--worst", "1", "--edits"]
    assert ok(*unchanged, "--quiet").splitlines()[2].endswith(" –")
    table = ok("impacts", *files)
    assert judged(first[0]["right"])[0] in table and "geceval filter undoes doubtful edits" in table


def test_edits_without_the_worst_corrections_are_refused(fails, files):
    message = fails("score", "-m", "gleu", *files, "-r", files[1], "--edits")
    assert message == "--edits shows the edits of the worst corrections: add --worst N"


def test_colours_come_with_words():
    assert judged(0.93) == ("93% right", "green")
    assert judged(0.775, "a → b") == ("a → b (78% probably right)", "yellow")
    assert judged(0.1) == ("10% doubtful", "bold red")
    cells = [[1, Cell(0.1, parts=(judged(0.1),))]]
    assert "\x1b[1;31m10% doubtful\x1b[0m" in table_text(["line", "right"], cells, colours="standard")
    assert "\x1b" not in table_text(["line", "right"], cells)
