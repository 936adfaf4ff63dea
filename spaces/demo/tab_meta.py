"""Tab: how well metrics agree with people, from a file of numbers that ships with the page."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

import render
from geceval.cli.pages import report_table
from limits import Refused, polite

RESULTS = Path(__file__).with_name("report.json")
COMMAND = "geceval meta report --data SEEDA GJG15 --gold-m2 official-2014.combined.m2 --output spaces/demo/report.json"


@functools.lru_cache
def boards() -> dict[str, dict[str, Any]]:
    """Name of each data set to its report; nothing where this copy of the page has no results."""
    if not RESULTS.is_file():
        return {}
    return {board["name"]: board for board in json.loads(RESULTS.read_text(encoding="utf-8"))["boards"]}


def keys(board: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and key of every column that a report can be ranked by."""
    return [
        (f"{group}: {key.split()[-1]}", key)
        for group, own in board["columns"].items()
        for key in own
        if not key.startswith("attacks") and not key.endswith("ties")
    ]


@polite
def report(data: str, key: str) -> str:
    """The report on one data set.

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
    return (
        f'<div class="gv-wide gv-board" tabindex="0" role="region" aria-label="{render.escape(board["name"])}">'
        f"{render.literal(report_table(board, key))}</div>"
    )


def _signatures(board: Mapping[str, Any]) -> str:
    lines = [row["signature"] for row in board["rows"] if row["signature"]]
    notes = [
        f"{board['name']}: {len(board['systems'])} systems, {board['sentences']:,} sentences, "
        f"{board['judgments']:,} rankings by people. Each cell: what was measured, and below it what a paper reports.",
        "r: Pearson, ρ: Spearman, acc: accuracy on pairs that people ordered, τ: Kendall, ties: share of such pairs "
        "that the metric scores alike. Bold: the best of a column. The signatures say which metrics had a guard.",
    ]
    if any(key.startswith("attacks") for own in board["columns"].values() for key in own):
        notes.append(
            "Attacks by rule (geceval attack), lower is better. beats: share of honest systems that the worst attack "
            "beats; ceiling: highest share of sentences on which an attack is above the references; flips: share of "
            "flips of the meaning that cost nothing."
        )
    if board["not_scored"]:
        notes.append(f"Not scored: {', '.join(board['not_scored'])}.")
    return "".join(map(render.note, notes)) + render.details("Signatures", lines, "gv-code")


def build() -> None:
    """Lay out the tab."""
    names = list(boards())
    if not names:
        gr.HTML(report("", ""), elem_id="meta-view", apply_default_css=False)
        return
    board = boards()[names[0]]
    with gr.Row():
        data = gr.Radio(names, value=names[0], label="People's judgments", min_width=180)
        key = gr.Dropdown(keys(board), value=board["ranked_by"], label="Rank by", filterable=False, min_width=260)
    view = gr.HTML(report(names[0], board["ranked_by"]), elem_id="meta-view", apply_default_css=False)

    def switch(name: str) -> tuple[Any, str]:
        chosen = boards()[name]
        return gr.Dropdown(keys(chosen), value=chosen["ranked_by"]), report(name, chosen["ranked_by"])

    data.input(switch, data, [key, view], api_name="report_data", api_visibility="undocumented")
    key.input(report, [data, key], view, api_name="report", api_description="How well metrics agree with people.")
