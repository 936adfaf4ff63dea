"""`geceval detect`: mark the words of sentences that are in error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

import geceval.cli.options as shared
from geceval.cli.tables import show, terminal_colours, write
from geceval.cli.text_files import check_texts
from geceval.core.errors import InputError, counted
from geceval.core.options import RunTime
from geceval.core.progress import bar
from geceval.text.answer_files import read_sources

SURE = 0.8
LEGEND = f"[word 90%]: how likely it is an error; red from {SURE:.0%}, yellow below"
Marks = Literal["text", "table", "tsv", "json"]


def detect(
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Sentences, one an argument.")] = None,
    sources: Annotated[
        str | None, typer.Option("-s", "--sources", help="File, one sentence per line; - for standard input.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="A detector (token classifier): bundled, a folder, or a Hub id[@revision].")
    ] = "bundled",
    classes: Annotated[
        int | None, typer.Option(help="2: errors; 25: their types. By default as the model has it, bundled 2.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Mark words whose probability of an error reaches this.")
    ] = None,
    max_length: Annotated[int | None, typer.Option(help="Tokens beyond which a sentence is cut.")] = None,
    batch_size: shared.BatchSize = 64,
    device: shared.Device = "auto",
    form: Annotated[
        Marks | None,
        typer.Option(
            "--format", help="text: marked sentences; table: errors; tsv: all words; json: a sentence a line."
        ),
    ] = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
) -> None:
    """Mark the words that a detector takes for errors.

    They are marked as [word] or [word|TYPE]; the other formats give their probabilities.

    Example: geceval detect "He go to school every days ."
    """
    from geceval.workflows.detect import detect as detect_errors  # numpy: the help of a verb is to start at once

    form = shared.check_format(form, output, Marks)
    sentences = _sentences(texts or [], sources)
    runtime = RunTime(batch_size=batch_size, device=device, progress=progress)
    options: dict[str, Any] = {"model": model, "classes": classes, "threshold": threshold, "max_length": max_length}
    with bar(progress, "detect"):
        rows = detect_errors(sentences, **options, runtime=runtime) if sentences else []
    if form == "text":
        in_colour = terminal_colours(output) is not None
        lines = [" ".join(mark(word, in_colour) for word in row) for row in rows]
        write("".join(f"{line}\n" for line in [*lines, *([LEGEND] if in_colour else [])]), output)
    elif form == "json":
        words = [[{name: getattr(word, name) for name in ("text", "label", "error")} for word in row] for row in rows]
        lines = [{"line": number, "words": row} for number, row in enumerate(words, start=1)]
        write("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), output)
    else:
        every = form == "tsv"
        cells = [
            [number, index, word.text, word.label, word.error]
            for number, row in enumerate(rows, start=1)
            for index, word in enumerate(row)
            if every or word.is_error
        ]
        caption = f"{counted(len(rows), 'sentence')}, {counted(len(cells), 'error')}"
        columns = ["line", "token", "word", "label", "error"]
        show(columns, cells, form, output, caption)


def mark(word: Any, in_colour: bool) -> str:
    """A word as in marked text: `[word]` or `[word|TYPE]` if it is an error; in colour, how likely."""
    if not word.is_error:
        return word.text
    text = word.text if word.label == "INCORRECT" else f"{word.text}|{word.label}"
    if not in_colour:
        return f"[{text}]"
    sure = word.error >= SURE
    return typer.style(f"[{text} {word.error:.0%}]", fg="red" if sure else "yellow", bold=sure)


def _sentences(texts: Sequence[str], sources: str | None) -> list[str]:
    if bool(texts) == (sources is not None):
        raise InputError("detect takes either sentences, or -s FILE")
    check_texts(texts, "it as -s FILE")
    return read_sources(sources).texts if sources is not None else list(texts)
