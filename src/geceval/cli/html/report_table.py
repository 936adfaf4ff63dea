"""A leaderboard as an HTML table, for the page of `geceval report` and for the demo Space; all text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def leaderboard_table(
    board: Mapping[str, Any],
    ranked_by: str | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    published_only: Iterable[tuple[str, str, Mapping[str, float]]] = (),
) -> str:
    """The measured values of each metric, with a paper's number below each, and the best of each column marked."""
    ranked_by = ranked_by or board["ranked_by"]
    groups = dict(sorted(board["columns"].items(), key=lambda group: ranked_by not in group[1]))
    first = {keys[0] for keys in groups.values()}
    keys = {
        key: f"{'group ' * (key in first)}{'by' * (key == ranked_by)}".strip() for own in groups.values() for key in own
    }
    best = {key: _best(row["values"].get(key) for row in board["rows"]) for key in keys if not key.endswith("ties")}
    lowest = float("-inf")
    rows = sorted(board["rows"], key=lambda row: -(lowest if (v := row["values"].get(ranked_by)) is None else v))
    body = [_measured(row, keys, best, (labels or {}).get(row["metric"], ())) for row in rows]
    others = [
        f'<tr class="paper"><th class="name">{_text(name)}<small>{_text(paper)}</small></th>'
        + "".join(f"<td{_class(kind)}>{_number(values.get(key))}</td>" for key, kind in keys.items())
        + "</tr>"
        for name, paper, values in published_only
    ]
    if others:
        divider = f'<th class="name" colspan="{len(keys) + 1}">Published only: not measured on this page</th>'
        others.insert(0, f'<tr class="divider">{divider}</tr>')
    top = "".join(
        f'<th colspan="{len(own)}" class="group" scope="colgroup">{_text(name)}</th>' for name, own in groups.items()
    )
    names = "".join(
        f'<th{_class(kind)} scope="col"{" aria-sort=descending" * (key == ranked_by)}>{_text(key.split()[-1])}</th>'
        for key, kind in keys.items()
    )
    head = f'<tr><th rowspan="2" class="name" scope="col">metric</th>{top}</tr>\n<tr>{names}</tr>'
    lines = "\n".join([*body, *others])
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{lines}\n</tbody></table>"


def _best(column: Iterable[float | None]) -> float | None:
    values = [value for value in column if value is not None]
    return max(values) if len(values) > 1 else None


def _measured(
    row: Mapping[str, Any], keys: Mapping[str, str], best: Mapping[str, float | None], labels: Sequence[str]
) -> str:
    cells = []
    for key, kind in keys.items():
        value, published = row["values"].get(key), row["published"].get(key)
        shown = _number(value)
        if value is not None and value == best.get(key):
            shown = f'<span class="best">{shown}</span>'
        if published:
            shown += f'<small title="{_text(published["source"])}">{_number(published["value"])}</small>'
        cells.append(f"<td{_class(kind)}>{shown}</td>")
    below = "".join(f"<small>{_text(label)}</small>" for label in labels)
    return f'<tr><th class="name">{_text(row["metric"])}{below}</th>{"".join(cells)}</tr>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _number(value: float | None) -> str:
    """`.763`, without the zero as tables of papers print it; a dash for a missing value."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1).replace("-", "−")


def _text(text: str) -> str:
    return html.escape(text)
