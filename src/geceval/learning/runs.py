"""The folder of a training run: what it was started with, and what it found.

The finished checkpoint lies at its top. `run/` below it holds what lets a run that was cut off go on; it contains
sentences of the corpora and is never pushed.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError
from geceval.core.files import write_text
from geceval.learning.recipe import DTYPES, SCHEDULES, Recipe


def claim(job: Any, run: Path) -> dict[str, Any]:
    """Write the settings of a new run, or check that those of the run in this folder are the same.

    Args:
        job: A dataclass whose field `recipe` is one too; the recipe's seed is left out, since `seeds` of the job
            replace it. Paths are replaced by their file name and SHA-256.
        run: The folder.

    Returns:
        The settings, the recipe's among them.

    Raises:
        ValueError: If the folder holds another run.
    """
    run.mkdir(parents=True, exist_ok=True)
    settings = {f.name: getattr(job, f.name) for f in dataclasses.fields(job) if f.name != "recipe"}
    recipe = dataclasses.asdict(job.recipe)
    del recipe["seed"]
    settings = json.loads(json.dumps({**settings, **recipe}, default=_identity))
    path = run / "settings.json"
    if not path.is_file():
        write_text(path, json.dumps(settings, indent=2) + "\n")
    elif json.loads(path.read_text(encoding="utf-8")) != settings:
        raise InputError(f"{run.parent}: holds a run with other settings or data; choose another folder or remove it")
    return settings


def _identity(path: Path) -> dict[str, str]:
    """What identifies a file wherever it lies."""
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def keep_results(folder: Path, results: Mapping[str, Any], card: str) -> None:
    """Write the card that is made from the results, then `results.json`, with which a run counts as finished."""
    write_text(folder / "README.md", card)
    write_text(folder / "results.json", json.dumps(results, indent=2) + "\n")


def read_results(folder: Path) -> dict[str, Any]:
    """The content of `results.json`."""
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def add_recipe_options(parser: argparse.ArgumentParser, recipe: Recipe) -> None:
    """Options of a training script that every fine-tuning has; `recipe` gives their defaults."""
    add = parser.add_argument
    add("--init-from", dest="base", default=recipe.base, help="'bundled', 'bundled:NAME', a folder or a Hub id")
    add("--head-deviation", type=float, default=recipe.head_deviation, help="of the new output layer's weights")
    add("--lora-rank", type=int, default=recipe.lora_rank, help="rank of the adapter; 0 tunes all weights")
    add("--freeze-embeddings", action="store_true", help="leave the embeddings as they are")
    add("--dropout", type=float, help="while training, in place of the base's")
    add("--lr", dest="learning_rate", type=float, default=recipe.learning_rate, help="learning rate")
    add("--schedule", choices=SCHEDULES, default=recipe.schedule, help="of the learning rate")
    add("--warmup", type=float, default=recipe.warmup, help="share of the steps in which the rate rises")
    add("--batch-size", type=int, default=recipe.batch_size, help="pairs or sentences a step and process")
    add("--epochs", type=int, default=recipe.epochs, help="at most so many; the best is kept")
    add("--max-length", type=int, default=recipe.max_length, help="word pieces beyond which a text is cut")
    add("--dtype", choices=DTYPES, default=recipe.dtype, help="bfloat16: mixed precision")
    add("--seeds", type=int, nargs="+", default=[1], help="one run each; the best is kept")
    add("--push-to-hub", metavar="ORG/NAME", help="push the finished checkpoint")
    add("--dry-run", action="store_true", help="push nothing, only say what would be pushed")
    add("--quiet", action="store_true", help="no progress bars")


def recipe_from(options: argparse.Namespace, recipe: Recipe) -> Recipe:
    """The recipe with what the options of `add_recipe_options`, and others of its fields, say."""
    fields = {f.name for f in dataclasses.fields(Recipe)}
    return dataclasses.replace(recipe, **{name: value for name, value in vars(options).items() if name in fields})
