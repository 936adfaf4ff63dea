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
from pathlib import Path
from typing import Any

from geceval.hub.publish.push import push_and_print
from geceval.learning.impara.job import Job
from geceval.learning.impara.ranked_pairs import ATTEMPTS, PAIRS
from geceval.learning.impara.train import train_impara
from geceval.learning.recipe import POOLERS, Recipe
from geceval.learning.runs import add_recipe_options, recipe_from
from geceval.learning.scripts import run_script
from geceval.models.heads import POOLINGS


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add, recipe = parser.add_argument, Recipe()
    add("--output", type=Path, required=True, help="folder of the checkpoint")
    add("--m2", type=Path, nargs="+", default=[], help="M2 files, each a corpus of its own")
    add("--train-m2", type=Path, nargs="+", default=[],
        help="M2 files of which nothing is kept for choosing and testing")  # fmt: skip
    add("--parallel", type=Path, nargs=2, action="append", default=[], metavar=("SOURCE", "CORRECTED"),
        help="text files, one tokenised sentence a line; ERRANT finds the edits; may be repeated")  # fmt: skip
    add("--pooling", choices=POOLINGS, default=recipe.pooling, help="how the head reads the tokens")
    add("--pooler", choices=POOLERS, default=recipe.pooler, help="start of BERT's pooler: the base's, or the identity")
    add("--pairs", type=int, default=PAIRS, help="ranked pairs from each corpus, split 8:1:1")
    add("--attempts", type=int, default=ATTEMPTS, help="at most so many pairs from one correction")
    add("--parallel-only", action="store_true", help="the paper's ablation: source against full correction")
    add("--ratings", type=Path, help="TMU-GFM-Dataset; its rated outputs then help to choose epoch and seed")
    add("--nlp", help="spaCy pipeline for ERRANT")
    add("--threshold", type=float, help="of the similarity estimator, written into the checkpoint")
    add("--keep-rank", type=int, default=0, help="keep what tuning all weights changed as an adapter of this rank")
    add("--log-odds", action="store_true", help="scale the logit so that differences are log-odds on the dev fold")
    add_recipe_options(parser, recipe)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Train, write the checkpoint with its card, and push it if asked; the exit code."""
    options = parse(arguments)

    def train() -> dict[str, Any]:
        job = Job(
            m2=tuple(options.m2),
            train_m2=tuple(options.train_m2),
            parallel=tuple(map(tuple, options.parallel)),
            recipe=recipe_from(options, Recipe()),
            seeds=tuple(options.seeds),
            pairs=options.pairs,
            attempts=options.attempts,
            parallel_only=options.parallel_only,
            ratings=options.ratings,
            nlp=options.nlp,
            threshold=options.threshold,
            keep_rank=options.keep_rank,
            log_odds=options.log_odds,
        )
        return train_impara(job, options.output, progress=not options.quiet)

    def summary(results: dict[str, Any]) -> dict[str, Any]:
        return {"seed": results["seed"], "test": results["test"]}

    return run_script("train_impara", options, train, summary, push_and_print)


if __name__ == "__main__":
    sys.exit(main())
