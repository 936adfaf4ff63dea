"""Tab: one correction under any metrics, with its edits marked."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import gradio as gr

import examples
import lanes
import render
import score_views
import scoring
import sharing
import theme
import wiring
from geceval.core.errors import UserError
from geceval.core.result import Result
from geceval.edits.edit import Edit
from limits import Refused, polite

logger = logging.getLogger("geceval.demo")

WAITING = "Scores and marked edits will stand here."


@polite
def score_correction(
    source: str,
    correction: str,
    references: str = "",
    metrics: Sequence[str] = scoring.DEFAULTS,
    tokenise: bool = True,
    language: str = "en",
) -> tuple[str, dict[str, Any]]:
    """Score one correction of one sentence; for metrics of the large model see `/score_large`.

    Args:
        source: What the learner wrote.
        correction: What it was corrected to.
        references: Corrections by people, one a line; may be empty.
        metrics: Names of metrics.
        tokenise: Separate punctuation from words first.
        language: Whose edits are extracted: `"en"`, `"ru"`, `"zh"` (Chinese, by character) or `"any"`.

    Returns:
        The page, and the same as plain values.
    """
    names = _names(metrics)
    slow = [name for name in names if name in scoring.large_metrics()]
    if slow:
        raise Refused(f"{slow[0]} reads the large model: ask /score_large, which waits for nobody but its like.")
    return _scored(source, correction, references, names, tokenise, language)


@polite
def score_large(
    source: str,
    correction: str,
    references: str = "",
    metrics: Sequence[str] = scoring.large_metrics(),
    tokenise: bool = True,
    language: str = "en",
) -> tuple[str, dict[str, Any]]:
    """As `score_correction`, with metrics of the large model too."""
    return _scored(source, correction, references, _names(metrics), tokenise, language)


@polite
def score_quick_first(
    source: str,
    correction: str,
    references: str,
    alone: list[str],
    compared: list[str],
    large: list[str],
    tokenise: bool,
    language: str = "en",
) -> tuple[Any, ...]:
    """Answer the button: the quick metrics at once, and a ticket for those of the large model."""
    quick = [*(alone or []), *(compared or [])]
    names = _names([*quick, *(large or [])])
    view, data = _scored(source, correction, references, quick, tokenise, language)
    if not large:
        return view, data, gr.skip(), ""
    ticket = (source, correction, references, names, tokenise, language, time.time())
    return view, data, ticket, render.note(f"Waiting for the large model: {', '.join(large)}.")


@polite
def score_ticket(ticket: Sequence[Any] | None) -> tuple[Any, Any, str]:
    """All metrics of a ticket; what the quick ones said is remembered. Without one there is nothing to add."""
    if ticket is None:
        return gr.skip(), gr.skip(), ""
    *values, _ = ticket
    return *_scored(*values), ""


def _names(metrics: Any) -> list[str]:
    return scoring.check_metrics(metrics, (*scoring.of_one_sentence(), *scoring.large_metrics()))


def _scored(
    source: str, correction: str, references: str, names: Sequence[str], tokenise: bool, language: str = "en"
) -> tuple[str, dict[str, Any]]:
    source, correction, known = scoring.read_correction(source, correction, references, tokenise, language)
    marked = lanes.quick.submit(_judged, source, [correction, *known], language)
    answers, missing = _score_all(names, source, correction, known, language)
    before, _ = _score_all([name for name in answers if scoring.judges_texts(name)], source, source, known, language)
    results = {name: answer.result for name, answer in answers.items()}
    sources = {name: answer.result for name, answer in before.items()}
    changed, chances = marked.result()
    view = render.block(
        score_views.verdict(results, sources, bool(changed[0])),
        render.heading("Edits"),
        score_views.edits(source, changed[0], changed[1:], chances),
        *([render.heading("Scores"), score_views.guard(results)] if names else []),
        score_views.scores(results, sources, missing) if names else "",
        score_views.doubts(answers),
        score_views.times(answers),
        score_views.references(source, changed[1:]),
    )
    data = {
        "source": source,
        "correction": correction,
        "references": known,
        "edits": list(map(scoring.plain, changed[0])),
        "right": chances,
        "reference_edits": [list(map(scoring.plain, row)) for row in changed[1:]],
        "scores": {name: _plain(result) for name, result in results.items()},
        "source_scores": {name: result.score for name, result in sources.items()},
        "not_scored": missing,
    }
    return view, data


def _judged(source: str, corrected: Sequence[str], language: str) -> tuple[list[list[Edit]], list[float] | None]:
    """The edits of each corrected text, and how likely those of the first are right."""
    rows = scoring.edits(source, corrected, language)
    return rows, scoring.chances(source, rows[0], language)


def _score_all(
    names: Sequence[str], source: str, correction: str, references: list[str], language: str
) -> tuple[dict[str, lanes.Answer], dict[str, str]]:
    """Answers, and reasons why there is none, each by metric."""
    other = "does not know this language" if language != "en" else ""
    missing = {name: other for name in names if other and not scoring.takes_language(name)}
    missing |= {name: "needs a reference" for name in names if scoring.needs_references(name) and not references}
    waiting = {
        name: lanes.lane(name).score(lanes.Request(name, source, correction, tuple(references), language))
        for name in names
        if name not in missing
    }
    answers = {}
    for name, future in waiting.items():
        try:
            answers[name] = future.result()
        except (UserError, ImportError) as error:
            logger.warning("%s: %s", name, error)
            missing[name] = "not available here"
    return answers, missing


def _plain(result: Result) -> dict[str, Any]:
    """Score and signature; of a score that the guard lowered, the reason and the score without it, too."""
    plain: dict[str, Any] = {"score": result.score, "signature": result.signature}
    if result.details.get("guarded"):
        plain["guard_reason"] = result.details["guard_reasons"][0]
        plain["unguarded_score"] = result.details["unguarded_scores"][0]
    return plain


def build() -> None:
    """Lay out the tab: the result beside the sentence and the choice of metrics."""
    first = next(iter(examples.SCORE.values()))
    score_correction(*first)  # loads the models, so that the time it takes is no visitor's
    boxes = wiring.sentence_boxes(first, "; optional")
    chosen = wiring.example_row(examples.SCORE, boxes, "score")
    with gr.Row(equal_height=False):
        with gr.Column(scale=5, min_width=300):
            for box in boxes:
                box.render()
            groups = scoring.metric_groups(scoring.of_one_sentence(), brief=True)
            tokenise = gr.Checkbox(
                True, label="Separate punctuation from words", info="Metrics compare what stands between spaces."
            )
            language = gr.Radio(
                list(scoring.LANGUAGES.items()),
                value="en",
                label="Language",
                info="In other languages, only metrics that compare edits work.",
            )
            with gr.Row(elem_classes="gv-start"):
                clear = gr.Button("Clear", min_width=80)
                submit = gr.Button("Score", variant="primary", elem_id="score-button", min_width=120)
            inputs = [*boxes, *groups, tokenise, language]
            sharing.build("score", "Score a correction", inputs)
        with gr.Column(scale=6, min_width=300):
            view, data = theme.answer("score", *score_correction(*first))
            waiting = gr.HTML("", elem_id="score-waiting", apply_default_css=False)
    ticket = gr.State()
    starts = [submit.click, *(box.submit for box in boxes)]
    outputs = [view, data, ticket, waiting]
    wiring.connect("score", score_quick_first, inputs, outputs, starts, chosen, "Score", (None, None, ""))
    late = ticket.change(
        wiring.in_place(score_ticket, None, ""),
        ticket,
        [view, data, waiting],
        api_name="score_ticket",
        api_visibility="undocumented",
        show_progress_on=waiting,
        **wiring.LARGE,
    )
    wiring.check_again("score", inputs, view, "Score", late)
    gr.on([*starts, clear.click], None, cancels=[late], api_visibility="private")
    chosen.then(None, cancels=[late], api_visibility="private")
    clear.click(
        lambda: ("", "", "", render.empty(WAITING), None, ""),
        None,
        [*boxes, view, data, waiting],
        api_name="score_clear",
        api_visibility="undocumented",
        queue=False,
    )
    gr.api(score_correction, api_name="score", api_description="Score one correction of one sentence.", **wiring.QUICK)
    gr.api(score_large, api_name="score_large", api_description="The same, with the large model.", **wiring.LARGE)
