"""What a training script says, whatever it trains."""

import argparse
from pathlib import Path

import pytest

from geceval.core.errors import InputError
from geceval.learning.impara.job import Job
from geceval.learning.recipe import Recipe
from geceval.learning.scripts import (
    add_pair_options,
    add_recipe_options,
    exit_code,
    job_from,
    parse_options,
    run_script,
    script_parser,
)

OPTIONS = argparse.Namespace(push_to_hub=None)


def push(*_):
    raise AssertionError("nothing was to be pushed")


def test_a_mistake_is_one_line(capsys):
    def train():
        raise InputError("no such thing")

    assert run_script("train_x", OPTIONS, train, dict, push) == 2
    assert capsys.readouterr() == ("", "train_x: no such thing\n")


def test_a_mistake_of_our_own_is_a_traceback():
    with pytest.raises(ValueError, match="not the user's"):
        exit_code("train_x", lambda: (_ for _ in ()).throw(ValueError("not the user's")))


def test_what_is_printed_and_pushed(tmp_path, capsys):
    pushed = []
    options = argparse.Namespace(push_to_hub="ORG/NAME", output=tmp_path, dry_run=True)
    results = {"seed": 1, "history": []}
    run = run_script(
        "train_x", options, lambda: results, lambda found: {"seed": found["seed"]}, lambda *a: pushed.append(a)
    )
    assert (run, capsys.readouterr().out, pushed) == (0, '{"seed": 1}\n', [(tmp_path, "ORG/NAME", True)])


def test_a_script_may_leave_options_out_and_say_more_of_others():
    parser = script_parser("Train.")
    add_recipe_options(parser, Recipe(), adapter=False, helps={"--batch-size": "groups of texts"})
    told = parser.format_help()
    assert "groups of texts" in told and "pairs or sentences" not in told
    assert "--lora-rank" not in told and "--dropout" not in told


def test_options_become_a_job():
    parser = script_parser("Train.")
    add_pair_options(parser)
    recipe = Recipe(learning_rate=0.5)
    add_recipe_options(parser, recipe)
    words = "--output out --parallel a b --parallel c d --pairs 20 --seeds 3 4 --epochs 2 --pooling mean"
    assert job_from(parse_options(parser, Job, words.split()), Job, recipe) == Job(
        parallel=((Path("a"), Path("b")), (Path("c"), Path("d"))),
        pairs=20,
        seeds=(3, 4),
        recipe=Recipe(epochs=2, pooling="mean", learning_rate=0.5),
    )
    bare = parse_options(parser, Job, ["--output", "out", "--m2", "a"])
    assert job_from(bare, Job, recipe) == Job(m2=(Path("a"),), recipe=recipe)
