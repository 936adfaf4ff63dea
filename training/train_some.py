"""Train the three regressors of SOME on human ratings of corrections.

    python training/train_some.py --ratings tmu-gfm-dataset.csv --init-from bert-base-cased --output my-some

They learn grammaticality, fluency and meaning one after the other, and end in one folder for
`geceval.load("some", model="my-some")`. Killed and started again with the same arguments, it goes on where it was.
`accelerate launch` or `torchrun` in place of `python` trains on several devices.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from geceval.hub.publish.push import push_and_print
from geceval.learning.recipe import POOLERS
from geceval.learning.runs import add_recipe_options, recipe_from
from geceval.learning.scripts import run_script
from geceval.learning.some.job import RECIPE, Job
from geceval.learning.some.train import train_some
from geceval.models.heads import POOLINGS


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--output", type=Path, required=True, help="folder of the checkpoint")
    add("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    add("--meaning-init-from", dest="meaning_base", help="start of the meaning regressor; by default that of all")
    add("--pooling", choices=POOLINGS, default=RECIPE.pooling, help="how the heads read the tokens")
    add("--pooler", choices=POOLERS, default=RECIPE.pooler, help="start of BERT's pooler: the base's, or the identity")
    add("--dev", type=int, default=422, help="outputs in the dev fold")
    add("--test", type=int, default=423, help="outputs in the test fold")
    add("--fold-seed", type=int, default=1, help="which sources are in which fold")
    add_recipe_options(parser, RECIPE)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Train, write the checkpoint with its card, and push it if asked; the exit code."""
    options = parse(arguments)

    def train() -> dict[str, Any]:
        job = Job(
            ratings=options.ratings,
            recipe=recipe_from(options, RECIPE),
            meaning_base=options.meaning_base,
            seeds=tuple(options.seeds),
            dev=options.dev,
            test=options.test,
            fold_seed=options.fold_seed,
        )
        return train_some(job, options.output, progress=not options.quiet)

    def summary(results: dict[str, Any]) -> dict[str, Any]:
        return {name: {"seed": part["seed"], **part["test"]} for name, part in results["parts"].items()}

    return run_script("train_some", options, train, summary, push_and_print)


if __name__ == "__main__":
    sys.exit(main())
