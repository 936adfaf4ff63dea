"""`geceval harness`: files with which other engines score by geceval."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

harness = typer.Typer(no_args_is_help=True)


@harness.callback()
def callback() -> None:
    """Score inside other engines."""


@harness.command("lm-eval")
def lm_eval(
    output: Annotated[str, typer.Option("--output", "--out", help="Folder to write.")],
) -> None:
    """Write tasks of lm-evaluation-harness: JFLEG, CoNLL-2014, BEA-2019 development, FCE.

    Example: lm_eval --model hf --model_args pretrained=MODEL --tasks gec --include_path tasks
    """
    from geceval.workflows.harness.lm_eval_tasks import TASKS, write_tasks  # jinja2

    folder = write_tasks(output)[0].parent
    sys.stdout.write(f"{len(TASKS)} tasks in {folder}, all of them: --tasks gec --include_path {folder}\n")
