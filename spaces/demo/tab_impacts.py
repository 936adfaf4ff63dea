"""Tab: how much each edit of a correction matters, to the meaning or to a metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

import examples
import geceval
import lanes
import render
import scoring
import sharing
import theme
import wiring
from geceval.edits.edit import Edit
from limits import Refused, polite

EXACT = 8  # edits up to which all subsets are scored
ORDERS = 16  # random orders of more edits
IMPACT = "IMPARA impact"
METHODS = {
    "Shapley value": "shapley",
    "added alone": "add",
    "left out alone": "sub",
}


@polite
@lanes.remembered
def weigh_edits(
    source: str,
    correction: str,
    references: str = "",
    measure: str = IMPACT,
    method: str = "Shapley value",
    tokenise: bool = True,
) -> tuple[str, dict[str, Any]]:
    """Say how much each edit of a correction matters.

    Args:
        source: What the learner wrote.
        correction: What it was corrected to.
        references: Corrections by people, one a line; for metrics that need them.
        measure: `"IMPARA impact"`, or the name of a metric whose gain is divided among the edits.
        method: How to divide it: `"Shapley value"`, `"added alone"` or `"left out alone"`.
        tokenise: Separate punctuation from words first.

    Returns:
        The page, and the same as plain values.
    """
    source, correction, known = scoring.read_correction(source, correction, references, tokenise)
    edits = scoring.edits(source, [correction])[0]
    if not edits:
        raise Refused("There are no edits to weigh: source and correction have the same words.")
    if len(edits) > scoring.MAX_EDITS:
        raise Refused(f"The correction has {len(edits)} edits; this tab weighs {scoring.MAX_EDITS} at most.")
    with scoring.noticing() as warned:
        if measure == IMPACT:
            view, data = _impacts(source, correction, edits)
        else:
            view, data = _attribution(source, correction, known, measure, method)
    return view + (render.block(render.warnings(warned)) if warned else ""), data


def _impacts(source: str, correction: str, edits: Sequence[Edit]) -> tuple[str, dict[str, Any]]:
    values = [value for _, value in geceval.edit_impacts([source], [correction], edits=[edits])[0]]
    view = render.block(
        render.heading("How much each edit changes the meaning"),
        render.weights(source, edits, values),
        render.weight_scale(values),
        render.heading("Impact of each edit"),
        render.bars(
            _labelled(source, edits, values),
            "How far the meaning moves if this edit alone is left out: 1 − cosine of the two sentences",
        ),
        render.fields({"sum of impacts": render.number(sum(values))}),
        render.note("Compare the edits of one sentence only: in a longer one all impacts are smaller (IMPARA, eq. 5)."),
    )
    return view, {"measure": IMPACT, "edits": _plain(edits, values), "sum": sum(values)}


def _attribution(
    source: str, correction: str, references: list[str], measure: str, method: str
) -> tuple[str, dict[str, Any]]:
    _check(measure, method, references)
    found = geceval.attribute(
        measure,
        [source],
        [correction],
        [references] if scoring.needs_references(measure) else None,
        options=scoring.as_typed(measure, source, correction),
        method=METHODS[method],
        max_edits=EXACT,
        permutations=ORDERS,
    )[0]
    edits, values = list(found.edits), list(found.scores)
    view = render.block(
        render.heading(f"What each edit adds to {measure}, or takes away"),
        render.weights(source, edits, values),
        render.weight_scale(values),
        render.heading(f"Share of each edit in the gain of {measure}"),
        render.bars(_labelled(source, edits, values), f"{method}; the shares sum to the gain"),
        render.fields(
            {
                "score of the source": render.number(found.source_score),
                "score of the correction": render.number(found.score),
                "gain": render.number(found.total),
                "sum of shares": render.number(sum(values)),
            }
        ),
        *([render.note(found.note)] if found.note else []),
    )
    data = {
        "measure": measure,
        "method": found.method,
        "edits": _plain(edits, values),
        "source_score": found.source_score,
        "score": found.score,
        "gain": found.total,
        "note": found.note,
        "signature": found.signature,
    }
    return view, data


def _check(measure: str, method: str, references: list[str]) -> None:
    if measure not in scoring.of_one_sentence():
        raise Refused(f"There is no metric called {str(measure)[:40]} here.")
    if method not in METHODS:
        raise Refused(f"Choose one of: {', '.join(METHODS)}.")
    if scoring.needs_references(measure) and not references:
        raise Refused(f"{measure} needs a reference: type one, or choose a metric without references.")


def _labelled(source: str, edits: Sequence[Edit], values: Sequence[float]) -> list[tuple[str, float]]:
    tokens = source.split()
    return [
        (render.edit(" ".join(tokens[edit.start : edit.end]), edit), value)
        for edit, value in zip(edits, values, strict=True)
    ]


def _plain(edits: Sequence[Edit], values: Sequence[float]) -> list[dict[str, Any]]:
    return [{**scoring.plain(edit), "value": value} for edit, value in zip(edits, values, strict=True)]


def build() -> None:
    """Lay out the tab."""
    first = next(iter(examples.IMPACTS.values()))
    boxes = wiring.sentence_boxes(first, "; for metrics that need them")
    chosen = wiring.example_row(examples.IMPACTS, boxes, "impacts")
    with gr.Row(equal_height=False):
        with gr.Column(scale=5, min_width=300):
            for box in boxes:
                box.render()
            measure = gr.Dropdown(
                [(f"{IMPACT}: change of meaning", IMPACT), *scoring.choices(scoring.of_one_sentence())],
                value=IMPACT,
                label="Weigh edits by",
                filterable=False,
            )
            method = gr.Radio(
                list(METHODS), value="Shapley value", label="Divide the gain of a metric by", visible=False
            )
            tokenise = gr.Checkbox(True, label="Separate punctuation from words")
            submit = gr.Button("Weigh", variant="primary", elem_id="impacts-button")
            inputs = [*boxes, measure, method, tokenise]
            sharing.build("impacts", "Edit impacts", inputs)
        with gr.Column(scale=6, min_width=300):
            view, data = theme.answer("impacts", *weigh_edits(*first))

    measure.change(
        lambda name: gr.Radio(visible=name in scoring.of_one_sentence()),
        measure,
        method,
        api_name="impacts_options",
        api_visibility="undocumented",
        queue=False,
    )
    starts = [submit.click, *(box.submit for box in boxes)]
    wiring.connect("impacts", weigh_edits, inputs, [view, data], starts, chosen, "Weigh")
    gr.api(
        weigh_edits,
        api_name="impacts",
        api_description="Say how much each edit of a correction matters.",
        **wiring.QUICK,
    )
