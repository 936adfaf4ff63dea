"""`geceval models`: the checkpoints that have a name, and where each is on this machine."""

import dataclasses
import json
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from geceval.cli.tables import table_text, terminal_width
from geceval.models.origins.gguf import CACHE_VARIABLE
from geceval.models.origins.named import ModelStatus, all_statuses


def models(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the models that `model=` knows by name.

    They are large models, found on this machine or on the Hub, and bundled checkpoints.

    Nothing is fetched, and no weights are loaded. A large model is looked for in the folder that an environment
    variable names, in an installed package, and in the Hub's local cache, in this order.
    """
    entries = list(all_statuses())
    if as_json:
        rows = [{**dataclasses.asdict(entry), "commands": list(entry.commands)} for entry in entries]
        sys.stdout.write(json.dumps(rows, indent=2, default=str) + "\n")
        return
    cells = [
        [
            entry.name,
            f"{entry.where}, unusable" if entry.problem else entry.where,
            _size_text(entry.size),
            entry.licence,
            entry.description,
        ]
        for entry in entries
    ]
    notes = [note for entry in entries for note in _notes(entry)]
    columns = ["model", "found", "size", "licence", "description"]
    sys.stdout.write(table_text(columns, cells, terminal_width(None), notes=notes))


def _notes(entry: ModelStatus) -> Iterator[str]:
    """Lines below the table: only large models have any."""
    if entry.problem:
        yield entry.problem
    elif entry.path and entry.commands:
        yield f"{entry.name}: {entry.path}"
    if entry.copy:
        off = f"; {CACHE_VARIABLE}=FOLDER moves it"
        yield f"{entry.name}: de-quantised copy of {_size_text(entry.copy_size)} in {entry.copy}{off}"
    for command in entry.commands:
        yield f"{entry.name}: to get it: {command}"


def _size_text(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
