"""The README says what is true: its commands run, its Python runs, its table is that of the registry."""

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

import geceval
from geceval import registry
from geceval.cli.app import run
from geceval.cli.list_metrics import interval

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL) for line in block.splitlines()]


def metric_table() -> str:
    """The table of the README, from what the registry knows."""
    lines = ["| metric | what it says | needs | range | extra |", "|---|---|---|---|---|"]
    for name in registry.list_metrics():
        scorer = registry.make_scorer(name)
        needs = "source, references" if scorer.needs_references() else "source"
        arrow = "↑" if scorer.higher_is_better else "↓"
        cells = [
            f"[`{name}`](metrics/{name}/README.md)",
            scorer.description.removesuffix("."),
            needs,
            f"{interval(scorer.bounds)} {arrow}",
            f"`{scorer.extra}`" if scorer.extra else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_metrics():
    (found,) = re.findall(r"<!-- metrics: .*? -->\n(.*)<!-- end -->", README, flags=re.DOTALL)
    assert found.rstrip("\n") == metric_table(), f"the table of the README should be:\n{metric_table()}"


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("geceval ")])
def test_commands_run(command, tmp_path, monkeypatch, capsys):
    shutil.copytree(EXAMPLE, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    words = shlex.split(command)[1:]
    arguments = [str(path) for word in words for path in (sorted(Path().glob(word)) if "*" in word else [word])]
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out or (tmp_path / "here" / "gold.m2").is_file()


def test_python_runs():
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block, {})
        # the one edit is that of the first reference
        assert printed.getvalue().startswith("1.0 1.0 1.0 errant|")


def test_make_targets_and_files_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", README):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    for path in ("src/geceval/assets/example", "LICENSE", "metrics/impara/README.md"):
        assert (ROOT / path).exists()


def test_one_screen():
    prose = re.sub(r"<!-- metrics.*<!-- end -->", "", README, flags=re.DOTALL)
    assert len(prose.splitlines()) <= 70
