"""Results of several systems as a table, JSON, TSV, LaTeX or Markdown."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geceval.cli.shared_options as shared
from geceval.core.files import write_text
from geceval.core.messages import counted
from geceval.core.result import Result
from geceval.scorers.base import Scorer
from geceval.version import __version__

_NO_BREAKS = str.maketrans("\t\n\r", "   ")  # file names may hold them, cells of TSV may not
UNFOLDED = 20  # characters; a narrow table folds longer cells and leaves the others whole


@dataclass(frozen=True, slots=True)
class Row:
    """One system: its rank (ties share one), name, file and results by metric."""

    rank: int
    system: str
    file: str
    results: dict[str, Result]


def rank(results: dict[str, dict[str, Result]], files: dict[str, str], first: Scorer) -> list[Row]:
    """Systems with the best of the first metric first; equal scores share a rank and keep the order given.

    A system whose score is not a number (a judge may fail on every sentence) comes last.

    Args:
        results: System to metric to result.
        files: System to file.
        first: The metric to rank by.
    """
    sign = -1 if first.higher_is_better else 1
    values = {system: sign * by_metric[first.name].score for system, by_metric in results.items()}
    values = {system: math.inf if math.isnan(value) else value for system, value in values.items()}
    ranks = {system: 1 + sum(other < value for other in values.values()) for system, value in values.items()}
    return [Row(ranks[name], name, files[name], results[name]) for name in sorted(results, key=values.__getitem__)]


def render(
    rows: Sequence[Row],
    metrics: Sequence[Scorer],
    form: shared.Format,
    sentences: int,
    by_sentence: bool,
    width: int | None,
) -> str:
    """The whole report as text that ends in a line break.

    Args:
        rows: Ranked systems.
        metrics: What was scored, in the order of the columns.
        form: The format.
        sentences: Length of the corpus.
        by_sentence: One row per system and sentence in place of one row per system.
        width: Width of a table in characters; as wide as needed if `None`.
    """
    if form is shared.Format.json:
        return json.dumps(_to_json(rows, sentences, by_sentence), ensure_ascii=False, indent=2) + "\n"
    columns, cells = _sentence_cells(rows, metrics) if by_sentence else _system_cells(rows, metrics)
    signatures = _signatures(rows, metrics)
    if form in (shared.Format.tsv, shared.Format.csv):
        columns = [*columns, *(f"{metric.name}_signature" for metric in metrics)]
        cells = [[*row, *signatures.values()] for row in cells]
    better = "higher" if metrics[0].higher_is_better else "lower"
    caption = f"{counted(sentences, 'sentence')}, ranked by {metrics[0].name} ({better} is better)"
    return records_text(columns, cells, form, caption, list(signatures.values()), width)


def _signatures(rows: Sequence[Row], metrics: Sequence[Scorer]) -> dict[str, str]:
    """The signature of each metric; it is the same for all systems of one call."""
    return {metric.name: rows[0].results[metric.name].signature for metric in metrics}


def _system_cells(rows: Sequence[Row], metrics: Sequence[Scorer]) -> tuple[list[str], list[list[Any]]]:
    columns = ["rank", "system"]
    cells: list[list[Any]] = [[row.rank, row.system] for row in rows]
    for metric in metrics:
        columns.append(metric.name)
        more = [key for key in ("precision", "recall") if key in rows[0].results[metric.name].details]
        columns += [f"{metric.name}_{key}" for key in more]
        for row, line in zip(rows, cells, strict=True):
            result = row.results[metric.name]
            line += [result.score, *(result.details[key] for key in more)]
    return columns, cells


def _sentence_cells(rows: Sequence[Row], metrics: Sequence[Scorer]) -> tuple[list[str], list[list[Any]]]:
    columns = ["system", "line", *(metric.name for metric in metrics)]
    cells = [
        [row.system, number, *values]
        for row in rows
        for number, values in enumerate(zip(*(row.results[metric.name].scores for metric in metrics), strict=True), 1)
    ]
    return columns, cells


def _to_json(rows: Sequence[Row], sentences: int, by_sentence: bool) -> dict[str, Any]:
    def result(value: Result) -> dict[str, Any]:
        values = value.to_dict()
        if not by_sentence:
            values = {key: item for key, item in values.items() if not isinstance(item, list)}
        return {
            key: [_or_null(each) for each in item] if isinstance(item, list) else _or_null(item)
            for key, item in values.items()
        }

    systems = [
        {
            "rank": row.rank,
            "system": row.system,
            "file": row.file,
            "metrics": {metric: result(value) for metric, value in row.results.items()},
        }
        for row in rows
    ]
    return {"geceval": __version__, "sentences": sentences, "systems": systems}


def records_text(
    columns: Sequence[str],
    cells: Sequence[Sequence[Any]],
    form: shared.Format,
    caption: str = "",
    notes: Sequence[str] = (),
    width: int | None = None,
) -> str:
    """Rows as a table, JSON (caption, rows as objects, notes), TSV, CSV (rows only), LaTeX or Markdown (with notes)."""
    if form is shared.Format.json:
        rows = [dict(zip(columns, map(_or_null, row), strict=True)) for row in cells]
        content = {"geceval": __version__, "caption": caption, "rows": rows, "notes": list(notes)}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    lines = [columns, *([repr(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in cells)]
    if form is shared.Format.csv:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(lines)
        return buffer.getvalue()
    if form is shared.Format.tsv:
        return "".join("\t".join(cell.translate(_NO_BREAKS) for cell in line) + "\n" for line in lines)
    if form is shared.Format.latex:
        return _latex(columns, cells, notes)
    if form is shared.Format.markdown:
        return _markdown(columns, cells, caption, notes)
    return table_text(columns, cells, width, caption, notes)


def show(
    columns: Sequence[str],
    cells: Sequence[Sequence[Any]],
    form: shared.Format,
    output: str | None,
    caption: str = "",
    notes: Sequence[str] = (),
    width: int | None = None,
) -> None:
    """Write rows, see `records_text`, to a file or to standard output, there as wide as the terminal by default."""
    write(records_text(columns, cells, form, caption, notes, width or terminal_width(output)), output)


def terminal_width(output: str | None) -> int | None:
    """Columns of the terminal that a report goes to; `None` if it goes to a file or a pipe."""
    to_terminal = output in (None, "-") and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if to_terminal else None


def check_outputs(*paths: str | None) -> None:
    """Fail before any work is done or any file is written, if one of several files cannot be written.

    Raises:
        OSError: If a path is a folder, or its parent folder does not exist.
    """
    for path in paths:
        if path is None or path == "-":
            continue
        if Path(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def write(text: str, output: str | None) -> None:
    """Write a report to a file at once, or to standard output."""
    if output is None or output == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(output, text)


def _short(cell: Any) -> str:
    if isinstance(cell, float):
        return "–" if math.isnan(cell) else f"{cell:.4f}"
    return str(cell)


def _or_null(cell: Any) -> Any:
    """The cell for JSON, which has no NaN."""
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _latex(columns: Sequence[str], cells: Sequence[Sequence[Any]], notes: Sequence[str]) -> str:
    def escape(text: str) -> str:
        special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
        return "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)

    numeric = [_is_numeric(cells, number) for number in range(len(columns))]
    lines = [f"% {note}" for note in [*notes, r"\usepackage{booktabs}"]]
    lines += [rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in numeric)}}}", r"\toprule"]
    lines += [" & ".join(map(escape, columns)) + r" \\", r"\midrule"]
    lines += [" & ".join(escape(_short(cell)) for cell in row) + r" \\" for row in cells]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _markdown(columns: Sequence[str], cells: Sequence[Sequence[Any]], caption: str, notes: Sequence[str]) -> str:
    def line(texts: Iterable[str]) -> str:
        return f"| {' | '.join(text.translate(_NO_BREAKS).replace('|', '&#124;') for text in texts)} |"

    rule = f"|{'|'.join('---:' if _is_numeric(cells, number) else '---' for number in range(len(columns)))}|"
    lines = [line(columns), rule, *(line(map(_short, row)) for row in cells)]
    below = [text for text in [caption, *(f"`{note}`" for note in notes)] if text]
    return "\n\n".join(["\n".join(lines), *below]) + "\n"


def _is_numeric(cells: Sequence[Sequence[Any]], column: int) -> bool:
    return bool(cells) and all(isinstance(row[column], (int, float)) for row in cells)


def table_text(
    columns: Sequence[str],
    cells: Sequence[Sequence[Any]],
    width: int | None = None,
    caption: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A table as plain text: numbers with four decimals and aligned right, long words folded.

    Args:
        columns: Names of the columns.
        cells: Rows of strings, ints and floats.
        width: Width to fit into, in characters; as wide as needed if `None`.
        caption: A line below the table.
        notes: Further lines below it, never folded.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(columns):
        justify = "right" if _is_numeric(cells, number) else "left"
        longest = max(len(_short(cell)) for cell in [name, *(row[number] for row in cells)])
        least = longest if longest <= UNFOLDED else None
        table.add_column(Text(name), justify=justify, overflow="fold", min_width=least)
    for row in cells:
        table.add_row(*(Text(_short(cell)) for cell in row))
    buffer = io.StringIO()
    Console(file=buffer, width=width or 10_000, color_system=None, legacy_windows=False).print(table)
    lines = [line.rstrip() for line in buffer.getvalue().split("\n") if line.strip()]
    return "\n".join([*lines, *([caption] if caption else []), *notes]) + "\n"
