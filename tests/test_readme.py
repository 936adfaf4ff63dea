"""The README says what is true: its commands run, its Python runs, its table is that of the registry."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import docs_corpora
import pytest

from geceval import registry
from geceval.cli.app import run
from geceval.cli.attack import HEADLINES
from geceval.workflows.attack import HONEST

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]
OF_THE_TABLE = next(line for line in COMMANDS if line.startswith("geceval meta "))


def attacks(values: dict[str, float]) -> str:
    """What attacks by rule do to a metric, from the demo's leaderboard."""
    return f"{len(HONEST) * values['attacks beats']:.0f} of {len(HONEST)}, {100 * values['attacks ceiling']:.0f}%"


def test_the_tables_of_metrics():
    """Every metric is in the table of what it needs, with its extra."""
    (text,) = re.findall(r"<!-- metrics: .*? -->\n(.*)<!-- end -->", README, flags=re.DOTALL)
    free, with_references = text.split("With references")
    for table, needs in ((free, False), (with_references, True)):
        rows = [line for line in table.splitlines() if line.startswith("| `")]
        assert all(len(row) <= 100 for row in rows)
        found = {cells[1].strip(" `"): cells[3].strip(" `") for cells in (row.split("|") for row in rows)}
        scorers = {name: registry.make_scorer(name) for name in registry.list_metrics()}
        assert found == {name: each.extra for name, each in scorers.items() if each.needs_references() == needs}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The files that the README's first commands type."""
    monkeypatch.chdir(tmp_path)
    for line in COMMANDS:
        if line.startswith("printf "):
            subprocess.run(["bash", "-c", line], check=True)


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("geceval ") and line != OF_THE_TABLE])
def test_commands_run(command, here, capsys):
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().err == ("0 of 2 edits undone\n" if "filter" in command else "")


def test_what_python_and_the_first_command_print(here, capsys):
    command, shown = re.findall(r"(geceval score .*?)\n```\n\n```text\n(.*?)```", README, flags=re.DOTALL)[0]
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out == shown
    ((block, shown),) = re.findall(r"```python\n(.*?)```\n.*?prints `(.*?)`", README, flags=re.DOTALL)
    assert len(block.splitlines()) == 5  # three lines, an import and a blank one
    exec(block, {})
    assert capsys.readouterr().out == f"{shown}\n"


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", README):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def agreement() -> dict[str, list[str]]:
    """The table beside the attacks: metric to its cells."""
    (table,) = re.findall(r"<!-- agreement: .*? -->\n(.*?)<!-- end -->", README, flags=re.DOTALL)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[0] == ["metric", "sentences", "systems", "fooled"] and len(rows) <= 12
    return {row[0].replace("`", ""): row[1:] for row in rows[2:]}


def measured() -> dict[str, dict[str, float]]:
    """The demo's leaderboard on SEEDA: metric to values."""
    boards = json.loads((ROOT / "spaces/demo/report.json").read_text(encoding="utf-8"))["boards"]
    return {row["metric"]: row["values"] for board in boards if board["data"] == "seeda" for row in board["rows"]}


def test_cards_show_the_attacks_of_the_leaderboard():
    """Of each metric of quality that reads no references, but a judge whose model is the user's."""
    for name in registry.list_metrics():
        settings = registry.scorer_class(name).correction_settings
        if registry.make_scorer(name, settings).needs_references() or name in ("edit_quality", "llm_judge", "meaning"):
            continue
        card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
        (table,) = re.findall(r"<!-- attacks: .*? -->\n(.*?)<!-- end -->", card, flags=re.DOTALL)
        header, _, first, *_ = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        assert header == ["settings", *HEADLINES[1:]], name
        if values := measured().get(name):
            beaten, ceiling = attacks(values).split(", ")
            assert (first[1], first[2], first[4].split(" ")[0]) == ("static", beaten, ceiling), name
            assert first[-1].startswith(f"{100 * values['attacks flips']:.0f}% ("), name


def test_agreement_is_that_of_the_leaderboard_and_the_guard():
    """Rows of default models are those of the demo's leaderboard, others those of docs/metrics.md and the card."""
    board, guard = measured(), (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    found = agreement()
    assert list(found) == sorted(found, key=lambda name: -float(found[name][0]))
    for row, cells in found.items():
        name, _, model = row.partition(", model=")
        if not model:
            values = board[name]
            figures = [values["sent acc"], values["ts_sent r"]]
            attacked = [", ".join(reversed(attacks(values).split(", ")))] if "attacks beats" in values else [""]
        else:
            line = re.search(rf"\| `{name}`, `{model}` .*\n\|  \| `faithful` \| (\S+) \S+ (\S+)", guard)
            figures = [float(line[1]), float(line[2])]
            card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
            beaten, ceiling = re.search(rf"`model={model}` \| static \| (\d of \d) \|.*?\| (\d+%)", card).groups()
            attacked = [f"{ceiling}, {beaten}"]
        assert cells == [*(f"{value:.3f}".removeprefix("0") for value in figures), *attacked], row


def test_the_command_of_the_table_prints_its_header(tmp_path, monkeypatch, capsys):
    """On sentences of our own, and with metrics that need no network."""
    monkeypatch.chdir(tmp_path)
    docs_corpora.write_all()
    words = shlex.split(OF_THE_TABLE)[1:]
    assert run([*words[: words.index("-m") + 1], "gleu", "m2", "--format", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| metric | accuracy sent | accuracy edit | pearson ts_sent | pearson ts_edit |"
    assert {line.split()[1] for line in lines[2:4]} == {"gleu", "m2"}


def test_length():
    assert len(README.splitlines()) <= 150
