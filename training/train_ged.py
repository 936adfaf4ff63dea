"""Train an error detector (GED): a token classifier over the labels of ERRANT edits.

    python training/train_ged.py --m2 mine.m2 --output my-ged
    python training/train_ged.py --train-m2 fce.train.m2 --dev-m2 fce.dev.m2 --test-m2 fce.test.m2 --classes 4 \\
        --init-from google/electra-base-discriminator --output my-ged

The defaults are the recipe of the published detectors: learning rate 3e-5 falling to 0, 32 sentences a step, 5 epochs
of which the best F0.5 on the dev fold is kept. Killed and started again with the same arguments, it goes on where it
was. `accelerate launch` or `torchrun` in place of `python` trains on several devices.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from geceval.edits.ged_labels import FINAL_INSERTIONS, LABELS
from geceval.hub.publish import publish_checkpoint
from geceval.learning.ged.job import RECIPE, Job
from geceval.learning.ged.train import train_ged
from geceval.learning.scripts import add_recipe_options, job_from, parse_options, run_script, script_parser


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--m2", type=Path, nargs="+", help="M2 files to divide 8:1:1 by source")
    add("--train-m2", type=Path, nargs="+", help="M2 files to learn from as a whole")
    add("--dev-m2", type=Path, nargs="+", help="M2 files that choose the epoch")
    add("--test-m2", type=Path, nargs="+", help="M2 files for the final look")
    add("--classes", type=int, choices=sorted(LABELS), help="label scheme")
    add("--final-insertion", choices=FINAL_INSERTIONS, help="of labels: 'lost' as published")
    add("--partial", type=float, help="share of sentences learnt again with some edits made")
    add("--error-weight", type=float, help="weight of a token in an error in the loss")
    add("--limit", type=int, help="at most so many training sentences")
    add_recipe_options(parser, RECIPE, pooling=False)
    return parse_options(parser, Job, arguments)


def main(arguments: list[str] | None = None) -> int:
    """Train, write the checkpoint with its card, and push it if asked; the exit code."""
    options = parse(arguments)
    return run_script(
        "train_ged",
        options,
        lambda: train_ged(job_from(options, Job, RECIPE), options.output, progress=not options.quiet),
        lambda results: {"seed": results["seed"], "test": {name: test["f"] for name, test in results["test"].items()}},
        publish_checkpoint,
    )


if __name__ == "__main__":
    sys.exit(main())
