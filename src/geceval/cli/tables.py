"""Rows as a table, JSON, TSV, LaTeX or Markdown, and where they are written."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.files import write_text
from geceval.edits.edit import Edit
from geceval.edits.verdict import DOUBTFUL, RIGHT, verdict
from geceval.version import __version__

_NO_BREAKS = str.maketrans("\t\n\r", "   ")  # file names may hold them, cells of TSV may not
_GAP = 3  # between the columns of a coloured table
VERDICT_COLOURS = {"right": "green", "probably right": "yellow", "doubtful": "bold red"}
JUDGE_LEGEND = (
    f"how likely an edit is right, judged without references: {RIGHT:.0%} and more right (green), {DOUBTFUL:.0%} and "
    "more probably right (yellow), less doubtful (red); geceval filter undoes doubtful edits"
)
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""A letter of Hebrew, Arabic or a script like them."""
NOTHING = "∅"
UNFOLDED = 20  # characters; a narrow table folds longer cells and leaves the others whole


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell whose text for people says more, or less, than its value; or parts of a text, each with its colour."""

    value: Any
    text: str = ""
    best: bool = False
    parts: tuple[tuple[str, str], ...] = ()


def records_text(
    columns: Sequence[str],
    cells: Sequence[Sequence[Any]],
    form: str,
    caption: str = "",
    notes: Sequence[str] = (),
    width: int | None = None,
    colours: str | None = None,
) -> str:
    """Rows as a table, JSON (caption, rows as objects, notes), TSV (notes as comments), LaTeX or Markdown."""
    values = [[cell.value if isinstance(cell, Cell) else cell for cell in row] for row in cells]
    if form == "json":
        rows = [dict(zip(columns, row, strict=True)) for row in values]
        return results_json(caption=caption, rows=rows, notes=list(notes))
    lines = [columns, *([repr(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in values)]
    comments = "".join(f"# {note.translate(_NO_BREAKS)}\n" for note in notes)
    if form == "tsv":
        return "".join("\t".join(cell.translate(_NO_BREAKS) for cell in line) + "\n" for line in lines) + comments
    if form == "latex":
        return _latex(columns, cells, notes)
    if form == "markdown":
        return _markdown(columns, cells, caption, notes)
    return table_text(columns, cells, width, caption, notes, colours)


def show(
    columns: Sequence[str],
    cells: Sequence[Sequence[Any]],
    form: str,
    output: str | None,
    caption: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Write rows, see `records_text`, to a file or to standard output, there as wide as the terminal."""
    width, colours = terminal_width(output), terminal_colours(output)
    write(records_text(columns, cells, form, caption, notes, width, colours), output)


def terminal_width(output: str | None) -> int | None:
    """Columns of the terminal that a report goes to; `None` if it goes to a file or a pipe."""
    to_terminal = output in (None, "-") and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if to_terminal else None


def check_outputs(*paths: str | None) -> None:
    """Fail before any work is done or any file is written, if one of several files cannot be written."""
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
    if isinstance(cell, Cell):
        return cell.text or "".join(text for text, _ in cell.parts) or _short(cell.value)
    if isinstance(cell, float):
        return "–" if math.isnan(cell) else f"{cell:.4f}"
    return str(cell)


def json_text(content: Any) -> str:
    """Plain values as JSON for people and programs."""
    return json.dumps(or_null(content), ensure_ascii=False, indent=2) + "\n"


def results_json(**content: Any) -> str:
    """Results as JSON, after the version that computed them."""
    return json_text({"geceval": __version__, **content})


def edit_fields(source: str, edit: Edit) -> dict[str, Any]:
    """An edit as plain values, with the source's text that it replaces."""
    before = " ".join(source.split()[edit.start : edit.end])
    span = {"start": edit.start, "end": edit.end, "source": before}
    return {**span, "correction": edit.correction, "type": edit.type}


def span_text(source: str, edit: Edit) -> str:
    """An edit as `1:2 go → goes`."""
    before = " ".join(source.split()[edit.start : edit.end])
    return f"{edit.start}:{edit.end} {isolated(before) or NOTHING} → {isolated(edit.correction) or NOTHING}"


