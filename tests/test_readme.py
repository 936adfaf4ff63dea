"""The README says what is true: its commands run, its Python runs, its table is that of the registry."""

import contextlib
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import docs_corpora
import pytest

import geceval
from geceval import registry
from geceval.cli.app import run
from geceval.cli.attack import HEADLINES
from geceval.cli.list_metrics import interval
from geceval.core.files import ASSETS
from geceval.models.origins.named import DERIVED_MODELS
from geceval.workflows.attack import HONEST

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
BLOCKS = re.findall(r"```bash\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]
OF_THE_TABLE = next(line for line in COMMANDS if line.startswith("geceval meta "))


def metric_table() -> str:
    """The table of the README, from what the registry knows."""
    lines = ["| metric | what it says | needs | agrees | attacks | range | extra |", "|---|---|---|---:|---|---|---|"]
    agrees = {name: row["sent acc"] for name, row in measured().items()}
    beaten = {name: attacks(row) for name, row in measured().items() if "attacks beats" in row}
    agrees |= {name: float(cells[0]) for name, cells in agreement().items()}
    for name in registry.list_metrics():
        scorer = registry.make_scorer(name)
        needs = "source, references" if scorer.needs_references() else "source"
        arrow = "↑" if scorer.higher_is_better else "↓"
        cells = [
            f"[`{name}`](metrics/{name}/README.md)",
            scorer.description.removesuffix("."),
            needs,
            f"{agrees[name]:.3f}" if name in agrees else "",
            beaten.get(name, ""),
            f"{interval(scorer.bounds)} {arrow}",
            f"`{scorer.extra}`" if scorer.extra else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def attacks(values: dict[str, float]) -> str:
    """What attacks by rule do to a metric, from the demo's leaderboard."""
    return f"{len(HONEST) * values['attacks beats']:.0f} of {len(HONEST)}, {100 * values['attacks ceiling']:.0f}%"


def test_the_table_of_metrics():
    (found,) = re.findall(r"<!-- metrics: .*? -->\n(.*)<!-- end -->", README, flags=re.DOTALL)
    assert found.rstrip("\n") == metric_table(), f"the table of the README should be:\n{metric_table()}"


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("geceval ") and line != OF_THE_TABLE])
def test_commands_run(command, tmp_path, monkeypatch, capsys):
    shutil.copytree(EXAMPLE, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    words = shlex.split(command, comments=True)[1:]
    arguments = [str(path) for word in words for path in (sorted(Path().glob(word)) if "*" in word else [word])]
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out or (tmp_path / "here" / "gold.m2").is_file()


def test_python_prints_what_stands_below_it():
    ((block, shown),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, flags=re.DOTALL)
    assert len(block.splitlines()) <= 8  # six lines, an import and a blank one
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block, {})
    assert printed.getvalue() == shown


def test_the_command_prints_the_table_below_it(tmp_path, monkeypatch, capsys):
    ((command, shown),) = re.findall(r"```bash\n(geceval score .*?)\n```\n\n```text\n(.*?)```", README, flags=re.DOTALL)
    shutil.copytree(EXAMPLE, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    assert run(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(shown)
    below = printed.removeprefix(shown).splitlines()
    assert all("|geceval:" in line or line.startswith("impara_guarded: ") for line in below)


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", README):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def agreement() -> dict[str, list[str]]:
    """The table of the first screen: metric to its cells."""
    (table,) = re.findall(r"<!-- agreement: .*? -->\n(.*?)<!-- end -->", README, flags=re.DOTALL)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[0] == ["metric", "accuracy sent", "accuracy edit", "pearson ts_sent", "pearson ts_edit"]
    return {row[0]: row[1:] for row in rows[2:]}


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


def test_agreement_is_that_of_the_leaderboard():
    """Where the demo's leaderboard has the metric, it holds the same measurement with more digits."""
    board, found = measured(), agreement()
    assert {"errant", "gleu", "impara", "impara_ged", "m2", "some"} <= board.keys() & found.keys()
    for name in board.keys() & found.keys():
        keys = ("sent acc", "edit acc", "ts_sent r", "ts_edit r")
        assert found[name] == [f"{board[name][key]:.4f}" for key in keys], name
    assert list(found) == sorted(found, key=lambda name: -float(found[name][0]))
    with_model = [name.split(", ") for name in found if ", " in name]
    assert sorted(found.keys() - set(map(", ".join, with_model))) == sorted(OF_THE_TABLE.split("-m ")[1].split())
    for name, model in with_model:
        assert found[f"{name}, {model}"] == [f"{value:.4f}" for value in on_the_card(model.strip("`"))]


def on_the_card(model: str) -> list[float]:
    """What a bundled checkpoint has on SEEDA: accuracies and Pearson of TrueSkill, each by sentence and by edit."""
    results = json.loads((ASSETS / DERIVED_MODELS[model] / "results.json").read_text(encoding="utf-8"))
    table = next(each for each in results["evaluations"] if each["title"].startswith("Agreement with people on seeda"))
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return [row[column] for column in ("sentence accuracy", "Pearson of TrueSkill") for row in rows]


def test_the_command_of_the_table_prints_its_header(tmp_path, monkeypatch, capsys):
    """On sentences of our own, and with metrics that need no network."""
    monkeypatch.chdir(tmp_path)
    docs_corpora.write_all()
    words = shlex.split(OF_THE_TABLE)[1:]
    assert run([*words[: words.index("-m") + 1], "gleu", "m2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| metric | accuracy sent | accuracy edit | pearson ts_sent | pearson ts_edit |"
    assert {line.split()[1] for line in lines[2:4]} == {"gleu", "m2"}


def test_one_screen():
    prose = re.sub(r"<!-- (metrics|agreement).*?<!-- end -->", "", README, flags=re.DOTALL)
    assert len(prose.splitlines()) <= 120
