"""Tab: which words of sentences a detector takes for errors."""

from __future__ import annotations

from typing import Any

import gradio as gr

import examples
import geceval
import lanes
import render
import scoring
import theme
import wiring
from geceval.core.files import split_lines
from limits import MAX_CHARACTERS, Refused, check_flag, check_text, polite

MAX_SENTENCES = 20
MODELS = {
    kind: (model, classes)
    for kind, model, classes, asset in [
        ("errors", "bundled", 2, "ged"),
        ("error types", "bundled:ged_25", 25, "ged_25"),
    ]
    if (scoring.ASSETS / asset).is_dir()
}
QUALITY = {"errors": (54, 34), "error types": (59, 27)}
"""Precision and recall of each model in percent, on ABCN.dev.gold.bea19.m2, as its card has them."""


@polite
@lanes.remembered
def detect_errors(
    text: str, kind: str = "errors", threshold: float = 0.5, tokenise: bool = True
) -> tuple[str, list[dict[str, Any]]]:
    """Say of each word how likely it is to be wrong.

    Args:
        text: Sentences, one a line.
        kind: `"errors"`, or `"error types"` for their types.
        threshold: Probability from which a word counts as an error, in [0, 1].
        tokenise: Separate punctuation from words first.

    Returns:
        The page, and one entry per sentence with its words.
    """
    if kind not in MODELS:
        raise Refused(f"Choose one of: {', '.join(MODELS)}.")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise Refused("The threshold must be a number between 0 and 1.")
    sentences = _sentences(text)
    if check_flag("whether to separate punctuation", tokenise):
        sentences = [scoring.separated(sentence, "en") for sentence in sentences]
    model, classes = MODELS[kind]
    with scoring.noticing() as warned:
        rows = geceval.detect(sentences, model=model, classes=classes, threshold=float(threshold))
    words = [[(word.text, word.error, word.label) for word in row] for row in rows]
    marked = [
        [
            render.escape(text),
            render.escape(_type(label)),
            f"{100 * error:.1f}%",
            *([str(line)] if len(words) > 1 else []),
        ]
        for line, row in enumerate(words, start=1)
        for text, error, label in row
        if error >= threshold
    ]
    caption = f"{len(marked)} of {sum(map(len, words))} words reach the threshold"
    columns = ["word", "type", "probability", *(["line"] if len(words) > 1 else [])]
    found = render.table(columns, marked, caption, texts=2) if marked else ""
    view = render.block(
        render.heading("How likely each word is wrong"),
        *(render.heat(row, threshold) for row in words),
        render.heat_scale(),
        found or render.note(f"No word reaches {threshold:.0%}."),
        render.warnings(warned),
        render.note(
            f"On essays that it did not learn from (W&I+LOCNESS dev), and with the threshold 0.5, {QUALITY[kind][0]}% "
            f"of the words that this detector marks are errors, and it marks {QUALITY[kind][1]}% of all errors."
        ),
    )
    data = [
        {
            "sentence": sentence,
            "words": [{"text": text, "label": label, "error": error} for text, error, label in row],
        }
        for sentence, row in zip(sentences, words, strict=True)
    ]
    return view, data


def _type(label: str) -> str:
    return "error" if label == "INCORRECT" else render.TYPES.get(label, label)


def _sentences(text: Any) -> list[str]:
    if not isinstance(text, str) or not text.strip():
        raise Refused("Nothing to do yet: type a sentence first.")
    if len(text) > MAX_CHARACTERS * MAX_SENTENCES:
        raise Refused(f"This page takes {MAX_SENTENCES} sentences at most.")
    lines = [line for line in split_lines(text) if line.strip()]
    if len(lines) > MAX_SENTENCES:
        raise Refused(f"This page takes {MAX_SENTENCES} sentences at most, one a line, but there are {len(lines)}.")
    return [
        check_text(f"sentence {number}" if len(lines) > 1 else "the sentence", line)
        for number, line in enumerate(lines, start=1)
    ]


def build() -> None:
    """Lay out the tab."""
    first = next(iter(examples.DETECT.values()))
    text = gr.Textbox(
        first[0], label="Sentences", info=f"One a line, {MAX_SENTENCES} at most.", lines=3, max_lines=12, render=False
    )
    chosen = wiring.example_row(examples.DETECT, [text], "detect")
    with gr.Row(equal_height=False):
        with gr.Column(scale=5, min_width=300):
            text.render()
            kind = gr.Radio(list(MODELS), value=next(iter(MODELS), None), label="Look for")
            threshold = gr.Slider(
                0.05,
                0.95,
                0.5,
                step=0.05,
                label="Threshold",
                info="Words at least this likely to be wrong are underlined.",
            )
            tokenise = gr.Checkbox(True, label="Separate punctuation from words")
            submit = gr.Button("Detect", variant="primary", elem_id="detect-button")
        with gr.Column(scale=6, min_width=300):
            view, data = theme.answer("detect", *detect_errors(*first))
    inputs, starts = [text, kind, threshold, tokenise], [submit.click, text.submit]
    wiring.connect("detect", detect_errors, inputs, [view, data], starts, chosen, "Detect")
    gr.api(
        detect_errors,
        api_name="detect",
        api_description="Say of each word how likely it is to be wrong.",
        **wiring.QUICK,
    )
