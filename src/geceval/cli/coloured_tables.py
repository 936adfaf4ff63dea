"""Tables with coloured cells for the terminal, folded to its width."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

_GAP = 3  # between columns


def terminal_colours(output: str | None) -> str | None:
    """The colours of the terminal that a report goes to, see `blocks_text`; none where NO_COLOR is set."""
    from rich.console import Console

    wanted = output in (None, "-") and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Console(file=sys.stdout).color_system if wanted else None


def blocks_text(
    columns: Sequence[str],
    rows: Sequence[Sequence[tuple[str, str]]],
    width: int | None = None,
    colours: str | None = None,
) -> str:
    """A table whose columns, where they are too many, go on in a further table below, behind the first one again."""
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = width or 10_000
    sizes = [max(cell_len(text) for text in (name, *(row[i][0] for row in rows))) for i, name in enumerate(columns)]
    limit = min(max(width // 2, 24), max(width - sizes[0] - 2 * _GAP, 8))  # longer texts are folded
    first, *sizes = [min(size, limit) + _GAP for size in sizes]
    blocks: list[list[int]] = [[]]
    room = width - first
    for index, size in enumerate(sizes, start=1):
        if blocks[-1] and size > room:
            blocks.append([])
            room = width - first
        blocks[-1].append(index)
        room -= size
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=colours is not None, color_system=colours)
    for block in blocks:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for index in (0, *block):
            table.add_column(Text(columns[index]), overflow="fold", max_width=limit)
        for row in rows:
            table.add_row(*(Text(*row[index]) for index in (0, *block)))
        console.print(table)
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n") if line.strip()) + "\n"
