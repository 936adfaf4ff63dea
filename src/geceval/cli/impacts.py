"""`geceval impacts`: how much each edit of a correction matters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from geceval.cli.arguments import Format
from geceval.cli.corpus import read_corpus
from geceval.cli.report import check_outputs, records_text, terminal_width, write
from geceval.core.options import RunTime
from geceval.hub import registry


def impacts(
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE CORRECTION]", help="One sentence and its correction.")
    ] = None,
    sources: Annotated[str | None, typer.Option("-s", "--sources", help="File, one sentence a line.")] = None,
    predictions: Annotated[str | None, typer.Option("-p", "--predictions", help="File, its corrections.")] = None,
    model: Annotated[str, typer.Option(help="Encoder: bundled, a folder, or a Hub id[@revision].")] = "bundled",
    nlp: Annotated[str | None, typer.Option(help="spaCy pipeline for ERRANT.")] = None,
    batch_size: Annotated[int, typer.Option(help="Sentences a batch.")] = 64,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda:0, mps, ...")] = "auto",
    workers: Annotated[int, typer.Option(help="Processes that parse sentences.")] = 1,
    form: Annotated[
        Format, typer.Option("--format", envvar="GECEVAL_FORMAT", help="How to write the impacts.")
    ] = Format.table,
    output: Annotated[str | None, typer.Option(help="File to write, in place of standard output.")] = None,
    progress: Annotated[bool, typer.Option("--progress", help="Show progress on standard error.")] = False,
) -> None:
    """Show the edits of corrected sentences with their impact (IMPARA, equation 5).

    The impact of an edit is 1 - cos(T, T without the edit), in [0, 2], for the encoder's mean token vectors. It
    compares edits of one sentence; in a longer sentence, every edit has less impact.
    """
    check_outputs(output)
    left, right = _columns(texts or [], sources, predictions)
    runtime = RunTime(batch_size=batch_size, device=device, workers=workers, progress=progress)
    rows = registry.scorer_module("impara").edit_impacts(left, right, model=model, nlp=nlp, runtime=runtime)
    if form is Format.json:
        write(json.dumps(_to_json(left, right, rows), ensure_ascii=False, indent=2) + "\n", output)
        return
    heads = ["line", "span", "source", "correction", "type", "impact"]
    cells = [
        [number, f"{edit.start}:{edit.end}", _span(source, edit), edit.correction, edit.type, impact]
        for number, (source, row) in enumerate(zip(left, rows, strict=True), start=1)
        for edit, impact in row
    ]
    caption = f"{len(left)} {'sentence' if len(left) == 1 else 'sentences'}, {len(cells)} edits"
    write(records_text(heads, cells, form, caption, width=terminal_width(output)), output)


def _columns(texts: Sequence[str], sources: str | None, predictions: str | None) -> tuple[list[str], list[str]]:
    if len(texts) == 2 and not sources and not predictions:
        return [texts[0]], [texts[1]]
    if texts or not sources or not predictions:
        raise ValueError("impacts takes either SOURCE and CORRECTION, two texts, or -s FILE and -p FILE")
    corpus = read_corpus(sources, [predictions])
    return corpus.sources, next(iter(corpus.systems.values()))


def _span(source: str, edit: Any) -> str:
    return " ".join(source.split()[edit.start : edit.end])


def _to_json(sources: Sequence[str], corrections: Sequence[str], rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "line": number,
            "source": source,
            "correction": correction,
            "edits": [
                {
                    "start": edit.start,
                    "end": edit.end,
                    "source": _span(source, edit),
                    "correction": edit.correction,
                    "type": edit.type,
                    "impact": impact,
                }
                for edit, impact in row
            ],
        }
        for number, (source, correction, row) in enumerate(zip(sources, corrections, rows, strict=True), start=1)
    ]
