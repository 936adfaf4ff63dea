"""Train IMPARA's objective on a causal language model, from parallel text to an adapter.

    python training/train_impara_lm.py --m2 mine.m2 --output my-impara-lm
    python training/train_impara_lm.py --parallel mine.src mine.trg --init-from HuggingFaceTB/SmolLM2-360M --output mine

The defaults are the recipe of the bundled adapter over "smollm2". Killed and started again with the same arguments, it
goes on where it was. `accelerate launch` or `torchrun` in place of `python` trains on several devices, `--batch-size`
on each.
"""

from __future__ import annotations

import argparse
import sys

from geceval.hub.publish import publish_checkpoint
from geceval.learning.impara_lm.job import RECIPE, Job
from geceval.learning.impara_lm.train import train_impara_lm
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
    add("--impacts-by", help="encoder whose token states give the impact of an edit")
    add("--corrections", type=float, help="share of the pairs that are source and full correction")
    add("--keep-rank", type=int, help="keep the finished adapter at this lower rank")
    add("--gap", type=float, help="difference of ratings that makes a rated pair")
    add("--head-layer", type=int, help="layers after which a head learnt from ratings reads; 0: no head")
    add("--ridge", type=float, help="penalty of that head")
    add_recipe_options(parser, RECIPE, pooling=False, head=False)
    return parse_options(parser, Job, arguments)


def main(arguments: list[str] | None = None) -> int:
    """Train, write the checkpoint with its card, and push it if asked; the exit code."""
    options = parse(arguments)
    return run_script(
        "train_impara_lm",
        options,
        lambda: train_impara_lm(job_from(options, Job, RECIPE), options.output, progress=not options.quiet),
        lambda results: {name: results[name] for name in ("seed", "test", "untrained")},
        publish_checkpoint,
    )


if __name__ == "__main__":
    sys.exit(main())
