"""Tab: how well metrics agree with people, from a file of numbers that ships with the page."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

import render
from guard import Refused, polite

RESULTS = Path(__file__).with_name("leaderboard.json")
COMMAND = "geceval report --data SEEDA GJG15 --gold-m2 official-2014.combined.m2 --output spaces/demo/leaderboard.json"


@functools.lru_cache
def boards() -> dict[str, dict[str, Any]]:
    """Name of each data set to its leaderboard; nothing where this copy of the page has no results."""
    if not RESULTS.is_file():
        return {}
    return {board["name"]: board for board in json.loads(RESULTS.read_text(encoding="utf-8"))["boards"]}


def keys(board: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and key of every column that a leaderboard can be ranked by."""
    return [
        (f"{group}: {key.split()[-1]}", key)
        for group, own in board["columns"].items()
        for key in own
        if not key.endswith("ties")
    ]


@polite
def leaderboard(data: str, key: str) -> str:
    """The leaderboard of one data set.

    Args:
        data: Name of the data set.
        key: The column to rank by; another than those of the data set stands for its own ranking.

    Returns:
        The page.
    """
    if not boards():
        return render.empty(f"This copy of the page has no results. They are made by: {COMMAND}")
    if data not in boards():
        raise Refused(f"There are results on {' and '.join(boards())} only.")
    board = boards()[data]
    known = [value for _, value in keys(board)]
    key = key if key in known else board["ranked_by"]
    return render.block(_table(board, key), _signatures(board))


def _table(board: Mapping[str, Any], key: str) -> str:
    columns = [(group, own) for group, group_keys in board["columns"].items() for own in group_keys]
    best = {
        own: max((row["values"][own] for row in board["rows"] if row["values"].get(own) is not None), default=None)
        for _, own in columns
    }
    ranked = sorted(board["rows"], key=lambda row: -_value(row["values"].get(key)))
    groups_row = "".join(
        f'<th scope="colgroup" colspan="{len(own)}" class="gv-group">{render.escape(group)}</th>'
        for group, own in board["columns"].items()
    )
    first = {own[0] for own in board["columns"].values()}
    names = "".join(
        f'<th scope="col" class="{"gv-group " if own in first else ""}{"gv-by" if own == key else ""}"'
        f"{' aria-sort=descending' if own == key else ''}>{render.escape(own.split()[-1])}</th>"
        for _, own in columns
    )
    body = "".join(_row(row, columns, first, key, best) for row in ranked)
    return (
        f'<div class="gv-wide" tabindex="0" role="region" aria-label="{render.escape(board["name"])}">'
        f'<table class="gv-board">'
        f'<thead><tr><th rowspan="2" scope="col" class="gv-left">metric</th>{groups_row}</tr><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _value(value: float | None) -> float:
    return float("-inf") if value is None else value


def _row(
    row: Mapping[str, Any], columns: list[tuple[str, str]], first: set[str], key: str, best: Mapping[str, float | None]
) -> str:
    cells = []
    for _, own in columns:
        value, published = row["values"].get(own), row["published"].get(own)
        shown = render.number(value, 3)
        if value is not None and value == best[own] and not own.endswith("ties"):
            shown = f"<strong>{shown}</strong>"
        below = ""
        if published:
            source = render.escape(published["source"])
            below = f'<small title="{source}">{render.number(published["value"], 3)}</small>'
        kind = f"{'gv-group ' if own in first else ''}{'gv-by' if own == key else ''}"
        cells.append(f'<td class="{kind}">{shown}{below}</td>')
    return f'<tr><th scope="row" class="gv-left">{render.escape(row["metric"])}</th>{"".join(cells)}</tr>'


def _signatures(board: Mapping[str, Any]) -> str:
    lines = "".join(f"<li>{render.escape(row['signature'])}</li>" for row in board["rows"] if row["signature"])
    shown = f'<details><summary>Signatures</summary><ul class="gv-code">{lines}</ul></details>' if lines else ""
    notes = [
        f"{board['name']}: {len(board['systems'])} systems, {board['sentences']:,} sentences, "
        f"{board['judgments']:,} rankings by people. Each cell: what was measured, and below it what a paper reports.",
        "r: Pearson, ρ: Spearman, acc: accuracy on pairs that people ordered, τ: Kendall.",
    ]
    if board["not_scored"]:
        notes.append(f"Not scored: {', '.join(board['not_scored'])}.")
    return "".join(map(render.note, notes)) + shown


def build() -> None:
    """Lay out the tab."""
    names = list(boards())
    if not names:
        gr.HTML(leaderboard("", ""), elem_id="meta-view", apply_default_css=False)
        return
    board = boards()[names[0]]
    with gr.Row():
        data = gr.Radio(names, value=names[0], label="People's judgments")
        key = gr.Dropdown(keys(board), value=board["ranked_by"], label="Rank by", filterable=False)
    view = gr.HTML(leaderboard(names[0], board["ranked_by"]), elem_id="meta-view", apply_default_css=False)

    def switch(name: str) -> tuple[Any, str]:
        chosen = boards()[name]
        return gr.Dropdown(keys(chosen), value=chosen["ranked_by"]), leaderboard(name, chosen["ranked_by"])

    data.input(switch, data, [key, view], api_name="leaderboard_data", api_visibility="undocumented")
    key.input(
        leaderboard, [data, key], view, api_name="leaderboard", api_description="How well metrics agree with people."
    )
