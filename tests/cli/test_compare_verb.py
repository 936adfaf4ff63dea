"""`geceval compare` and `geceval meta maege` on small files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from geceval.core.errors import p_bound

SOURCES = ["a b c d", "d c b a", "a a b b", "c d c d"] * 4
M2 = """S a b c d
A 0 1|||R:X|||A|||REQUIRED|||-NONE-|||0
A 2 3|||R:X|||C|||REQUIRED|||-NONE-|||0
A 0 1|||R:X|||A|||REQUIRED|||-NONE-|||1
A 3 4|||R:X|||D|||REQUIRED|||-NONE-|||1

S e f g h
A 1 2|||R:X|||F|||REQUIRED|||-NONE-|||0
A 2 3|||R:X|||G|||REQUIRED|||-NONE-|||1

"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {
        "source": SOURCES,
        "ref": [text.replace("b", "x") for text in SOURCES],
        "good": [text.replace("b", "x") for text in SOURCES[:14]] + SOURCES[14:],
        "bad": SOURCES,
    }
    for name, lines in columns.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "gold.m2").write_text(M2, encoding="utf-8")
    return ["-s", "source.txt", "-r", "ref.txt"]


def test_compare(files, answer):
    options = ["-p", "bad.txt", "good.txt", "--resamples", "50", "--seed", "3"]
    found = answer("compare", "-m", "green", "gleu", *files, *options)
    names = [f"{row['metric']} {row['system']}" for row in found["rows"]]
    assert names == ["green good", "green bad", "gleu good", "gleu bad"]
    second, first = found["rows"][:2]
    columns = ["metric", "rank", "system", "score", "low", "high", "difference", "p bootstrap"]
    assert list(first) == [*columns, "p randomisation", "baseline", "higher_is_better"]
    facts = [(row["rank"], row["baseline"], row["higher_is_better"]) for row in (second, first)]
    assert facts == [(1, False, True), (2, True, True)]
    assert (first["difference"], first["p bootstrap"], first["p randomisation"]) == (0.0, 1.0, 1.0)
    assert second["difference"] > 0 and second["p bootstrap"] == second["p randomisation"] == pytest.approx(1 / 51)
    assert found["notes"][-1].startswith("compare|methods:bootstrap,randomisation|baseline:first|resamples:50")
    assert "seed:3" in found["notes"][-1]


def test_compare_with_the_best_and_one_method(files, answer):
    arguments = ["compare", "-m", "green", *files, "-p", "bad.txt", "good.txt", "--resamples", "20"]
    found = answer(*arguments, "--baseline", "best", "--method", "randomisation", "--confidence", "0.9")
    assert [(row["difference"] == 0, row["baseline"]) for row in found["rows"]] == [(True, True), (False, False)]
    assert "p bootstrap" not in found["rows"][0] and "low" in found["rows"][0]
    assert "|confidence:0.9|" in found["notes"][-1]


def test_compare_as_a_table(files, ok):
    lines = ok("compare", "-m", "green", *files, "-p", "bad.txt", "good.txt", "--resamples", "20").splitlines()
    assert "16 sentences; p of the difference from the first system, two-sided, 20 resamples" in lines
    assert lines[2].split()[:3] == ["green", "1", "good"] and lines[2].endswith("< .05             < .05")
    assert lines[3].split()[:4] == ["green", "2", "bad", "(baseline)"] and lines[3].split()[-3:] == ["–"] * 3
    assert any(line.startswith("green|text:auto|beta:2.0") for line in lines)


@pytest.mark.parametrize(("resamples", "shown"), [(1000, "< .001"), (200, "< .005"), (7, "< .2"), (99_999, "< .00002")])
def test_where_resamples_end_p_is_a_bound(resamples, shown):
    assert p_bound(1 / (resamples + 1), resamples) == shown
    assert p_bound(2 / (resamples + 1), resamples) == ""


def test_in_latex_the_best_score_is_bold_and_bounds_are_mathematics(files, ok):
    systems = ["-p", "bad.txt", "good.txt"]
    out = ok("compare", "-m", "green", *files, *systems, "--resamples", "20", "--format", "latex")
    good, bad = (line for line in out.splitlines() if line.startswith("green &"))
    assert "& \\textbf{0." in good and good.endswith(r"$<$ .05 & $<$ .05 \\")
    assert "textbf" not in bad


def test_maege(files, answer):
    options = ["--m2", "gold.m2", "--source", "source", "--seed", "5"]
    found = answer("meta", "maege", "-m", "green", "gleu", *options)
    assert [row["metric"] for row in found["rows"]] == ["green", "gleu"]
    assert found["caption"] == "gold.m2: 4 chains with 10 texts and 8 pairs"
    assert {"corpus r", "sentence ρ", "chain τ", "τ no ties", "ties", "corpus lines"} <= set(found["rows"][0])
    assert "source:source" in found["notes"][-1] and "seed:5" in found["notes"][-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--m2", "source.txt"], "expected a line that starts with"),
        (["--m2", "gold.m2", "--min-chains", "3"], "none of the 2 sentences gives 3 chains"),
        (["--m2", "gold.m2", "-r", "gold.m2", "--all-references"], "not both"),
        (["--m2", "gold.m2", "-r", "ref.txt"], "ref.txt has 16 lines but gold.m2 has 2; they must"),
        (["--m2", "gold.m2", "-r", "blank.txt"], "line 2 has no reference: it is blank in blank.txt"),
    ],
)
def test_mistakes_of_maege_are_one_line(files, arguments, message, fails):
    Path("blank.txt").write_text("a b c D\n\n", encoding="utf-8")
    assert message in fails("meta", "maege", "-m", "green", *arguments)


def test_maege_reads_standard_input_once(tmp_path):
    """The signature holds the hash of what was read, as of the same file."""
    text = "S a b c d\nA 2 3|||R:X|||x|||REQUIRED|||-NONE-|||0\n\n"
    (tmp_path / "-").write_text(text)  # a file of the same name, for the same signature
    line = [sys.executable, "-m", "geceval", "meta", "maege", "-m", "gleu", "--all-references", "--min-chains", "1"]
    line += ["--format", "json", "--m2"]
    piped, read = (
        subprocess.run([*line, name], input=text, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
        for name in ("-", "./-")
    )
    assert json.loads(piped)["notes"] == json.loads(read)["notes"]
