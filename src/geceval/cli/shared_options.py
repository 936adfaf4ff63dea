"""Options that several verbs take, each declared once.

`--option KEY=VALUE` is a setting of a metric and `--output` a file or folder to write, in every verb. Their short form
`-o` is the former in verbs that score, and the latter in those that only make something: convert, train, report.
"""

from __future__ import annotations

import enum
import logging
import os
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from geceval.core.errors import InputError

Kind = TypeVar("Kind", bound=enum.Enum)


class Format(str, enum.Enum):
    """How results are written."""

    table = "table"
    json = "json"
    tsv = "tsv"
    csv = "csv"
    latex = "latex"
    markdown = "markdown"


SUFFIXES = {".json": "json", ".tsv": "tsv", ".csv": "csv", ".tex": "latex", ".md": "markdown", ".html": "html"}
"""How the name of an output ends, and the format that it stands for."""

PLAIN = ("", ".txt", ".log", ".out")
"""Endings that promise no format."""

FORMAT_VARIABLE = "GECEVAL_FORMAT"


class PageFormat(str, enum.Enum):
    """How sentences side by side are written."""

    table = "table"
    json = "json"
    html = "html"


Metrics = Annotated[list[str], typer.Option("-m", "--metrics", help="One or more of `geceval list`.")]
Sources = Annotated[str, typer.Option("-s", "--sources", help="What the learners wrote, one sentence per line.")]
Predictions = Annotated[
    list[str], typer.Option("-p", "--predictions", help="One file per system, or a folder of them.")
]
References = Annotated[
    list[str] | None, typer.Option("-r", "--references", help="One file per annotator; a blank line is no reference.")
]
GoldM2 = Annotated[
    str | None, typer.Option("--gold-m2", "--refs-m2", help="M2 file of the gold edits, in place of -r.")
]
PredictionsM2 = Annotated[
    list[str] | None,
    typer.Option("--predictions-m2", help="M2 file of each system's edits, in the order of -p (cleme, errant, ...)."),
]
SideBySide = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SOURCE CORRECTION REFERENCE...]", help="A sentence, its correction, references."),
]
SourceFile = Annotated[
    str | None, typer.Option("-s", "--sources", help="File, one sentence per line; by default that of an M2 file.")
]
PredictionFile = Annotated[str | None, typer.Option("-p", "--predictions", help="File, its corrections.")]
PredictionM2 = Annotated[
    str | None, typer.Option("--predictions-m2", help="M2 file of the system's own edits; -p can be left out.")
]
Lines = Annotated[list[int] | None, typer.Option(help="Show only these sentences, counted from 1.")]
ConllM2 = Annotated[
    str | None,
    typer.Option("--gold-m2", help="CoNLL-2014 M2 file: edits for m2, corrected texts for errant and others."),
]
MetricOptions = Annotated[
    list[str] | None, typer.Option("-o", "--option", metavar="[METRIC.]KEY=VALUE", help="Any option of the metrics.")
]
OneMetricOptions = Annotated[
    list[str] | None, typer.Option("-o", "--option", metavar="KEY=VALUE", help="Any option of the metric.")
]
Cache = Annotated[
    str | None, typer.Option(help="Folder that keeps edits and answers of networks for later; or set GECEVAL_CACHE.")
]
Nlp = Annotated[str, typer.Option(help="spaCy pipeline for ERRANT: bundled, official, a name or a folder.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes that parse sentences.")]
Device = Annotated[str, typer.Option(help="auto, cpu, mps, cuda:0, ... or several: cuda:0,cuda:1.")]
BatchSize = Annotated[int, typer.Option(help="Sentences per batch.")]
Form = Annotated[
    Format | None,
    typer.Option(
        "--format", help="How to write it; by default as --output ends, else as GECEVAL_FORMAT says, or table."
    ),
]
Page = Annotated[
    PageFormat | None, typer.Option("--format", help="How to write it; by default as --output ends, or table.")
]
Output = Annotated[str | None, typer.Option(help="File to write, in place of standard output.")]
Width = Annotated[int | None, typer.Option(min=20, help="Columns of a table.")]
Progress = Annotated[bool, typer.Option("--progress", help="Show progress on standard error.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No warnings.")]


def no_warnings(quiet: bool) -> None:
    """What `--quiet` does."""
    if quiet:
        logging.getLogger("geceval").setLevel(logging.ERROR)


def check_page(output: str, *endings: str, advice: str = "") -> None:
    """Check that the name of a page does not promise another format."""
    if Path(output).suffix.lower() not in endings:
        raise InputError(f"{output}: this is a page, whose name ends in {' or '.join(endings)}{advice}")


def chosen_format(form: Kind | None, output: str | None, kinds: type[Kind]) -> Kind:
    """The format to write: the one given, that of the output's name, that of the environment, or the first."""
    names = [kind.value for kind in kinds]
    suffix = Path(output or "").suffix.lower()
    ending = SUFFIXES.get(suffix)
    if form is not None or ending in names:
        return form or kinds(ending)
    name = os.environ.get(FORMAT_VARIABLE) if kinds is Format else None
    if ending is not None or (suffix not in PLAIN and not name):
        what = ending or suffix
        raise InputError(f"{output}: {what} is not written here, only {', '.join(names)}; --format says which")
    if name and name not in names:
        raise InputError(f"{FORMAT_VARIABLE} is {name!r}, which is none of {', '.join(names)}")
    return kinds(name or names[0])
