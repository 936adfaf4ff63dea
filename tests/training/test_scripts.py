"""What a training script says, whatever it trains, and the job that its options describe."""

import dataclasses
import importlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from geceval.learning.recipe import Recipe
from recipes import scripts
from recipes.scripts import Script, exit_code

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Job:
    """One field of each kind that an option can have."""

    ratings: Path
    m2: tuple[Path, ...] = ()
    parallel: tuple[tuple[Path, Path], ...] = ()
    classes: Literal[2, 4] = 2
    log_odds: bool = False
    limit: int | None = None
    recipe: Recipe = dataclasses.field(default_factory=Recipe)
    seeds: tuple[int, ...] = (1,)


HELPS = dict.fromkeys(("ratings", "m2", "parallel", "classes", "log_odds", "limit"), "what it is") | scripts.RECIPE


def script(train):
    return Script("train_x", "Train.", Job, Recipe(learning_rate=0.5), HELPS, train, lambda results: results)


def ran(*words):
    """The job and the folder of a run with these words on its command line."""
    seen = []
    assert script(lambda job, folder, progress: seen.append((job, folder)) or {}).main(list(words)) == 0
    return seen[0]


def test_options_become_a_job():
    words = "--output out --ratings r --m2 a b --parallel a b --parallel c d --classes 4 --log-odds --seeds 3 4"
    r, a, b, c, d = map(Path, "rabcd")
    options = {"classes": 4, "log_odds": True, "limit": 7, "seeds": (3, 4)}
    recipe = Recipe(base="there", epochs=2, learning_rate=0.5)
    expected = Job(ratings=r, m2=(a, b), parallel=((a, b), (c, d)), recipe=recipe, **options)
    assert ran(*words.split(), "--epochs", "2", "--init-from", "there", "--limit", "7") == (expected, Path("out"))


def test_what_is_not_given_is_as_in_job_and_recipe():
    assert ran("--output", "out", "--ratings", "r")[0] == Job(Path("r"), recipe=Recipe(learning_rate=0.5))


def test_only_what_is_explained_is_an_option():
    told = script(dict).parser().format_help()
    assert "--lr" in told and "(default: 0.5)" in told
    assert "--lora-rank" not in told and "--pooling" not in told


def test_a_mistake_of_our_own_is_a_traceback():
    with pytest.raises(ValueError, match="not the user's"):
        exit_code("train_x", lambda: (_ for _ in ()).throw(ValueError("not the user's")))


def test_what_is_printed_and_pushed(tmp_path, capsys, monkeypatch):
    pushed = []
    monkeypatch.setattr(scripts, "publish_checkpoint", lambda *arguments: pushed.append(arguments))
    options = ["--output", str(tmp_path), "--ratings", "r", "--push-to-hub", "ORG/NAME", "--dry-run"]
    assert script(lambda job, folder, progress: {"seed": 1}).main(options) == 0
    assert (capsys.readouterr().out, pushed) == ('{"seed": 1}\n', [(tmp_path, "ORG/NAME", True)])


def commands_of_the_readme():
    page = (ROOT / "training" / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    command = r"^(?:accelerate launch --num-processes 4|python) training/(\w+)\.py (.*)$"
    lines = re.findall(command, page, flags=re.MULTILINE)
    return [(name, words) for name, words in lines if name.startswith("train_") or name in ("distill", "ged_ablation")]


def test_the_scripts_know_the_options_of_the_readme():
    commands = commands_of_the_readme()
    names = "train_impara train_impara_lm train_ged train_some train_meaning train_gec_example distill ged_ablation"
    assert {name for name, _ in commands} == set(names.split())
    for name, words in commands:
        assert importlib.import_module(name).parser().parse_args(shlex.split(words, comments=True)).output
