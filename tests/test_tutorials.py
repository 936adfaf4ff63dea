"""The tutorials do what they say: commands and Python run in their order, and print what stands below them."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from geceval.cli.app import run

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"```(bash|python|text)\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"-?\d*\.\d+")
TOLERANCE = {"classroom": 0.1}  # a training, which other processors round differently


def run_line(line: str, move) -> None:
    words = shlex.split(line)
    if words[0] == "cd":
        move(words[1])
    elif words[:2] == ["python", "-c"]:
        exec(words[2], {})
    elif words[0] == "geceval":
        assert run([path for word in words[1:] for path in sorted(map(str, Path().glob(word))) or [word]]) == 0, line
    else:
        subprocess.run(["bash", "-c", line], check=True)


def assert_printed(shown: str, output: str, tolerance: float) -> None:
    """Every line that is shown is among those printed, in their order; numbers may be rounded differently."""
    lines = iter(output.splitlines())
    for line in shown.removesuffix("...\n").splitlines():
        form = NUMBER.sub("0", line).split()
        found = next((each for each in lines if NUMBER.sub("0", each).split() == form), None)
        assert found is not None, f"{line!r} is not in:\n{output}"
        numbers, expected = ([float(n) for n in NUMBER.findall(text)] for text in (found, line))
        assert numbers == pytest.approx(expected, abs=tolerance), found


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorials_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, output = {}, ""
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "text":
            assert_printed(text, output, TOLERANCE.get(page.stem, 0.005))
            continue
        capsys.readouterr()
        if language == "python":
            exec(text, names)
        else:
            for line in text.replace("\\\n", " ").splitlines():
                run_line(line, monkeypatch.chdir)
        output = capsys.readouterr().out
