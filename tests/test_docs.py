"""Every command of the pages in docs/ runs, on corpora of the same form; their tables are those of the code."""

import importlib
import re
import shlex
import shutil
from pathlib import Path

import docs_corpora
import pytest
import test_layers
import typer

from geceval import registry
from geceval.cli.app import PANELS, application, run
from geceval.cli.list_metrics import interval
from geceval.corpora.test_sets import TEST_SETS
from geceval.models import checkpoints

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# Publishing needs a Hub, scale a cluster: tests/hub/test_publish_docs.py, tests/workflows/.
PAGES = sorted(path for path in DOCS.glob("*.md") if path.stem not in ("publishing", "scale"))
# Added to the arguments of a page; of several values the last counts.
QUICK = {"train": ["--pairs", "12", "--epochs", "1", "--quiet"], "doctor": ["--quick"]}
# tests/training trains; the bundled checkpoint of this name stands for what a command of a page makes.
STANDS_FOR = {"impara": "impara", "impara-lm": "impara_lm", "train_ged": "ged"}


def steps(page: Path) -> list[tuple[str, str]]:
    """Each command line of the bash blocks and each Python block, in their order, with its language."""
    found = []
    for language, block in re.findall(r"```(bash|python)\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        lines = block.replace("\\\n", " ").splitlines() if language == "bash" else [block]
        found += [(language, line) for line in lines]
    return found


def launched(words: list[str]) -> tuple[str, list[str]]:
    """The script that a command line starts and its arguments; launchers' own parsers read launchers' options."""
    if words[0] == "python":
        return words[1], words[2:]
    if words[:2] == ["accelerate", "launch"]:
        from accelerate.commands.launch import launch_command_parser

        options = launch_command_parser().parse_args(words[2:])
    else:
        from torch.distributed.run import get_args_parser

        assert words[0] == "torchrun"
        options = get_args_parser().parse_args(words[1:])
    return options.training_script, options.training_script_args


def run_line(line: str, extras: dict[str, list[str]], training: bool) -> int:
    words = [found for word in shlex.split(line) for found in (sorted(map(str, Path().glob(word))) or [word])]
    if words[:2] == ["pip", "install"]:
        assert set(re.search(r"\[(.*)\]", words[-1])[1].split(",")) <= set(extras)
        return 0
    if words[0] == "geceval" and (words[1] != "train" or training):
        arguments = [str(ROOT / word) if word.startswith("spaces/") else word for word in words[1:]]
        code = run([*arguments, *QUICK.get(arguments[0], [])])
        return 0 if arguments[0] == "doctor" and code == 1 else code  # 1 tells of this machine, not of the command
    if words[0] == "geceval":
        name, verb = words[2], typer.main.get_command(application("train")).commands["train"].commands[words[2]]
        output = verb.make_context(name, words[3:]).params["output"]
    else:
        script, arguments = launched(words)
        name = Path(script).stem
        output = importlib.import_module(name).parser().parse_args(arguments).output
    stand_in = checkpoints.ASSETS / STANDS_FOR.get(name, "none")
    if stand_in.is_dir():
        shutil.copytree(stand_in, output)
    return 0


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    """The files that the pages name, with sentences of our own."""
    monkeypatch.chdir(tmp_path)
    docs_corpora.write_all()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    conll14 = docs_corpora.write_conll14(Path("conll14st-test-data/noalt/official-2014.combined.m2"))
    monkeypatch.setitem(TEST_SETS, "conll14", conll14)


@pytest.fixture
def networks(page, tmp_path_factory, make_checkpoint, monkeypatch):
    """Small networks in place of bundled ones: of all where much is trained, else of those not yet there."""
    assets = tmp_path_factory.mktemp("assets")
    docs_corpora.write_networks(assets, checkpoints.ASSETS, make_checkpoint, small=page.stem == "training")
    monkeypatch.setattr(checkpoints, "ASSETS", assets)


SLOW = {"attacks": pytest.mark.slow, "meta-evaluation": pytest.mark.slow}


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem, marks=SLOW.get(page.stem, [])) for page in PAGES])
def test_commands_run(page, corpora, networks, extras, capsys):
    found = steps(page)
    assert found or page.stem == "architecture"
    for language, text in found:
        if language == "python":
            exec(compile(text, page.name, "exec"), {"__name__": "__main__"})
            continue
        code, error = run_line(text, extras, page.stem == "training"), capsys.readouterr().err
        if text.startswith("geceval data build seeda"):  # the published files: tests/corpora/
            assert (code, "but the published file has 6" in error) == (2, True), error
        else:
            assert code == 0, (text, error)


