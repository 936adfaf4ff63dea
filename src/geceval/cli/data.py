"""`geceval data`: test sets by name, and data sets for `datasets.load_dataset`, from the files that authors publish."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from geceval.cli.tables import check_outputs, table_text, terminal_width, write
from geceval.core.errors import InputError
from geceval.corpora import test_sets
from geceval.corpora.catalogue import DATA_SETS

data = typer.Typer(no_args_is_help=True)


@data.callback()
def callback() -> None:
    """Find test sets, and build data sets for datasets.load_dataset."""


@data.command("list")
def list_() -> None:
    """List the test sets that `score -t` takes and whether they are here, and the data sets that `build` converts."""
    here, sets = test_sets.files_below(test_sets.folders()), test_sets.TEST_SETS
    cells = [[name, it.title, it.sentences, it.metric, _where(name, here), it.data.terms] for name, it in sets.items()]
    name = f"{test_sets.MULTIGEC}LANGUAGE-CORPUS"
    about, present = test_sets.entry(name), test_sets.essays((), here)
    row = [name, "MultiGEC-2025", "", about.metric, "yes" if present else "no"]
    cells.append([*row, about.data.terms])
    columns = ["test set", "texts", "sentences", "metric", "here", "terms"]
    sys.stdout.write(table_text(columns, cells, terminal_width(None)) + "\n")
    cells = [[name, entry.title, entry.url, entry.terms] for name, entry in DATA_SETS.items()]
    sys.stdout.write(table_text(["name", "data set", "published at", "terms"], cells, terminal_width(None)))


def _where(name: str, files: Mapping[Path, int]) -> str:
    """Whether the files of a test set are on this machine."""
    try:
        return "yes" if test_sets.find(name, files) else ""
    except InputError:
        about = test_sets.entry(name)
        return "to submit" if about.gold == "hidden" else "on the Hub" if about.hub else "no"


@data.command("add")
def add(
    name: Annotated[str, typer.Argument(help="A test set of `geceval data list`.")],
    path: Annotated[str, typer.Argument(help="The folder with its files, at any depth, or the file.")],
) -> None:
    """Say once where the files of a test set are; they are checked, and found from then on."""
    paths = test_sets.remember(name, path)
    sys.stdout.write("".join(f"{name}: {role} is {file}\n" for role, file in paths.items()))


@data.command("sources")
def sources(
    name: Annotated[str, typer.Argument(help="A test set of `geceval data list`.")],
    output: Annotated[str | None, typer.Option("--output", "--out", help="File to write.")] = None,
) -> None:
    """Print the sources of a test set, one sentence per line: what a system is to correct."""
    check_outputs(output)
    write("".join(f"{line}\n" for line in test_sets.load(name)["sources"]), output)


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
