"""`geceval filter`: corrections without their doubtful edits."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

import geceval.cli.options as shared
from geceval.cli.tables import write
from geceval.cli.text_files import read_corpus, text_of
from geceval.core.errors import counted
from geceval.core.options import RunTime
from geceval.core.progress import bar
from geceval.edits.m2 import M2Sentence, format_m2
from geceval.edits.verdict import DOUBTFUL

Filtered = Literal["text", "m2"]


def filter_(
    sources: Annotated[str, typer.Option("-s", "--sources", help="What the learners wrote, one sentence per line.")],
    predictions: Annotated[str, typer.Option("-p", "--predictions", help="The corrections of one system.")],
    least: Annotated[
        float, typer.Option("--min", min=0, max=1, help="Keep edits that are at least so likely right.")
    ] = DOUBTFUL,
    text: shared.Text = None,
    nlp: shared.Nlp = "bundled",
    batch_size: shared.BatchSize = 64,
    device: shared.Device = "auto",
    workers: shared.Workers = 1,
    cache: shared.Cache = None,
    form: Annotated[
        Filtered | None, typer.Option("--format", help="Corrected texts, or M2 with the edits that are kept.")
    ] = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Undo the doubtful edits of corrections: those that the judge of edit_quality does not find right.

    Where an edit is undone stand the words of the source.

    Example: geceval filter --min 0.9 -s source.txt -p system.txt --output filtered.txt
    """
    from geceval.workflows.edit_filter import judge_edits  # numpy: the help of a verb is to start at once

    form = shared.check_format(form, output, Filtered)
    shared.no_warnings(quiet)
    corpus = read_corpus(sources, [predictions])
    (texts,) = corpus.systems.values()
    runtime = RunTime(batch_size=batch_size, device=device, workers=workers, progress=progress, cache=cache)
    with bar(progress, "filter"):
        setting = text or text_of([predictions]) or "auto"
        judged = judge_edits(corpus.sources, texts, text=setting, nlp=nlp, runtime=runtime)
    if form == "m2":
        write(format_m2(M2Sentence(each.source, {0: each.kept(least)}) for each in judged), output)
    else:
        write("".join(f"{each.filtered(least)}\n" for each in judged), output)
    if not quiet:
        edits, kept = sum(len(each.edits) for each in judged), sum(len(each.kept(least)) for each in judged)
        print(f"{edits - kept:,} of {counted(edits, 'edit')} undone", file=sys.stderr)
