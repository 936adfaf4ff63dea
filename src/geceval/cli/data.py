"""`geceval data`: data sets of GEC for `datasets.load_dataset`, from the files that their authors publish."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from geceval.cli.tables import table_text, terminal_width
from geceval.corpora.catalogue import DATA_SETS

data = typer.Typer(help="Build data sets for datasets.load_dataset.", no_args_is_help=True)


@data.command("list")
def list_() -> None:
    """List the data sets: where to get each and under which terms."""
    cells = [[name, entry.title, entry.url, entry.terms] for name, entry in DATA_SETS.items()]
    sys.stdout.write(table_text(["name", "data set", "published at", "terms"], cells, terminal_width(None)))


@data.command("build")
def build(
    name: Annotated[str, typer.Argument(help="One of `geceval data list`.")],
    folder: Annotated[str, typer.Option("--from", help="The published files, e.g. a checkout.")],
    output: Annotated[str, typer.Option("--output", "--out", help="Folder to write; it must not exist, or be empty.")],
    gold_m2: Annotated[
        str | None, typer.Option("--gold-m2", help="seeda, gjg15: CoNLL-2014 M2 file, for the references.")
    ] = None,
) -> None:
    """Convert a data set to parquet and a README.

    It is checked that nothing of it is missing.

    Example: geceval data build seeda --from SEEDA --output seeda --gold-m2 official-2014.combined.m2
    """
    from geceval.corpora import build as builder

    configs = builder.build(name, folder, output, gold_m2=gold_m2)
    cells = [[config.name, split, len(rows)] for config in configs for split, rows in config.splits.items()]
    sys.stdout.write(table_text(["config", "split", "rows"], cells, terminal_width(None)))