def or_null(value: Any) -> Any:
    """Plain values for JSON, which has only finite numbers."""
    if isinstance(value, dict):
        return {key: or_null(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [or_null(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _latex(columns: Sequence[str], cells: Sequence[Sequence[Any]], notes: Sequence[str]) -> str:
    def escape(text: str) -> str:
        special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$"}
        return "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)

    def shown(cell: Any) -> str:
        return rf"\textbf{{{escape(_short(cell))}}}" if isinstance(cell, Cell) and cell.best else escape(_short(cell))

    numeric = [_is_numeric(cells, number) for number in range(len(columns))]
    lines = [f"% {note}" for note in [*notes, r"\usepackage{booktabs}"]]
    lines += [rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in numeric)}}}", r"\toprule"]
    lines += [" & ".join(map(escape, columns)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(shown, row)) + r" \\" for row in cells]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _markdown(columns: Sequence[str], cells: Sequence[Sequence[Any]], caption: str, notes: Sequence[str]) -> str:
    def line(texts: Iterable[str]) -> str:
        return f"| {' | '.join(text.translate(_NO_BREAKS).replace('|', '&#124;') for text in texts)} |"

    rule = f"|{'|'.join('---:' if _is_numeric(cells, number) else '---' for number in range(len(columns)))}|"
    lines = [line(columns), rule, *(line(map(_short, row)) for row in cells)]
    below = [text for text in [caption, *(f"`{note}`" for note in notes)] if text]
    return "\n\n".join(["\n".join(lines), *below]) + "\n"


def _is_numeric(cells: Sequence[Sequence[Any]], column: int) -> bool:
    values = [row[column].value if isinstance(row[column], Cell) else row[column] for row in cells]
    return bool(cells) and all(isinstance(value, (int, float)) for value in values)


def table_text(
    columns: Sequence[str],
    cells: Sequence[Sequence[Any]],
    width: int | None = None,
    caption: str = "",
    notes: Sequence[str] = (),
    colours: str | None = None,
) -> str:
    """A table as plain text: numbers with four decimals and aligned right, long words folded.

    Columns for which there is no room go on in a further table below, behind the names of the rows again.
    """
    from rich.cells import cell_len
    from rich.text import Text

    longest = [max(cell_len(_short(cell)) for cell in column) for column in zip(columns, *cells, strict=True)]
    sizes = [min(size, UNFOLDED) + _GAP for size in longest]
    numeric = [_is_numeric(cells, index) for index in range(len(columns))]
    heads = [
        {
            "header": Text(name),
            "justify": "right" if number else "left",
            "min_width": size if size <= UNFOLDED else None,
        }
        for name, number, size in zip(columns, numeric, longest, strict=True)
    ]
    rows = [[Text.assemble(*(getattr(cell, "parts", ()) or [_short(cell)])) for cell in row] for row in cells]
    text = numeric.index(False) if False in numeric else 0  # as the system after its rank
    lead = max(1, next((index for index in range(text, len(columns)) if numeric[index]), 1))
    lines = _lines(heads, rows, sizes, lead, width or 10_000, colours)
    return "\n".join([*lines, *([caption] if caption else []), *notes]) + "\n"


def _lines(
    heads: Sequence[dict[str, Any]],
    rows: Sequence[Sequence[Any]],
    sizes: Sequence[int],
    lead: int,
    width: int,
    colours: str | None,
) -> list[str]:
    """Lines of a table; columns for which there is no room go on below, behind the first `lead` ones again."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    buffer = io.StringIO()
    for block in _blocks(sizes[lead:], width - sum(sizes[:lead])):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        indices = [*range(lead), *(lead + index for index in block)]
        for index in indices:
            table.add_column(**heads[index], overflow="fold")
        for row in rows:
            table.add_row(*(row[index] for index in indices))
        room = max(width, sum(sizes[index] for index in indices))  # else columns would be missing
        console = Console(
            file=buffer, width=room, force_terminal=bool(colours), color_system=colours, legacy_windows=False
        )
        console.print(table)
    return [_in_order(line.rstrip()) for line in buffer.getvalue().split("\n") if line.strip()]


def _blocks(sizes: Sequence[int], width: int) -> list[list[int]]:
    """Indices of columns of these sizes in groups that fit into a width, each of one at least."""
    blocks: list[list[int]] = [[]]
    room = width
    for index, size in enumerate(sizes):
        if blocks[-1] and size > room:
            blocks.append([])
            room = width
        blocks[-1].append(index)
        room -= size
    return blocks


def judged(chance: float, edit: str = "") -> tuple[str, str]:
    """How likely an edit is right, in words after the edit, and the colour for it."""
    word = verdict(chance)
    return f"{edit} ({chance:.0%} {word})" if edit else f"{chance:.0%} {word}", VERDICT_COLOURS[word]


def terminal_colours(output: str | None) -> str | None:
    """The colours of the terminal that a report goes to, see `blocks_text`; none where NO_COLOR is set."""
    from rich.console import Console

    coloured = output in (None, "-") and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Console(file=sys.stdout).color_system if coloured else None


def blocks_text(
    columns: Sequence[str],
    rows: Sequence[Sequence[tuple[str, str]]],
    width: int | None = None,
    colours: str | None = None,
) -> str:
    """A table whose columns, where they are too many, go on in a further table below, behind the first one again."""
    from rich.cells import cell_len
    from rich.text import Text

    width = width or 10_000
    longest = [max(cell_len(text) for text in (name, *(row[i][0] for row in rows))) for i, name in enumerate(columns)]
    limit = min(max(width // 2, 24), max(width - longest[0] - 2 * _GAP, 8))  # longer texts are folded
    sizes = [min(size, limit) + _GAP for size in longest]
    heads = [{"header": Text(name), "max_width": limit} for name in columns]
    cells = [[Text(*cell) for cell in row] for row in rows]
    return "\n".join(_lines(heads, cells, sizes, 1, width, colours)) + "\n"


def isolated(text: str) -> str:
    """A text whose direction, if it is from right to left, does not turn round what stands beside it."""
    return f"\u2068{text}\u2069" if RIGHT_TO_LEFT.search(text) else text


def _in_order(line: str) -> str:
    """A line of a table whose cells, between gaps of two spaces and more, stand from left to right."""
    return "\u200e" + re.sub(r"\S+(?: \S+)*", lambda cell: isolated(cell[0]), line) if isolated(line) != line else line
