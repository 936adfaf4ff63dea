"""`geceval chunks`: source, correction and references side by side, chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import geceval.cli.options as shared
from geceval.cli.tables import NOTHING, blocks_text, results_json, terminal_colours, terminal_width, write
from geceval.cli.text_files import read_side_by_side
from geceval.core.errors import counted
from geceval.core.options import RunTime
from geceval.core.progress import bar

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.workflows.chunks import ChunkCell, ChunkTable

MARKS = {"hit": "✓", "wrong": "✗", "under": "−", "over": "+", "varies": "?", "changed": "*"}
_COLOURS = {"hit": "green", "wrong": "red", "under": "blue", "over": "magenta", "varies": "yellow", "changed": "bold"}


def chunks(
    texts: shared.SideBySide = None,
    sources: shared.SourceFile = None,
    predictions: shared.PredictionFile = None,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionM2 = None,
    assumption: Annotated[
        Literal["dependent", "independent"],
        typer.Option(help="Compare with one reference at a time, or chunk by chunk with all."),
    ] = "dependent",
    level: Annotated[
        Literal["correction", "detection"],
        typer.Option(help="What must agree: the correction, or only where one is made."),
    ] = "correction",
    line: shared.Lines = None,
    changed: shared.Changed = False,
    nlp: shared.Nlp = "bundled",
    workers: shared.Workers = 1,
    cache: shared.Cache = None,
    form: shared.Page = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Show source, correction and references chunk by chunk.

    Chunks are coloured by what the correction did: hit, wrong, under, over.

    The chunks are those of the metrics cleme and cleme2. With the assumption dependent each reference's cells say what
    the correction did beside it; with independent there is one answer for all, in the correction's cells.

    With texts, which stand without a flag, -r takes one file of one line: -r A -r B; with -s FILE several: -r A B.

    Example: geceval chunks "He go to school ." "He goes to the school ." "He goes to school ."
    """
    from geceval.cli.pages import chunks_page
    from geceval.workflows.chunks import chunk_tables

    shared.no_warnings(quiet)
    form = shared.check_format(form, output, shared.PageFormat)
    left, right, targets = read_side_by_side(
        "chunks", texts or [], sources, predictions, references or [], gold_m2, predictions_m2
    )
    with bar(progress, "chunks"):
        tables = chunk_tables(
            left,
            right,
            targets,
            gold_m2=gold_m2,
            predictions_m2=predictions_m2,
            assumption=assumption,
            level=level,
            lines=line,
            nlp=nlp,
            runtime=RunTime(workers=workers, progress=progress, cache=cache),
        )
    shown = [table for table in tables if any(table.corrected())] if changed else tables
    caption = f"{len(shown):,} of {counted(len(tables), 'sentence')}" if changed else counted(len(tables), "sentence")
    caption += f"; {assumption}, {level}"
    if form == "json":
        text = results_json(assumption=assumption, level=level, sentences=list(map(_to_json, shown)))
    elif form == "html":
        text = chunks_page(shown, caption)
    else:
        text = _to_text(shown, caption, terminal_width(output), terminal_colours(output))
    write(text, output)


def _to_json(table: ChunkTable) -> dict[str, Any]:
    return {
        "line": table.line,
        "chunks": [
            {"start": start, "end": end, "corrected": corrected}
            for (start, end), corrected in zip(table.spans, table.corrected(), strict=True)
        ],
        "rows": [
            {"name": name, "cells": [{"text": c.text, "changed": c.changed, "label": c.label or None} for c in row]}
            for name, row in zip(table.names, table.rows, strict=True)
        ],
    }


def _to_text(tables: Sequence[ChunkTable], caption: str, width: int | None, colours: str | None) -> str:
    from geceval.cli.pages import MEANINGS, used_labels

    blocks = []
    for table in tables:
        columns = [f"sentence {table.line}", *(f"{start}:{end}" for start, end in table.spans)]
        rows = [[(name, ""), *map(_marked, row)] for name, row in zip(table.names, table.rows, strict=True)]
        blocks.append(blocks_text(columns, rows, width, colours))
    legend = [f"{MARKS[label]} {label}: {MEANINGS[label]}" for label in used_labels(tables)]
    return "\n".join([*blocks, *legend, caption, ""])


def _marked(cell: ChunkCell) -> tuple[str, str]:
    return f"{MARKS.get(cell.label, '')} {cell.text or NOTHING}".strip(), _COLOURS.get(cell.label, "")
