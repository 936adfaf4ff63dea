"""`geceval rerank`: the best of several corrections of each sentence; and what `geceval vote` shares with it."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import make_scorers, metric_options, parse_value
from geceval.cli.tables import Cell, records_text, write
from geceval.cli.text_files import read_corpus, read_references, text_of
from geceval.core.errors import InputError, counted, p_bound
from geceval.core.inputs import References
from geceval.core.progress import bar
from geceval.core.warnings import once
from geceval.text.answer_files import read_candidates, read_sources

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.scorers.base import Scorer
    from geceval.workflows.choose import Candidates, Choice, Pool

Systems = Annotated[
    list[str] | None, typer.Option("-p", "--predictions", help="Candidates: one file per system, or a folder.")
]
NBest = Annotated[str | None, typer.Option("-n", "--n-best", help="Candidates as lists, one a row of a .jsonl file.")]
ReportMetrics = Annotated[
    list[str] | None, typer.Option(help="Metrics of the table, with the gain over the best single system.")
]
Texts = Annotated[str | None, typer.Option(help="File of the chosen texts, in place of standard output.")]
Form = Annotated[shared.PaperFormat, typer.Option("--format", help="How to write the table.")]


def rerank(
    metrics: Annotated[
        list[str] | None, typer.Option("-m", "--metrics", help="Metrics, as NAME or NAME=WEIGHT, to add up.")
    ] = None,
    sources: shared.Sources = None,
    predictions: Systems = None,
    n_best: NBest = None,
    method: Annotated[
        Literal["metric", "mbr"], typer.Option(help="By -m, or by what candidates have in common.")
    ] = "metric",
    utility: Annotated[
        str | None,
        typer.Option(help="Of mbr: f0.5, jaccard, recall, precision, agreement, or a metric; f0.5 by default."),
    ] = None,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    report_metric: ReportMetrics = None,
    oracle: Annotated[bool, typer.Option("--oracle", help="The upper bound, by the first --report-metric.")] = False,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    output: Texts = None,
    form: Form = "table",
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Choose the best of several corrections of each sentence, the first of equal ones.

    The texts go to standard output and the table to standard error; with --output the table to standard output.

    Example: geceval rerank -m impara_lm -s source.txt -p a.txt b.txt c.txt --output chosen.txt
    """
    from geceval.workflows import choose

    shared.no_warnings(quiet)
    shared.check_lines(output)
    if method == "mbr":
        shared.refuse("is for --method metric; the metric of mbr is its --utility", metrics=metrics)
        if not report_metric:
            refuse_for_report(references=references, gold_m2=gold_m2)
    else:
        shared.refuse("is for --method mbr", utility=utility)
    if method == "metric" and not metrics:
        raise InputError("Missing option '-m'")
    if oracle and not report_metric:
        raise InputError("--oracle needs --report-metric, whose upper bound it shows")
    weights, utility = _weights(metrics or []), utility or "f0.5"
    measure = choose.utility_metric(utility)
    with_references = list(dict.fromkeys([*weights, *(report_metric or [])]))
    names = list(dict.fromkeys([*with_references, *([] if weights else [measure])]))
    flags = {"text": text_of(predictions or (n_best and [n_best])), "gold_m2": gold_m2, "cache": cache}
    options = metric_options(names, option, **flags)
    scorers = make_scorers({name: options[name] for name in with_references}, references)
    given, candidates, gold = read_given(sources, predictions, n_best, references)
    with bar(progress), once(set()):
        if weights:
            own = {name: options[name] for name in weights}
            choices = {"[rerank]": choose.rerank(weights, given, candidates, gold, options=own)}
        else:
            own = {key: value for key, value in options[measure].items() if key != "gold_m2"}
            choices = {"[mbr]": choose.mbr(utility, given, candidates, options=own)}
        if oracle:
            bound = report_metric[0]
            choices["[oracle]"] = choose.oracle(bound, given, candidates, gold, options=options[bound])
        scorers = [scorers[name] for name in dict.fromkeys(report_metric or [])]
        answers = any(options[name].get("text") == "answers" for name in weights or [measure])
        pool = choose.Pool.of("rerank", given, candidates, "answers" if answers else "auto")
        show_choices(pool, choices, scorers, gold, form, output)


def refuse_for_report(**options: Any) -> None:
    """Refuse options that only the metrics of the table read."""
    shared.refuse("is for the metrics of the table: name one, such as --report-metric errant", **options)


def _weights(texts: Sequence[str]) -> dict[str, float]:
    """The metrics and weights of `NAME` or `NAME=WEIGHT`."""
    weights: dict[str, float] = {}
    for text in texts:
        name, equals, weight = text.partition("=")
        if name in weights:
            raise InputError(f"-m {text}: {name} is given twice; give it one weight")
        weights[name] = parse_value(f"-m {text}", weight, float) if equals else 1.0
    return weights


def read_given(
    sources: str | None, predictions: Sequence[str] | None, n_best: str | None, references: Sequence[str] | None
) -> tuple[list[str], Candidates, References | None]:
    """Sources, candidates and references."""
    if bool(predictions) == bool(n_best):
        raise InputError("pass the candidates: either -p FILE..., one a system, or -n FILE, lists of them")
    if predictions:
        if not sources:
            raise InputError("Missing option '-s'")
        corpus = read_corpus(sources, predictions, references or [])
        return corpus.sources, corpus.systems, corpus.references
    known, lists = read_candidates(n_best, read_sources(sources) if sources else None)
    return known.texts, lists, read_references(references or [], known)


def show_choices(
    pool: Pool,
    choices: Mapping[str, Choice],
    scorers: Sequence[Scorer],
    references: References | None,
    form: str,
    output: str | None,
) -> None:
    """Write the texts of the first choice, and the table: which systems it took, and what each scores."""
    from geceval.meta.significance.systems import Settings
    from geceval.workflows import choose

    choice = next(iter(choices.values()))
    rows: dict[str, list[Any]] = {}
    for number, (name, texts) in enumerate(pool.systems.items()):
        rows[name] = [name, choice.indices.count(number), sum(map(operator.eq, texts, choice.predictions))]
    rows |= {name: [name, math.nan, math.nan] for name in choices}
    columns, notes = ["system", "chosen", "same text"], [each.signature for each in choices.values()]
    for scorer in scorers:
        comparison = choose.gain(scorer, pool, choices, references)
        columns += [scorer.name, *(f"{scorer.name} {what}" for what in ("low", "high", "gain", "p"))]
        for each in comparison.standings:
            p = Cell(each.p["bootstrap"], p_bound(each.p["bootstrap"], Settings().resamples))
            rows[each.system] += [each.score, each.low, each.high, each.difference, p]
        notes += [comparison.signature, comparison.test]
    write("".join(" ".join(text.splitlines()) + "\n" for text in choice.predictions), output)
    caption = f"{counted(len(pool.sources), 'sentence')}, {choice.indices.count(-1):,} with none of the candidates"
    table = records_text(columns, list(rows.values()), form, caption, list(dict.fromkeys(notes)))
    (sys.stderr if output in (None, "-") else sys.stdout).write(table)
