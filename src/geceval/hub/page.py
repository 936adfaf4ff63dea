"""The page of a metric's Space: sentences in, scores out."""

import sys
from pathlib import Path
from typing import Any

import evaluate

from geceval.core.errors import UserError
from geceval.core.files import split_lines

ROWS = 200  # sentences that a page scores at once


def page(script: str | Path) -> Any:
    """A Gradio interface to one module."""
    import gradio as gr

    # Else the script, which lies beside the app, would hide a package of the same name.
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(script).resolve().parent]
    module = evaluate.load(str(script))

    def score(sources: str, predictions: str, *more: str) -> tuple[float, list[list[Any]], str]:
        """Score corrections, one per line; the references of one sentence are separated by ||."""
        columns = {"sources": split_lines(sources), "predictions": split_lines(predictions)}
        if len(columns["sources"]) > ROWS:
            raise gr.Error(f"At most {ROWS} sentences; install geceval for more.")
        if more:
            columns["references"] = [
                [text.strip() for text in line.split("||")] if line.strip() else [] for line in split_lines(more[0])
            ]
        try:
            result = module.compute(**columns)
        except (UserError, OSError) as error:
            raise gr.Error(str(error)) from error
        rows = [list(row) for row in zip(columns["sources"], columns["predictions"], result["scores"], strict=True)]
        return result["score"], rows, result["signature"]

    labels = ["Sources, one sentence per line", "Corrections, one sentence per line"]
    if "references" in module._feature_names():
        labels.append("References, one line per sentence; several with || between them")
    return gr.Interface(
        score,
        [gr.Textbox(label=label, lines=4) for label in labels],
        [
            gr.Number(label="Score"),
            gr.Dataframe(headers=["source", "correction", "score"], label="Sentences", wrap=True),
            gr.Textbox(label="Signature"),
        ],
        title=module.name,
        description=module.description,
        api_name="score",
        flagging_mode="never",
    )
