"""`geceval impacts`: how much each edit of a correction matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import JUDGE_LEGEND, Cell, edit_fields, json_text, judged, show, write
from geceval.cli.text_files import check_texts, read_corpus, read_references, text_of
from geceval.core.errors import InputError, counted
from geceval.core.inputs import Columns
from geceval.core.options import RunTime
from geceval.core.progress import bar
from geceval.edits.edit import Edit
from geceval.text.answer_files import Sources
from geceval.text.columns import as_tokens

Method = Literal["impact", "add", "sub", "shapley", "shapley-sampling"]


_FACTS = ("source_score", "total", "method", "note", "signature", "how")


@dataclass(frozen=True, slots=True)
class _Row:
    """A sentence: its edits, a number for each, how likely each is right, and facts about the sentence."""

    edits: Sequence[Edit]
    values: Sequence[float]
    chances: Sequence[float]
    facts: dict[str, Any]


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
    what is lost without it (sub), or by Shapley values. Beside it stands how likely each edit is right (edit_quality).

    With texts, which stand without a flag, an option takes one value: -r A -r B; with -s FILE several: -r A B.

    Example: geceval impacts --method shapley -m impara "He go to school ." "He goes to the school ."
    """
    # numpy: the help of a verb is to start at once
    from geceval.scorers.edit_based.valid_edits import edit_judge
    from geceval.workflows.attribution import attribute
    from geceval.workflows.impacts import edit_impacts

    form = shared.check_format(form, output, shared.Format)
    settings = {"rescale": rescale, "permutations": permutations, "max_edits": max_edits, "seed": seed}
    _refuse_others(method, metric=metric, references=references, option=option, **settings)
    runtime = {"batch_size": batch_size, "device": device, "workers": workers, "progress": progress}
    if method == "impact":
        left, right, _ = _columns(texts or [], sources, predictions)
        with bar(progress, "impact"):
            weighed = edit_impacts(left, right, model=model or "bundled", nlp=nlp, runtime=RunTime(**runtime))
        shown = as_tokens(Columns(left, right))
        parts = [([edit for edit, _ in row], [value for _, value in row], {}) for row in weighed]
        of_metric = ""
    else:
        name = metric or "impara"
        text = text_of(predictions and [predictions])
        options = metric_options([name], option, text=text, model=model, **runtime)[name]
        if registry.make_scorer(name, options).needs_references() and not references:
            raise InputError(f"{name} needs references: pass -r FILE...")
        left, right, targets = _columns(texts or [], sources, predictions, references or [])
        chosen = {key: value for key, value in settings.items() if value is not None}
        chosen["method"] = method.replace("-", "_")
        with bar(progress, f"{method} of {name}"):
            attributions = attribute(name, left, right, targets, options=options, nlp=nlp, **chosen)
        shown = Columns([each.source for each in attributions], [each.prediction for each in attributions])
        parts = [(each.edits, each.scores, {key: getattr(each, key) for key in _FACTS}) for each in attributions]
        of_metric = f", {method} of {name}: {attributions[0].signature}"
    chances = edit_judge(RunTime(**runtime)).judge(shown.sources, [edits for edits, *_ in parts])
    rows = [_Row(edits, values, p.tolist(), facts) for (edits, values, facts), p in zip(parts, chances, strict=True)]
    if form == "json":
        value_name = "impact" if method == "impact" else "score"
        write(json_text(_to_json(shown.sources, shown.predictions, rows, value_name)), output)
        return
    columns, cells = _table(shown.sources, rows, method)
    notes = [f"line {number}: {row.facts['note']}" for number, row in enumerate(rows, start=1) if row.facts.get("note")]
    notes += [JUDGE_LEGEND] if form == "table" else []
    caption = f"{counted(len(left), 'sentence')}, {counted(len(cells), 'edit')}{of_metric}"
    show(columns, cells, form, output, caption, notes)


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


def _columns(
    texts: Sequence[str], sources: str | None, predictions: str | None, references: Sequence[str] = ()
) -> tuple[list[str], list[str], list[list[str | None]] | None]:
    if len(texts) == 2 and not sources and not predictions:
        check_texts(texts, "files as -s FILE -p FILE")
        return [texts[0]], [texts[1]], read_references(references, Sources("the source", [texts[0]]))
    if texts or not sources or not predictions:
        hint = "; beside texts an option takes one value, -r A -r B" if len(texts) > 2 else ""
        raise InputError(f"impacts takes either SOURCE and CORRECTION, two texts, or -s FILE and -p FILE{hint}")
    corpus = read_corpus(sources, [predictions], references)
    return corpus.sources, next(iter(corpus.systems.values())), corpus.references


def _table(sources: Sequence[str], rows: Sequence[_Row], method: str) -> tuple[list[str], list[list[Any]]]:
    total = ["total"] if any(row.facts for row in rows) else []
    cells = []
    for number, (source, row) in enumerate(zip(sources, rows, strict=True), start=1):
        for edit, value, chance in zip(row.edits, row.values, row.chances, strict=True):
            fields = edit_fields(source, edit)
            shown = [fields[name] for name in ("source", "correction", "type")]
            shown.append(Cell(chance, parts=(judged(chance),)))
            cells.append([number, f"{edit.start}:{edit.end}", *shown, value, *(row.facts[name] for name in total)])
    return ["line", "span", "source", "correction", "type", "right", method, *total], cells


def _to_json(
    sources: Sequence[str], corrections: Sequence[str], rows: Sequence[_Row], value_name: str
) -> list[dict[str, Any]]:
    return [
        {
            "line": number,
            "source": source,
            "correction": correction,
            **row.facts,
            "edits": [
                {**edit_fields(source, edit), value_name: value, "right": chance}
                for edit, value, chance in zip(row.edits, row.values, row.chances, strict=True)
            ],
        }
        for number, (source, correction, row) in enumerate(zip(sources, corrections, rows, strict=True), start=1)
    ]
