"""`geceval impacts`: how much each edit of a correction matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.tables import check_outputs, json_text, records_text, terminal_width, write
from geceval.cli.text_files import check_texts, read_corpus
from geceval.core.errors import InputError, counted
from geceval.core.files import read_lines
from geceval.core.inputs import references_by_sentence
from geceval.core.options import RunTime
from geceval.core.progress import bar
from geceval.edits.edit import Edit
from geceval.workflows.attribution import attribute
from geceval.workflows.impacts import edit_impacts

Method = Literal["impact", "add", "sub", "shapley", "shapley-sampling"]


@dataclass(frozen=True, slots=True)
class _Row:
    """A sentence: its edits, a number for each, facts about the sentence, and a note or `""`."""

    edits: Sequence[Edit]
    values: Sequence[float]
    facts: dict[str, Any]
    note: str = ""


def impacts(
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE CORRECTION]", help="One sentence and its correction.")
    ] = None,
    sources: Annotated[str | None, typer.Option("-s", "--sources", help="File, one sentence per line.")] = None,
    predictions: Annotated[str | None, typer.Option("-p", "--predictions", help="File, its corrections.")] = None,
    references: Annotated[
        list[str] | None,
        typer.Option("-r", "--references", help="A file, for a metric that needs references; -r A -r B for several."),
    ] = None,
    method: Annotated[Method, typer.Option(help="IMPARA's impact, or how a metric's gain is divided.")] = "impact",
    metric: Annotated[
        str | None, typer.Option("-m", "--metric", help="Whose gain is divided; impara by default.")
    ] = None,
    option: shared.OneMetricOptions = None,
    rescale: Annotated[
        str | None, typer.Option(help="How add and sub come to the total: safe (the default), ratio or none.")
    ] = None,
    permutations: Annotated[int | None, typer.Option(help="Random orders of sampled Shapley values; 64.")] = None,
    max_edits: Annotated[
        int | None, typer.Option(help="Edits of a sentence beyond which shapley is sampled; 10.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random orders; 1.")] = None,
    model: Annotated[str | None, typer.Option(help="Encoder or model of the metric; bundled by default.")] = None,
    nlp: shared.Nlp = "bundled",
    batch_size: shared.BatchSize = 64,
    device: shared.Device = "auto",
    workers: shared.Workers = 1,
    form: shared.Form = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
) -> None:
    """Show how much each edit of a correction matters.

    The impact of an edit (IMPARA, equation 5) is 1 - cos(T, T without the edit), in [0, 2], for the encoder's mean
    token vectors. It compares edits of one sentence; in a longer sentence, every edit has less impact. The other
    methods divide what the correction gains over the source in any metric: by the gain of the edit alone (add), by
    what is lost without it (sub), or by Shapley values.

    With texts, which stand without a flag, an option takes one value: -r A -r B; with -s FILE several: -r A B.

    Example: geceval impacts --method shapley -m impara "He go to school ." "He goes to the school ."
    """
    form = shared.chosen_format(form, output, shared.Format)
    check_outputs(output)
    runtime = {"batch_size": batch_size, "device": device, "workers": workers, "progress": progress}
    settings = {"rescale": rescale, "permutations": permutations, "max_edits": max_edits, "seed": seed}
    _refuse_others(method, metric=metric, references=references, option=option, **settings)
    if method == "impact":
        left, right, _ = _columns(texts or [], sources, predictions)
        with bar(progress, "impact"):
            rows = _impacts(left, right, model or "bundled", nlp, RunTime(**runtime))
        value_column, caption = "impact", ""
    else:
        name, value_column = metric or "impara", method
        options = {**runtime, **shared.metric_options([name], option, model=model)[name]}
        if registry.make_scorer(name, options).needs_references() and not references:
            raise InputError(f"{name} needs references: pass -r FILE...")
        left, right, targets = _columns(texts or [], sources, predictions, references or [])
        chosen = {key: value for key, value in settings.items() if value is not None}
        with bar(progress, f"{value_column} of {name}"):
            found = attribute(
                name, left, right, targets, options=options, nlp=nlp, method=value_column.replace("-", "_"), **chosen
            )
        rows = [_Row(each.edits, each.scores, _facts(each), each.note) for each in found]
        caption = f", {value_column} of {name}: {found[0].signature}"
    write(_render(left, right, rows, value_column, caption, form, terminal_width(output)), output)


def _refuse_others(method: str, **options: Any) -> None:
    """Refuse options of other methods."""
    if method == "impact":
        shared.refuse("is for the other methods; add --method shapley, shapley-sampling, add or sub", **options)
    sampled = {"permutations": options["permutations"], "seed": options["seed"]}
    if method in ("add", "sub"):
        shared.refuse("is for --method shapley and shapley-sampling", max_edits=options["max_edits"], **sampled)
    else:
        shared.refuse("is for --method add and sub", rescale=options["rescale"])
    if method == "shapley-sampling":
        shared.refuse("is for --method shapley", max_edits=options["max_edits"])


def _impacts(left: Sequence[str], right: Sequence[str], model: str, nlp: str, runtime: RunTime) -> list[_Row]:
    found = edit_impacts(left, right, model=model, nlp=nlp, runtime=runtime)
    return [_Row([edit for edit, _ in row], [value for _, value in row], {}) for row in found]


def _facts(found: Any) -> dict[str, Any]:
    names = ("source_score", "total", "method", "note", "signature", "how")
    return {name: getattr(found, name) for name in names}


def _columns(
    texts: Sequence[str], sources: str | None, predictions: str | None, references: Sequence[str] = ()
) -> tuple[list[str], list[str], list[list[str | None]] | None]:
    if len(texts) == 2 and not sources and not predictions:
        check_texts(texts, "files as -s FILE -p FILE")
        lines = [read_lines(path) for path in references]
        for path, read in zip(references, lines, strict=True):
            if len(read) != 1:
                raise InputError(f"{path} has {len(read)} lines but there is one sentence")
        return [texts[0]], [texts[1]], references_by_sentence([texts[0]], lines, references)
    if texts or not sources or not predictions:
        hint = "; beside texts an option takes one value, -r A -r B" if len(texts) > 2 else ""
        raise InputError(f"impacts takes either SOURCE and CORRECTION, two texts, or -s FILE and -p FILE{hint}")
    corpus = read_corpus(sources, [predictions], references)
    return corpus.sources, next(iter(corpus.systems.values())), corpus.references


def _render(
    left: Sequence[str],
    right: Sequence[str],
    rows: Sequence[_Row],
    value_column: str,
    caption: str,
    form: str,
    width: int | None,
) -> str:
    if form == "json":
        return json_text(_to_json(left, right, rows, value_column))
    totals = any(row.facts for row in rows)
    columns = ["line", "span", "source", "correction", "type", value_column, *(["total"] if totals else [])]
    cells = [
        [number, f"{edit.start}:{edit.end}", _span(source, edit), edit.correction, edit.type, value]
        + ([row.facts["total"]] if totals else [])
        for number, (source, row) in enumerate(zip(left, rows, strict=True), start=1)
        for edit, value in zip(row.edits, row.values, strict=True)
    ]
    notes = [f"line {number}: {row.note}" for number, row in enumerate(rows, start=1) if row.note]
    caption = f"{counted(len(left), 'sentence')}, {counted(len(cells), 'edit')}{caption}"
    return records_text(columns, cells, form, caption, notes, width)


def _span(source: str, edit: Edit) -> str:
    return " ".join(source.split()[edit.start : edit.end])


def _to_json(
    sources: Sequence[str], corrections: Sequence[str], rows: Sequence[_Row], value_column: str
) -> list[dict[str, Any]]:
    value_name = "impact" if value_column == "impact" else "score"
    return [
        {
            "line": number,
            "source": source,
            "correction": correction,
            **row.facts,
            "edits": [
                {
                    "start": edit.start,
                    "end": edit.end,
                    "source": _span(source, edit),
                    "correction": edit.correction,
                    "type": edit.type,
                    value_name: value,
                }
                for edit, value in zip(row.edits, row.values, strict=True)
            ],
        }
        for number, (source, correction, row) in enumerate(zip(sources, corrections, rows, strict=True), start=1)
    ]
