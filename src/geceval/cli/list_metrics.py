"""`geceval list`: the available metrics."""

import sys
import textwrap
from typing import Annotated

import typer

from geceval import registry
from geceval.cli.tables import json_text, table_text, terminal_width
from geceval.hub.folders import module_folder


def list_(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the metrics: what each needs, direction and range."""
    scorers = [registry.make_scorer(name) for name in registry.list_metrics()]
    if as_json:
        values = [
            {
                "name": scorer.name,
                "description": scorer.description,
                "extra": scorer.extra,
                "references": scorer.needs_references(),
                "higher_is_better": scorer.higher_is_better,
                "bounds": scorer.bounds,
                "folder": str(module_folder(scorer.name)),
            }
            for scorer in scorers
        ]
        sys.stdout.write(json_text(values))
        return
    columns = ["metric", "needs", "extra", "better", "range", "description"]
    cells = [
        [
            scorer.name,
            "references" if scorer.needs_references() else "source only",
            scorer.extra or "-",
            "higher" if scorer.higher_is_better else "lower",
            interval(scorer.bounds),
            scorer.description,
        ]
        for scorer in scorers
    ]
    width, notes = terminal_width(None), []
    if width is not None and width < max(map(len, table_text(columns, cells).splitlines())):  # one line a metric
        notes = [f"3 columns hidden ({', '.join(columns[2:5])}): a wider terminal or --json shows them"]
        name, needs = (max(len(row[number]) for row in cells) for number in (0, 1))
        room = width - name - needs - 8
        room = room if room > 20 else max(width - name - 6, 20)  # in a table of their own, below
        columns = [*columns[:2], columns[5]]
        cells = [[*row[:2], textwrap.shorten(row[5], room, placeholder=" …")] for row in cells]
    sys.stdout.write(table_text(columns, cells, width, notes=notes))


def interval(bounds: tuple[float | None, float | None]) -> str:
    """Bounds as text: `[0, 1]`, or `(-inf, 1]` where the lower end is open."""
    low, high = bounds
    return f"{'(-inf' if low is None else f'[{low:g}'}, {'inf)' if high is None else f'{high:g}]'}"
