"""`geceval types`: what systems correct, miss and break, by error type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import m2_of_systems, make_scorers, metric_options
from geceval.cli.tables import check_outputs, show, write
from geceval.cli.text_files import read_corpus, text_of
from geceval.core.errors import counted
from geceval.core.progress import bar

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.workflows.error_types import TypeEstimate

Form = Literal["table", "json", "tsv", "markdown", "latex", "html"]
Measure = Literal["type", "type_only", "detection", "success", "overcorrection", "change_rate"]
_VALUES = dict.fromkeys(get_args(Measure), "share") | {"type": "f", "type_only": "f", "detection": "f1"}


def error_types(
    sources: shared.Sources,
    predictions: shared.Predictions,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionsM2 = None,
    types: Annotated[
        list[str] | None,
        typer.Option(help="Rows: DET, R:VERB:SVA, 'R:VERB*', PREP,DET, all; or operation, main, full."),
    ] = None,
    measure: Annotated[Measure, typer.Option(help="Measure of table and plot; JSON and TSV have all.")] = "type",
    baseline: Annotated[str, typer.Option(help="Compare with this system: first, best, or a name.")] = "first",
    resamples: Annotated[int, typer.Option(min=1, help="Number of bootstrap samples.")] = 2000,
    shuffles: Annotated[int, typer.Option(min=1, help="Number of random swaps.")] = 10_000,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and swaps.")] = 1,
    option: shared.OneMetricOptions = None,
    cache: shared.Cache = None,
    plot: Annotated[str | None, typer.Option(help="Heat map to write: .png, .svg or .pdf.")] = None,
    form: Annotated[Form | None, shared.FORMAT] = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Show what systems correct, miss and break, by error type.

    The edits, and the options, are those of errant. p is that of the difference from the baseline: two-sided, by
    paired randomisation, adjusted by Holm for all tests of the measure.

    Example: geceval types -s source.txt -p a.txt b.txt -r reference_0.txt reference_1.txt --types DET 'R:VERB*'
    """
    from geceval.cli.pages import types_page
    from geceval.meta import figures
    from geceval.workflows.error_types import error_types as measure_types

    form = shared.check_format(form, output, Form)
    shared.no_warnings(quiet)
    check_outputs(plot)
    if plot is not None:
        figures.check_suffix(plot)
    if form == "html":
        figures.check_installed()
    options = metric_options(["errant"], option, text=text_of(predictions), gold_m2=gold_m2, cache=cache)
    make_scorers(options, references)  # a mistake shows before files are read
    corpus = read_corpus(sources, predictions, references or [])
    test: dict[str, Any] = {"types": types} if types else {}
    test |= {"baseline": baseline, "resamples": resamples, "shuffles": shuffles, "confidence": confidence, "seed": seed}
    files = m2_of_systems(["errant"], corpus.systems, predictions_m2)
    columns = corpus.sources, corpus.systems, corpus.references
    with bar(progress, "errant"):
        found = measure_types(*columns, options=options["errant"], predictions_m2=files, **test)
    header, cells = _table(found.estimates, None if form in ("json", "tsv") else measure)
    caption = f"{counted(len(corpus.sources), 'sentence')}, {counted(len(corpus.systems), 'system')}, measure {measure}"
    figure = _heat_map(found.estimates, measure) if plot is not None or form == "html" else None
    if plot is not None:
        figures.save(figure, plot)
    if form == "html":
        write(types_page(figure, header, cells, [caption, found.signature, found.test]), output)
    else:
        show(header, cells, form, output, caption, [found.signature, found.test])


def _table(estimates: Sequence[TypeEstimate], measure: str | None) -> tuple[list[str], list[list[Any]]]:
    """All fields; or those that people read of one measure, with the adjusted p-values alone."""
    from geceval.workflows.error_types import TypeEstimate

    columns = [field.name for field in fields(TypeEstimate)]
    if measure is not None:
        alone = len({each.system for each in estimates}) == 1
        hidden = {"measure", "p"} | ({"system", "difference", "p_holm"} if alone else set())
        hidden |= {"precision", "recall", "fp"} if _VALUES[measure] == "share" else set()
        columns = [name for name in columns if name not in hidden]
        estimates = [each for each in estimates if each.measure == measure]
    cells = [[getattr(each, name) for name in columns] for each in estimates]
    return [_VALUES.get(measure, name) if name == "value" else name for name in columns], cells


def _heat_map(estimates: Sequence[TypeEstimate], measure: str) -> Any:
    """The types that the references have."""
    from geceval.meta import figures

    shown = [each for each in estimates if each.measure == measure]
    to_find = {each.type: each.tp + each.fn for each in shown if each.tp + each.fn}
    values = {
        system: [each.value for each in shown if each.system == system and each.type in to_find]
        for system in {each.system: 0 for each in shown}
    }
    return figures.error_types(values, to_find, f"{measure}: {_VALUES[measure]}")
