"""Train the quality estimator of IMPARA from parallel text.

    python training/train_impara.py --m2 mine.m2 --output my-impara
    python training/train_impara.py --parallel mine.src mine.trg --init-from bert-base-cased --output my-impara

The defaults are the paper's recipe: 4,096 ranked pairs from each corpus, learning rate 1e-5, 32 pairs a step, at most
10 epochs of which the best on the dev fold is kept. Killed and started again with the same arguments, it goes on where
it was. `accelerate launch` or `torchrun` in place of `python` trains on several devices, `--batch-size` on each.
"""

from __future__ import annotations

import argparse
import sys

from geceval.hub.publish import publish_checkpoint
from geceval.learning.impara.job import Job
from geceval.learning.impara.train import train_impara
from geceval.learning.recipe import Recipe
from geceval.learning.scripts import (
    add_pair_options,
    add_recipe_options,
    job_from,
    parse_options,
    run_script,
    script_parser,
)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = script_parser(__doc__)
    add_pair_options(parser)
    add = parser.add_argument
    add("--parallel-only", action="store_true", help="the paper's ablation: source against full correction")
    add("--threshold", type=float, help="of the similarity estimator, written into the checkpoint")
    add("--keep-rank", type=int, help="keep what tuning all weights changed as an adapter of this rank")
    add("--log-odds", action="store_true", help="scale the logit so that differences are log-odds on the dev fold")
    add_recipe_options(parser, Recipe())
    return parse_options(parser, Job, arguments)


def main(arguments: list[str] | None = None) -> int:
    """Train, write the checkpoint with its card, and push it if asked; the exit code."""
    options = parse(arguments)
    return run_script(
        "train_impara",
        options,
        lambda: train_impara(job_from(options, Job, Recipe()), options.output, progress=not options.quiet),
        lambda results: {"seed": results["seed"], "test": results["test"]},
        publish_checkpoint,
    )


if __name__ == "__main__":
    sys.exit(main())
