"""Events of a tab: its button, its examples, typing, and requests of programs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.context import Context

import lanes
import render

QUICK = {"concurrency_id": "quick", "concurrency_limit": lanes.QUICK_WAITING}
LARGE = {"concurrency_id": "large", "concurrency_limit": lanes.LARGE_WAITING}


def in_place(function: Callable[..., tuple[Any, ...]], *blanks: Any) -> Callable[..., tuple[Any, ...]]:
    """An event handler whose errors stand where the result would."""

    @functools.wraps(function)
    def handler(*values: Any, **named: Any) -> tuple[Any, ...]:
        try:
            return function(*values, **named)
        except gr.Error as error:
            return render.problem(error.message), *blanks

    return handler


def sentence_boxes(values: Sequence[str], which: str = "") -> list[gr.Textbox]:
    """Source, correction and references, to be laid out; `which` says more of the references."""
    labels = (
        "Source: what the learner wrote",
        "Correction: what it was corrected to",
        f"References: corrections by people, one a line{which}",
    )
    rows = zip(values, labels, strict=True)
    return [gr.Textbox(value, label=label, lines=2, max_lines=8, render=False) for value, label in rows]


def example_row(rows: dict[str, Sequence[Any]], fields: Sequence[gr.components.Component], name: str) -> Any:
    """Examples by their names, above the fields that they fill; what comes after a click goes to `connect`."""
    row = gr.Examples(
        [list(values) for values in rows.values()],
        list(fields),
        example_labels=list(rows),
        cache_examples=False,
        examples_per_page=len(rows),
        label="Examples",
        elem_id=f"{name}-examples",
        api_name=f"{name}_example",
        api_visibility="undocumented",
    )
    return row.load_input_event


def connect(
    name: str,
    function: Callable[..., tuple[Any, ...]],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    triggers: Sequence[Any],
    chosen: Any,
    verb: str,
    blanks: Sequence[Any] = (None,),
    **options: Any,
) -> list[Any]:
    """The events of a tab, of which those that compute are returned; a result never outlives its input."""
    handler = in_place(function, *blanks)
    named = {"js": _ask(name, len(inputs)), "api_visibility": "undocumented", **(options or QUICK)}
    runs = [
        gr.on(list(triggers), handler, list(inputs), list(outputs), api_name=f"{name}_page", **named),
        chosen.then(handler, list(inputs), list(outputs), api_name=f"{name}_after_example", **named),
    ]
    for run in runs:
        run.then(**_compare(name, inputs, outputs[0], verb, "own.asked = own.next;"))

    Context.root_block.load(None, list(inputs), None, js=_ask(name, len(inputs), "asked"), **SILENT)
    changes = [each.change for each in inputs]
    gr.on(changes, **_compare(name, inputs, outputs[0], verb), trigger_mode="multiple")
    return runs


def check_again(name: str, inputs: Sequence[Any], view: Any, verb: str, late: Any) -> None:
    """Dim what a later part of a run has shown if the input has changed in between."""
    late.then(**_compare(name, inputs, view, verb))


SILENT = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
_OWN = "const own = (window.gvAnswers ??= {{}})[{name}] ??= {{}};"


def _ask(name: str, count: int, field: str = "next") -> str:
    """JavaScript that passes inputs on and remembers what they were."""
    own = _OWN.format(name=json.dumps(name))
    if field == "next":
        own += _SCROLL.format(view=json.dumps(f"{name}-view"))
    return f"(...v) => {{ {own} const now = v.slice(0, {count}); own.{field} = JSON.stringify(now); return now; }}"


_SCROLL = """const view = document.getElementById({view}), top = view?.getBoundingClientRect().top;
    if (top < 0 || top > innerHeight - 200) view.scrollIntoView({{behavior: "smooth"}});"""  # else it is out of sight


def _compare(name: str, inputs: Sequence[Any], view: Any, verb: str, before: str = "") -> dict[str, Any]:
    """An event in the browser that dims a result unless the inputs are those that it was made from."""
    top = json.dumps(render.stale_top(verb))
    js = f"""(page, ...v) => {{
        {_OWN.format(name=json.dumps(name))} {before}
        const changed = JSON.stringify(v.slice(0, {len(inputs)})) !== own.asked, dim = page.startsWith({top});
        if (changed === dim || page.includes("gv-empty")) return [page];
        return [dim ? page.slice({top}.length, -"</div>".length) : {top} + page + "</div>"];
    }}"""
    return {"fn": None, "inputs": [view, *inputs], "outputs": [view], "js": js, **SILENT}
