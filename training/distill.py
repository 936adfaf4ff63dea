"""Distil IMPARA-LM: a small language model learns from a large one's scores of corrected and corrupted sentences.

    python training/distill.py --m2 mine.m2 --scores scores --output my-student
    python training/distill.py --m2 mine.m2 --sentences news.txt --init-from my-impara-lm --layers 12 --output mine

The teacher scores all texts first; the scores serve students of any size. Killed and started again with the same
arguments, it goes on where it was. `accelerate launch` or `torchrun` in place of `python` trains on several devices,
`--batch-size` groups of texts on each.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from geceval.hub.publish import publish_checkpoint
from geceval.learning.distillation.job import RECIPE, Job
from geceval.learning.distillation.train import distill
from geceval.learning.scripts import add_recipe_options, job_from, parse_options, run_script, script_parser

HELPS = {
    "--init-from": "the teacher: 'smollm2-impara', a folder or a Hub id of an IMPARA-LM",
    "--batch-size": "groups of texts a step and process",
    "--max-length": "tokens beyond which a text is left out",
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--m2", type=Path, nargs="+", help="M2 files: sources, corrections, and the errors that people make")
    add("--sentences", type=Path, nargs="+", help="files with a tokenised sentence a line, errors are added")
    add(
        "--scores", type=Path, help="folder of the teacher's scores, for several students; by default OUTPUT/run/scores"
    )
    add("--texts", type=int, help="distinct texts that the teacher scores; as many more as fill 256 groups")
    add("--errors", type=int, help="texts of each group with errors of other sentences")
    add("--top", type=int, help="likeliest next tokens of the teacher that are kept")
    add("--held", type=int, help="groups that are kept apart to measure agreement with the teacher")
    add("--layers", type=int, help="layers of the teacher that the student has, the first ones")
    add(
        "--vocabulary",
        type=int,
        help="tokens of the teacher that the student has, the most frequent ones",
    )
    add("--bits", type=int, choices=(4, 8), help="of a weight in the student's file")
    add(
        "--weights",
        type=float,
        nargs=3,
        metavar=("TOKENS", "DIFFERENCES", "ORDER"),
        help="of the three losses; without tokens, the student is no language model",
    )
    add("--ratings", type=Path, help="TMU-GFM-Dataset; its rated outputs then help to choose evaluation and seed")
    add("--gap", type=float, help="difference of ratings that makes a rated pair")
    add("--ridge", type=float, help="penalty of the head that learns from them")
    add_recipe_options(parser, RECIPE, pooling=False, head=False, adapter=False, helps=HELPS)
    return parse_options(parser, Job, arguments)


def main(arguments: list[str] | None = None) -> int:
    """Distil, write the student with its card, and push it if asked; the exit code."""
    options = parse(arguments)
    return run_script(
        "distill",
        options,
        lambda: distill(job_from(options, Job, RECIPE), options.output, options.scores, progress=not options.quiet),
        lambda results: {name: results[name] for name in ("seed", "data")},
        publish_checkpoint,
    )


if __name__ == "__main__":
    sys.exit(main())
