"""What the training scripts and `geceval train` say and how they end."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


def exit_code(name: str, run: Callable[[], None]) -> int:
    """Run what a script does; a mistake of its user ends in one line on standard error and the exit code 2."""
    try:
        run()
    except (OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0


def run_script(
    name: str,
    options: argparse.Namespace,
    train: Callable[[], dict[str, Any]],
    summary: Callable[[dict[str, Any]], dict[str, Any]],
    push: Callable[[Path, str, bool], None],
) -> int:
    """What every training script does: train, print a summary as JSON, push if asked; mistakes end in one line.

    Args:
        name: Of the script, for the message.
        options: With those of `geceval.learning.runs.add_recipe_options` and `output`.
        train: Makes the job, trains, and returns the content of `results.json`.
        summary: What of that to print.
        push: Publishes the finished checkpoint: folder, Hub id, whether to only say what would be pushed.

    Returns:
        The exit code.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of transformers and peft about each other
            results = train()
        print(json.dumps(summary(results)))
        if options.push_to_hub:
            push(options.output, options.push_to_hub, options.dry_run)

    return exit_code(name, run)
