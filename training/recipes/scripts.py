"""What the training scripts share: options that are named like the fields of jobs, what is printed, how they end."""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal

from geceval.cli.publish import publish_checkpoint
from geceval.core.errors import UserError
from geceval.learning.recipe import Recipe

SHORT = {"base": "init-from", "learning_rate": "lr", "meaning_base": "meaning-init-from"}
PAIRS = {
    "m2": "M2 files, each a corpus of its own",
    "parallel": "text files, one tokenised sentence per line; ERRANT finds the edits; may be repeated",
    "pairs": "pairs from each corpus, split 8:1:1",
    "attempts": "at most so many pairs from one correction",
    "ratings": "TMU-GFM-Dataset; its rated outputs then help to choose epoch and seed",
    "nlp": "spaCy pipeline for ERRANT",
    "negatives": "for each training pair, pairs of a text and a worse one made of it by rule",
}
RECIPE = {
    "base": "'bundled', 'bundled:NAME', 'smollm2', a folder or a Hub id",
    "learning_rate": "of the optimiser",
    "schedule": "of the learning rate",
    "warmup": "share of the steps in which the rate rises",
    "batch_size": "pairs or sentences a step and process",
    "epochs": "largest number of epochs; the best one is kept",
    "evaluations": "an epoch; each is saved, so that a kill costs less",
    "max_length": "tokens beyond which a text is cut",
    "dtype": "bfloat16: mixed precision",
}
ADAPTER = {
    "lora_rank": "rank of the adapter; 0 tunes all weights",
    "dropout": "while training, in place of the base's",
}
HEAD = {
    "head_deviation": "of the new output layer's weights",
    "freeze_embeddings": "leave the embeddings as they are",
}
POOLING = {
    "pooling": "how the head reads the tokens",
    "pooler": "start of BERT's pooler: the base's, or the identity",
}


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


@dataclass(frozen=True)
class Script:
    """A training script: `helps` explains an option for each field of its job, or of the recipe, that can be set."""

    name: str
    docstring: str
    job: type
    recipe: Recipe
    helps: Mapping[str, str]
    train: Callable[..., dict[str, Any]]
    summary: Callable[[dict[str, Any]], dict[str, Any]]

    def parser(self) -> argparse.ArgumentParser:
        """The options of the job, and those of all scripts."""
        parser = script_parser(self.docstring)
        add = parser.add_argument
        add("--output", type=Path, required=True, help="folder of the checkpoint")
        fields = {field.name: field.default for field in dataclasses.fields(self.job)}
        fields |= dataclasses.asdict(self.recipe)
        hints = typing.get_type_hints(self.job) | typing.get_type_hints(Recipe)
        for name, text in self.helps.items():
            option, default = f"--{SHORT.get(name, name).replace('_', '-')}", fields[name]
            if isinstance(default, tuple):
                default = list(default)  # argparse appends to lists alone
            needed = {"required": True} if default is dataclasses.MISSING else {"default": default}
            add(option, dest=name, help=text, **needed, **_reading(hints[name]))
        add("--seeds", type=int, nargs="+", default=[1], help="one run each; the best is kept")
        add("--push-to-hub", metavar="ORG/NAME", help="push the finished checkpoint")
        add("--dry-run", action="store_true", help="push nothing, only say what would be pushed")
        add("--quiet", action="store_true", help="no progress bars")
        return parser

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Train, write the checkpoint with its card, print a summary as JSON, push if asked; the exit code."""
        options = self.parser().parse_args(arguments)
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

        def run() -> None:
            job = job_from(options, self.job, self.recipe)
            results = self.train(job, options.output, progress=not options.quiet)
            print(json.dumps(self.summary(results)))
            if options.push_to_hub:
                publish_checkpoint(options.output, options.push_to_hub, options.dry_run)

        return exit_code(self.name, run)


def _reading(hint: Any) -> dict[str, Any]:
    """How argparse reads an option of this type."""
    if typing.get_origin(hint) in (typing.Union, UnionType):
        (hint,) = (part for part in typing.get_args(hint) if part is not NoneType)
    inner = typing.get_args(hint)
    if hint is bool:
        return {"action": "store_true"}
    if typing.get_origin(hint) is Literal:
        return {"choices": inner, "type": type(inner[0])}
    if inner and typing.get_args(inner[0]):
        return {"nargs": 2, "action": "append", "type": Path, "metavar": ("SOURCE", "CORRECTED")}
    return {"nargs": "+", "type": inner[0]} if inner else {"type": hint}


def job_from(options: argparse.Namespace, job: type, recipe: Recipe) -> Any:
    """The job that the options of a script describe; they are named like its fields and those of the recipe."""

    def fields_of(dataclass: type) -> dict[str, Any]:
        names = {field.name for field in dataclasses.fields(dataclass)}
        return {name: _as_tuple(value) for name, value in vars(options).items() if name in names}

    return job(**fields_of(job), recipe=dataclasses.replace(recipe, **fields_of(Recipe)))


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
