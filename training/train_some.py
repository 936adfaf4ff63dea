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

from geceval.hub.publish import publish_checkpoint
from geceval.learning.scripts import add_recipe_options, job_from, parse_options, run_script, script_parser
from geceval.learning.some.job import RECIPE, Job
from geceval.learning.some.train import train_some


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    add("--meaning-init-from", dest="meaning_base", help="start of the meaning regressor; by default that of all")
    add("--dev", type=int, help="outputs in the dev fold")
    add("--test", type=int, help="outputs in the test fold")
    add("--fold-seed", type=int, help="which sources are in which fold")
    add("--head-layer", type=int, help="learn heads alone, over so many layers of a causal model that stays as it is")
    add("--ridge", type=float, nargs="+", help="penalties of these heads; the best is kept")
    add_recipe_options(parser, RECIPE)
    return parse_options(parser, Job, arguments)


def main(arguments: list[str] | None = None) -> int:
    """Train, write the checkpoint with its card, and push it if asked; the exit code."""
    options = parse(arguments)
    return run_script(
        "train_some",
        options,
        lambda: train_some(job_from(options, Job, RECIPE), options.output, progress=not options.quiet),
        lambda results: {name: part["test"] for name, part in results["parts"].items()},
        publish_checkpoint,
    )


if __name__ == "__main__":
    sys.exit(main())
