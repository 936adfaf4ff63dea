"""The README says what is true: its commands run, its Python runs, its table is that of the registry."""

import contextlib
import importlib.util
import io
import json
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
BLOCKS = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]
OF_THE_TABLE = next(line for line in COMMANDS if line.startswith("geceval meta "))


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


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("geceval ") and line != OF_THE_TABLE])
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


def agreement() -> dict[str, list[str]]:
    """The table of the first screen: metric to its cells."""
    (table,) = re.findall(r"<!-- agreement: .*? -->\n(.*?)<!-- end -->", README, flags=re.DOTALL)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[0] == ["metric", "accuracy sent", "accuracy edit", "pearson ts_sent", "pearson ts_edit"]
    return {row[0]: row[1:] for row in rows[2:]}


def test_agreement_is_that_of_the_leaderboard():
    """Where the demo's leaderboard has the metric, it holds the same measurement with more digits."""
    boards = json.loads((ROOT / "spaces/demo/leaderboard.json").read_text(encoding="utf-8"))["boards"]
    measured = {row["metric"]: row["values"] for board in boards if board["data"] == "seeda" for row in board["rows"]}
    found = agreement()
    assert {"errant", "gleu", "impara", "impara_ged", "m2", "some"} <= measured.keys() & found.keys()
    for name in measured.keys() & found.keys():
        keys = ("sent acc", "edit acc", "ts_sent r", "ts_edit r")
        assert found[name] == [f"{measured[name][key]:.4f}" for key in keys], name
    assert list(found) == sorted(found, key=lambda name: -float(found[name][0]))
    assert found.keys() <= set(OF_THE_TABLE.split()) and set(OF_THE_TABLE.split("-m ")[1].split()) <= {
        *found, "impara_lm"
    }  # fmt: skip


def test_the_command_of_the_table_prints_its_header(tmp_path, monkeypatch, capsys):
    """On sentences of our own, and with metrics that need no network."""
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("docs_corpora", ROOT / "tests" / "docs_corpora.py")
    corpora = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(corpora)
    corpora.write_all()
    words = shlex.split(OF_THE_TABLE)[1:]
    assert run([*words[: words.index("-m") + 1], "gleu", "m2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| metric | accuracy sent | accuracy edit | pearson ts_sent | pearson ts_edit |"
    assert {line.split()[1] for line in lines[2:4]} == {"gleu", "m2"}


def test_one_screen():
    prose = re.sub(r"<!-- (metrics|agreement).*?<!-- end -->", "", README, flags=re.DOTALL)
    assert len(prose.splitlines()) <= 85
