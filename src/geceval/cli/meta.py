"""`geceval meta`: how well metrics agree with people on SEEDA, GJG15 or GMEG."""

from pathlib import Path
from typing import Annotated, Any

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import check_outputs, show
from geceval.core.errors import InputError
from geceval.core.progress import bar
from geceval.core.warnings import once
from geceval.meta import figures
from geceval.meta.agreement import TieRule
from geceval.meta.scores import OfSystem, check_suffix, write_scores
from geceval.workflows import analyses

VERBS = {
    "report": "report.report",
    "edits": "meta_edits.edits",
    "maege": "maege.maege",
    "tune-weights": "tune_weights.tune_weights",
}


class _Verbs(shared.ManyValuesGroup):
    """The verbs below `meta` with nothing but their help, until one is called or completed."""

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        if arguments[0] in VERBS:
            app = typer.Typer(rich_markup_mode="markdown", add_completion=False)
            app.command(arguments[0], cls=shared.ManyValuesCommand)(shared.imported(VERBS[arguments[0]]))
            self.commands[arguments[0]] = typer.main.get_command(app)
        return super().resolve_command(context, arguments)


meta = typer.Typer(cls=_Verbs, invoke_without_command=True, subcommand_metavar="[COMMAND ...]")
for name, place in VERBS.items():
    meta.command(name, help=shared.docstring(place))(lambda: None)


@meta.callback()
def callback(
    context: typer.Context,
    data: Annotated[
        str | None, typer.Option("--data", help="SEEDA, GJG15 or GMEG: a checkout, or what `geceval data` built.")
    ] = None,
    metrics: Annotated[list[str] | None, typer.Option("-m", "--metrics", help="One or more of `geceval list`.")] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option("--scores", help="Scores of any metric: .tsv (system, line, METRIC...), .parquet or .json."),
    ] = None,
    gold_m2: shared.ConllM2 = None,
    level: Annotated[
        analyses.Level, typer.Option(help="Compare systems or sentences; both: one row a metric.")
    ] = "system",
    systems: Annotated[
        list[str] | None,
        typer.Option(help="base, +INPUT, +fluency or all, or names of systems; base for SEEDA, else all."),
    ] = None,
    aggregation: Annotated[
        OfSystem | None,
        typer.Option(
            help="Score of a system: the metric's own (corpus, the default; GMEG: average), or from its sentences."
        ),
    ] = None,
    ties: Annotated[
        TieRule | None,
        typer.Option(
            help="Tied sentences: the later system wins (order, the default), nobody does (zero), no pair (drop); with "
            "human ties: hties, calibrated."
        ),
    ] = None,
    unexpanded: Annotated[
        bool, typer.Option("--unexpanded", help="Of systems that wrote the same text, compare only one.")
    ] = False,
    window: Annotated[int | None, typer.Option(min=2, help="Correlate each window of this many neighbours.")] = None,
    top_k: Annotated[bool, typer.Option("--top-k", help="Correlate the best K systems, for each K down to 4.")] = False,
    pairwise: Annotated[
        analyses.Ranks | None, typer.Option(help="Agreement for each pair of ranks: the metric's or the human ones.")
    ] = None,
    gap: Annotated[
        float | None, typer.Option(min=0, help="GMEG: pairs rated at least so many of 100 points apart; 10 by default.")
    ] = None,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    plot: Annotated[str | None, typer.Option(help="Figure to write: .png, .svg or .pdf.")] = None,
    save: Annotated[str | None, typer.Option(help="Scores to write, for --scores: .parquet or .tsv.")] = None,
    form: shared.PaperForm = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
) -> None:
    """Compare metrics with human judgments of systems.

    The commands below make a page of it, do without judgments, or tune a metric on them.

    Example: geceval meta -m impara gleu --data SEEDA --gold-m2 official-2014.combined.m2 --level sentence
    """
    if context.invoked_subcommand is not None:
        _check_nothing_before(context, context.invoked_subcommand)
        return
    from geceval.corpora.judgments import read_human
    from geceval.workflows.meta_evaluation import (
        choose_systems,
        read_score_files,
        score_metrics,
        warn_of_degenerate,
    )

    if data is None:
        raise InputError("meta takes the judgments of people: --data FOLDER")
    form = shared.check_format(form, output, shared.PaperFormat)
    names = list(dict.fromkeys(metrics or []))
    if not names and not scores:
        raise InputError("meta takes metrics (-m NAME...), files of scores (--scores FILE...), or both")
    if not names:
        shared.refuse("is for metrics: add -m NAME...", gold_m2=gold_m2, option=option, cache=cache)
    settings = analyses.Settings(level, window, top_k, pairwise, aggregation, ties, unexpanded)
    check_outputs(plot, save)
    if plot is not None:
        figures.check_suffix(plot)
    if save is not None:
        check_suffix(save)
    human = read_human(data, gap)
    chosen = choose_systems(human, systems)
    options = metric_options(names, option, cache=cache)
    read_tables = read_score_files(scores or [], human, chosen, taken=names)
    with bar(progress), once(set()):
        tables = [*score_metrics(options, human, chosen, gold_m2), *read_tables]
    if save is not None:
        write_scores(save, tables)
    warn_of_degenerate(tables, chosen)
    analysis = analyses.analyse(human, tables, settings)
    if plot is not None:
        figures.save(analysis.draw(), plot)
    caption = f"{human.name}, {len(chosen)} systems, {len(human.sources)} sentences; {analysis.caption}"
    notes = [table.signature or f"{table.metric}: from a file, without a signature" for table in tables]
    notes += [f"references: {Path(gold_m2).name}"] if gold_m2 is not None else []
    show(analysis.columns, analysis.rows, form, output, caption, notes)


def _check_nothing_before(context: typer.Context, verb: str) -> None:
    """Refuse options that stand before a verb below `meta`, as none would reach it."""
    flags = [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name).name == "COMMANDLINE"
    ]
    if not flags:
        return
    if not any(flags[0] in parameter.opts for parameter in context.command.commands[verb].params):
        raise InputError(f"{verb} has no option {flags[0]}; see geceval meta {verb} --help")
    raise InputError(f"options of {verb} stand behind it: geceval meta {verb} {flags[0]} ...")
