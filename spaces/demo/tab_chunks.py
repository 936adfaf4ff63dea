"""Tab: source, correction and references side by side, chunk by chunk, as CLEME compares them."""

from __future__ import annotations

from typing import Any

import gradio as gr

import examples
import lanes
import render
import scoring
import theme
import wiring
from geceval.cli.pages import chunk_legend, chunk_table
from geceval.workflows.chunks import chunk_tables
from limits import Refused, polite

ASSUMPTIONS = {"one reference at a time": "dependent", "all references together": "independent"}


@polite
@lanes.remembered
def show_chunks(
    source: str, correction: str, references: str, compare_with: str = next(iter(ASSUMPTIONS)), tokenise: bool = True
) -> tuple[str, dict[str, Any]]:
    """Cut a sentence at all edits of a correction and its references, and say what became of each chunk.

    Args:
        source: What the learner wrote.
        correction: What it was corrected to.
        references: Corrections by people, one a line.
        compare_with: `"one reference at a time"` or `"all references together"`.
        tokenise: Separate punctuation from words first.

    Returns:
        The page, and the same as plain values.
    """
    if compare_with not in ASSUMPTIONS:
        raise Refused(f"Choose one of: {', '.join(ASSUMPTIONS)}.")
    source, correction, known = scoring.read_correction(source, correction, references, tokenise)
    if not known:
        raise Refused("Type a reference: chunks are compared with what people corrected.")
    assumption = ASSUMPTIONS[compare_with]
    [table] = chunk_tables([source], [correction], [known], assumption=assumption)
    view = render.block(
        render.heading("Chunks, cut where the correction or a reference has an edit"),
        render.literal(chunk_table(table)),
        render.literal(chunk_legend([table])) or render.note("Nobody changes anything."),
        render.note(
            "Above each chunk: where it starts and ends in the source, in words. ∅: no word. The metrics cleme and "
            "cleme2 count these chunks."
        ),
    )
    data = {
        "assumption": assumption,
        "chunks": [list(span) for span in table.spans],
        "rows": [
            {"name": name, "cells": [{"text": cell.text, "label": cell.label or None} for cell in row]}
            for name, row in zip(table.names, table.rows, strict=True)
        ],
    }
    return view, data


def build() -> None:
    """Lay out the tab; the result lies below, for tables are wide."""
    first = next(iter(examples.CHUNKS.values()))
    boxes = source, correction, references = wiring.sentence_boxes(first)
    chosen = wiring.example_row(examples.CHUNKS, boxes, "chunks")
    with gr.Row(equal_height=False):
        with gr.Column(scale=5, min_width=300):
            source.render()
            correction.render()
        with gr.Column(scale=5, min_width=300):
            references.render()
            compare_with = gr.Radio(list(ASSUMPTIONS), value=next(iter(ASSUMPTIONS)), label="Compare with")
            tokenise = gr.Checkbox(True, label="Separate punctuation from words")
            submit = gr.Button("Show", variant="primary", elem_id="chunks-button")
    view, data = theme.answer("chunks", *show_chunks(*first))
    inputs = [*boxes, compare_with, tokenise]
    starts = [submit.click, *(box.submit for box in boxes)]
    wiring.connect("chunks", show_chunks, inputs, [view, data], starts, chosen, "Show")
    gr.api(
        show_chunks,
        api_name="chunks",
        api_description="Show source, correction and references side by side, chunk by chunk.",
        **wiring.QUICK,
    )
