"""Tab: one correction under any metrics, with its edits marked."""

from __future__ import annotations

import logging
import time
from typing import Any

import gradio as gr

import examples
import look
import render
import scoring
from geceval.core.errors import UserError
from geceval.core.result import Result
from geceval.edits.edit import Edit
from guard import Refused, polite

logger = logging.getLogger("geceval.demo")

WAITING = "Scores and marked edits will stand here."


@polite
def score_correction(
    source: str,
    correction: str,
    references: str,
    metrics: list[str],
    tokenise: bool,
    large: list[str] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Score one correction of one sentence.

    Args:
        source: What the learner wrote.
        correction: What it was corrected to.
        references: Corrections by people, one a line; may be empty.
        metrics: Names of metrics.
        tokenise: Separate punctuation from words first.
        large: Names of metrics that read the large model.

    Returns:
        The page, and the same as plain values.
    """
    source, correction, known = scoring.read_correction(source, correction, references, tokenise)
    names = list(dict.fromkeys([*(metrics or []), *(large or [])]))
    if not names:
        raise Refused("Choose at least one metric.")
    changed = scoring.edits(source, [correction, *known])
    results, missing, seconds = _score_all(names, source, correction, known)
    view = render.block(
        render.heading("Edits"),
        _edits_view(source, changed[0], changed[1:]),
        render.heading("Scores"),
        _scores_view(results, missing),
        _times_view(seconds),
        _references_view(source, changed[1:]),
    )
    return view, _data(source, correction, known, changed, results, missing)


def _score_all(
    names: list[str], source: str, correction: str, references: list[str]
) -> tuple[dict[str, Result], dict[str, str], dict[str, float]]:
    """Results, reasons why there is none, and seconds, each by metric."""
    results, missing, seconds = {}, {}, {}
    for name in names:
        if name not in (*scoring.of_one_sentence(), *scoring.large_metrics()):
            raise Refused(f"There is no metric called {name[:40]} here.")
        if scoring.needs_references(name) and not references:
            missing[name] = "needs a reference"
            continue
        start = time.perf_counter()
        try:
            results[name] = scoring.score(name, source, correction, references)
        except (UserError, ImportError) as error:
            logger.warning("%s: %s", name, error)
            missing[name] = "not available here"
        else:
            seconds[name] = time.perf_counter() - start
    return results, missing, seconds


def _matched(edits: list[Edit], references: list[list[Edit]]) -> list[bool] | None:
    """Which edits some reference has too, by span and correction."""
    if not references:
        return None
    known = {(edit.start, edit.end, edit.correction) for row in references for edit in row}
    return [(edit.start, edit.end, edit.correction) in known for edit in edits]


def _edits_view(source: str, edits: list[Edit], references: list[list[Edit]]) -> str:
    marked = render.diff(source, edits, _matched(edits, references))
    if not edits:
        return marked + render.note("Nothing was changed.")
    small = "✓ a reference makes this very edit, ✗ none does." if references else ""
    return marked + render.legend() + (render.note(small) if small else "")


def _references_view(source: str, references: list[list[Edit]]) -> str:
    if not references:
        return ""
    title = "Edits of the reference" if len(references) == 1 else "Edits of the references"
    return render.heading(title) + "".join(render.diff(source, row) for row in references)


def _scores_view(results: dict[str, Result], missing: dict[str, str]) -> str:
    rows = []
    for name, result in results.items():
        bounds = scoring.bounds(name)
        extra = [
            f"{key[0].upper()} {render.number(result.details[key], 2)}"
            for key in ("precision", "recall")
            if isinstance(result.details.get(key), float)
        ]
        title = render.escape(scoring.description(name))
        rows.append(
            [
                f'<span title="{title}">{render.escape(name)}</span>',
                f"<strong>{render.number(result.score)}</strong>",
                render.gauge(result.score, bounds),
                render.escape(scoring.range_text(name)),
                render.escape("  ".join(extra)),
            ]
        )
    rows += [
        [render.escape(name), "–", "", "", f"<em>{render.escape(reason)}</em>"] for name, reason in missing.items()
    ]
    return render.table(["metric", "score", "", "range", ""], rows, "Scores of this sentence; ↑ higher is better")


def _times_view(seconds: dict[str, float]) -> str:
    """What each metric cost, the model's loading included where it was the first to ask."""
    each = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
    return render.note(f"Seconds, loading included: {each}") if seconds else ""


def _data(
    source: str,
    correction: str,
    references: list[str],
    changed: list[list[Edit]],
    results: dict[str, Result],
    missing: dict[str, str],
) -> dict[str, Any]:
    return {
        "source": source,
        "correction": correction,
        "references": references,
        "edits": list(map(scoring.plain, changed[0])),
        "reference_edits": [list(map(scoring.plain, row)) for row in changed[1:]],
        "scores": {name: {"score": result.score, "signature": result.signature} for name, result in results.items()},
        "not_scored": missing,
    }


def build() -> None:
    """Lay out the tab."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=5, min_width=300):
            source = gr.Textbox(
                label="Source",
                info="What the learner wrote.",
                lines=2,
                max_lines=6,
                placeholder="She have lived in Lisbon since three years.",
            )
            correction = gr.Textbox(label="Correction", info="What it was corrected to.", lines=2, max_lines=6)
            references = gr.Textbox(
                label="References", info="Corrections by people, one a line; optional.", lines=2, max_lines=8
            )
            metrics = gr.CheckboxGroup(
                scoring.choices(scoring.of_one_sentence()),
                value=list(scoring.DEFAULTS),
                label="Metrics",
                info="Those marked “references” need at least one.",
            )
            large = scoring.large_group()
            tokenise = gr.Checkbox(
                True, label="Separate punctuation from words", info="Metrics compare what stands between spaces."
            )
            with gr.Row():
                clear = gr.Button("Clear", min_width=80)
                submit = gr.Button("Score", variant="primary", elem_id="score-button", min_width=120)
        with gr.Column(scale=6, min_width=300):
            view, data = look.answer("score", WAITING)
    inputs, outputs = [source, correction, references, metrics, tokenise, large], [view, data]
    gr.Examples(
        examples.SCORE,
        [source, correction, references],
        cache_examples=False,
        examples_per_page=10,
        label="Examples",
        api_visibility="undocumented",
    )
    gr.on(
        [submit.click, source.submit, correction.submit, references.submit],
        score_correction,
        inputs,
        outputs,
        api_name="score",
        api_description="Score one correction of one sentence.",
        concurrency_id="quick",
        concurrency_limit=1,
    )
    clear.click(
        lambda: ("", "", "", render.empty(WAITING), None),
        None,
        [source, correction, references, *outputs],
        api_name="score_clear",
        api_visibility="undocumented",
        queue=False,
    )
