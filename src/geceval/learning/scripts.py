"""What the training scripts share: their options, what they print, and how they end."""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.core.errors import UserError
from geceval.learning.recipe import DTYPES, POOLERS, SCHEDULES, Recipe
from geceval.models.pooling import POOLINGS


def exit_code(name: str, run: Callable[[], Any]) -> int:
    """Run a script's main function; a mistake of the user gives one line on standard error and the exit code 2."""
    try:
        run()
    except (OSError, UserError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0


def script_parser(docstring: str) -> argparse.ArgumentParser:
    """A parser with the first line of a script's docstring as its description and defaults in its help."""
    return argparse.ArgumentParser(
        description=docstring.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )


def parse_options(
    parser: argparse.ArgumentParser, job: type, arguments: Sequence[str] | None = None
) -> argparse.Namespace:
    """Read the command line; an option that is not given is what the job has by default."""
    defaults = {field.name: field.default for field in dataclasses.fields(job) if field.name != "recipe"}
    parser.set_defaults(
        **{
            name: list(value) if isinstance(value, tuple) else value  # argparse appends to lists alone
            for name, value in defaults.items()
            if value is not dataclasses.MISSING
        }
    )
    return parser.parse_args(arguments)


def add_pair_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a script that learns from ranked pairs, named like the fields of `PairJob`."""
    add = parser.add_argument
    add("--m2", type=Path, nargs="+", help="M2 files, each a corpus of its own")
    add("--train-m2", type=Path, nargs="+", help="M2 files of which nothing is kept for choosing and testing")
    add("--parallel", type=Path, nargs=2, action="append", metavar=("SOURCE", "CORRECTED"),
        help="text files, one tokenised sentence per line; ERRANT finds the edits; may be repeated")  # fmt: skip
    add("--pairs", type=int, help="pairs from each corpus, split 8:1:1")
    add("--attempts", type=int, help="at most so many pairs from one correction")
    add("--ratings", type=Path, help="TMU-GFM-Dataset; its rated outputs then help to choose epoch and seed")
    add("--nlp", help="spaCy pipeline for ERRANT")


def add_recipe_options(
    parser: argparse.ArgumentParser,
    recipe: Recipe,
    pooling: bool = True,
    head: bool = True,
    adapter: bool = True,
    helps: Mapping[str, str] | None = None,
) -> None:
    """Add the options that every training script has."""

    def add(option: str, **settings: Any) -> None:
        settings["help"] = (helps or {}).get(option, settings["help"])
        parser.add_argument(option, **settings)

    add("--output", type=Path, required=True, help="folder of the checkpoint")
    add(
        "--init-from",
        dest="base",
        default=recipe.base,
        help="'bundled', 'bundled:NAME', 'smollm2', a folder or a Hub id",
    )
    if pooling:
        add("--pooling", choices=POOLINGS, default=recipe.pooling, help="how the head reads the tokens")
        add(
            "--pooler",
            choices=POOLERS,
            default=recipe.pooler,
            help="start of BERT's pooler: the base's, or the identity",
        )
    if head:
        add("--head-deviation", type=float, default=recipe.head_deviation, help="of the new output layer's weights")
        add("--layers", type=int, help="keep only so many of the base's lowest layers")
        add("--freeze-embeddings", action="store_true", help="leave the embeddings as they are")
    if adapter:
        add("--lora-rank", type=int, default=recipe.lora_rank, help="rank of the adapter; 0 tunes all weights")
        add("--dropout", type=float, help="while training, in place of the base's")
    add("--lr", dest="learning_rate", type=float, default=recipe.learning_rate, help="learning rate")
    add("--schedule", choices=SCHEDULES, default=recipe.schedule, help="of the learning rate")
    add("--warmup", type=float, default=recipe.warmup, help="share of the steps in which the rate rises")
    add("--batch-size", type=int, default=recipe.batch_size, help="pairs or sentences a step and process")
    add("--epochs", type=int, default=recipe.epochs, help="largest number of epochs; the best one is kept")
    add(
        "--evaluations", type=int, default=recipe.evaluations, help="an epoch; each is saved, so that a kill costs less"
    )
    add("--max-length", type=int, default=recipe.max_length, help="tokens beyond which a text is cut")
    add("--dtype", choices=DTYPES, default=recipe.dtype, help="bfloat16: mixed precision")
    add("--seeds", type=int, nargs="+", help="one run each; the best is kept")
    add("--push-to-hub", metavar="ORG/NAME", help="push the finished checkpoint")
    add("--dry-run", action="store_true", help="push nothing, only say what would be pushed")
    add("--quiet", action="store_true", help="no progress bars")


def job_from(options: argparse.Namespace, job: type, recipe: Recipe) -> Any:
    """The job that the options of a script describe; they are named like its fields and those of the recipe."""

    def given(dataclass: type) -> dict[str, Any]:
        names = {f.name for f in dataclasses.fields(dataclass)}
        return {name: _as_tuple(value) for name, value in vars(options).items() if name in names}

    return job(**given(job), recipe=dataclasses.replace(recipe, **given(Recipe)))


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def run_script(
    name: str,
    options: argparse.Namespace,
    train: Callable[[], dict[str, Any]],
    summary: Callable[[dict[str, Any]], dict[str, Any]],
    push: Callable[[Path, str, bool], None],
) -> int:
    """What every training script does: train, print a summary as JSON, push if requested."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

    def run() -> None:
        print(json.dumps(summary(train())))
        if options.push_to_hub:
            push(options.output, options.push_to_hub, options.dry_run)

    return exit_code(name, run)
