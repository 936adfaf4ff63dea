"""`geceval difficulty`, and GoToScorer among the systems of `geceval score`."""

import pytest

# The example of tests/scorers/test_difficulty.py, where it is worked out by hand.
DIFFICULTY = "3\n3 3 3 2 1 3 3 3 3\n"
M2 = """S He like cat .
A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0
A 2 2|||ArtOrDet|||the|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = dict.fromkeys(("source.txt", "three.txt"), "He like cat .\n")
    texts |= dict.fromkeys(("reference.txt", "one.txt"), "He likes the cat .\n") | {"two.txt": "He likes cat .\n"}
    texts |= {"difficulty.txt": DIFFICULTY, "short.txt": "3\n3 3 3\n", "gold.m2": M2}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


SYSTEMS = ["-p", "one.txt", "two.txt", "three.txt"]
TEXTS = ["-s", "source.txt", "-r", "reference.txt", *SYSTEMS]


def test_difficulty_goes_to_standard_output(files, ok):
    assert ok("difficulty", *TEXTS) == DIFFICULTY


def test_everything_is_written_in_one_run(files, ok):
    arguments = ["--output", "w.txt", "--types", "3", "--heat-map", "map.html", "--chunks", "chunks.txt"]
    out = ok("difficulty", "-s", "source.txt", "--gold-m2", "gold.m2", *SYSTEMS, *arguments)
    assert (files / "w.txt").read_text() == DIFFICULTY
    assert "like → likes · weight 0.33" in (files / "map.html").read_text()
    assert (files / "chunks.txt").read_text().splitlines()[3].startswith("weight | 0.00 | 0.00 | 0.00 | 0.33")
    assert [line.split() for line in out.splitlines()[2:]] == [
        ["ArtOrDet", "0.6667", "0.0000", "1"],
        ["SVA", "0.3333", "0.0000", "1"],
    ]


def test_difficulty_by_type_is_drawn(files, ok):
    assert ok("difficulty", "-d", "difficulty.txt", "--gold-m2", "gold.m2", "--plot", "types.svg") == ""
    assert (files / "types.svg").read_bytes().startswith(b"<?xml")


def test_a_difficulty_file_is_shown_with_errant_types(files, ok):
    out = ok("difficulty", "-d", "difficulty.txt", "--gold-m2", "gold.m2", "--types", "2", "--errant-types")
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["DET", "VERB:SVA"]


@pytest.mark.parametrize("options", [[], ["-o", "difficulty=difficulty.txt"]])
def test_systems_of_one_call_define_the_difficulty(files, answer, options):
    found = answer("score", "-m", "gotoscorer", *TEXTS, *options)
    scores = {row["system"]: row["metrics"]["gotoscorer"]["score"] for row in found["systems"]}
    assert scores == pytest.approx({"one": 1, "two": 5 / 7, "three": 0})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-d", "difficulty.txt", "--gold-m2", "gold.m2", "--plot", "types.txt"], "figures are written to .png, .svg"),
        ([*TEXTS, "-d", "difficulty.txt"], "either -p FILE"),
        (["-s", "source.txt", *SYSTEMS], "needs references"),
        ([*TEXTS, "--errant-types"], "puts types on the edits of --gold-m2"),
        (["-r", "reference.txt", *SYSTEMS], "needs the sources"),
        (["-s", "source.txt", "-r", "reference.txt", "two.txt", *SYSTEMS], "has 2; say which one is meant"),
        (["-s", "source.txt", "-r", "source.txt", "-d", "short.txt"], "short.txt, line 2: 3 counts, but the reference"),
        (["-s", "source.txt", "-r", "source.txt", "-d", "reference.txt"], "reference.txt, line 1: expected counts"),
        (["-s", "source.txt", "-r", "source.txt", "-d", "nowhere.txt"], "nowhere.txt"),
        ([*TEXTS, "--heat-map", "no/map.html"], "no/map.html: No such file"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(files, fails, arguments, message):
    assert message in fails("difficulty", *arguments, "--output", "w.txt")
    assert not (files / "w.txt").exists()