def metric_table() -> str:
    """The table of docs/metrics.md, from what the registry knows."""
    offline, _ = registry.offline_metrics()
    lines = ["| metric | needs | M2 file | range | better | offline | extra |", "|---|---|---|---|---|---|---|"]
    for name in registry.list_metrics():
        scorer = registry.make_scorer(name)
        model = getattr(scorer.settings, "model", None)
        cells = [
            f"[`{name}`](../metrics/{name}/README.md)",
            "source, references" if scorer.needs_references() else "source",
            "yes" if hasattr(scorer.settings, "gold_m2") else "",
            interval(scorer.bounds),
            "higher" if scorer.higher_is_better else "lower",
            "yes" if name in offline else f"with `{model}`" if model else "with a model of yours",
            f"`{scorer.extra}`" if scorer.extra else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_metrics():
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"<!-- metrics: .*? -->\n(.*)<!-- end -->", page, flags=re.DOTALL)
    assert found.rstrip("\n") == metric_table(), f"the table of docs/metrics.md should be:\n{metric_table()}"


def test_every_metric_is_advised_on():
    page = re.sub(r"<!-- metrics.*<!-- end -->", "", (DOCS / "metrics.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert {name for name in registry.list_metrics() if f"`{name}`" not in page} == set()


def verbs(command, words: tuple[str, ...] = ()) -> set[str]:
    """All verbs of the app, those of groups with the name of the group."""
    inner = getattr(command, "commands", {})
    own = {" ".join(words)} if not inner or getattr(command, "invoke_without_command", False) else set()
    return own | {verb for name, each in inner.items() for verb in verbs(each, (*words, name))}


def test_every_verb_is_on_its_page():
    lines = [text for language, text in steps(DOCS / "command-line.md") if language == "bash"]
    commands = [typer.main.get_command(application(name)) for panel in PANELS.values() for name in panel]
    every = set().union(*map(verbs, commands))
    assert {verb for verb in every if not any(f"{line} ".startswith(f"geceval {verb} ") for line in lines)} == set()


def test_the_table_of_rooms():
    """What docs/architecture.md says of imports is what tests/test_layers.py enforces."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- rooms: .*? -->\n(.*)<!-- end -->", page, flags=re.DOTALL)
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.strip().splitlines()[2:]]
    found = {re.search(r"`(.+?)`", row[0])[1]: set(re.findall(r"`(.+?)`", row[2])) for row in rows}
    files = {"version", "__main__"}  # no rooms
    assert found == {room: others - files for room, others in test_layers.ALLOWED.items() if room not in files}


def test_the_places_that_architecture_names_exist():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+\.py|\w[\w/]*/(?:\w+\.\w+)?)(?:: (\w+))?`", page)
    table = page[page.index("| where is …? |") : page.index("## How a sentence pair is scored")].strip().splitlines()
    assert len(table) > 20 and all(re.search(r"`\w[\w/]*/(\w+\.\w+)?(: \w+)?`", row.split("|")[2]) for row in table[2:])
    for path, name in named:
        if "NAME" in path or "VERB" in path:
            continue
        places = [folder / path for folder in (ROOT, ROOT / "src" / "geceval") if (folder / path).exists()]
        assert places, path
        if name:
            text = places[0].read_text(encoding="utf-8")
            assert re.search(rf"^(def|class) {name}\b", text, flags=re.MULTILINE), f"{path}: {name}"


def test_the_tests_that_security_names_exist():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    promises = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(promises) > 10 and all("::test_" in promise.split(" | ")[-1] for promise in promises)
    table = text[text.index("| promise") : text.index("## Not promised")]
    assert all(line.startswith("|") for line in table.splitlines() if line)  # no promise stands beside it
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    for file, function in named:
        assert re.search(rf"^def {function}\(", files[file], flags=re.MULTILINE), f"{file}::{function}"
    for where in [path for line in promises for path in re.findall(r"`([^`]+)`", line.split(" | ")[-2])]:
        assert any((root / where).exists() for root in (ROOT, ROOT / "src/geceval")), where
