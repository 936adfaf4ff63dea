"""`geceval vote`: the edits that several systems make."""

from __future__ import annotations

from typing import Annotated

import typer

import geceval.cli.options as shared
import geceval.cli.rerank as choosing
from geceval.cli.metric_options import make_scorers, metric_options
from geceval.cli.text_files import text_of
from geceval.core.progress import bar
from geceval.core.warnings import once


def vote(
    sources: shared.Sources = None,
    predictions: choosing.Systems = None,
    n_best: choosing.NBest = None,
    min_count: Annotated[
        int | None, typer.Option(min=1, help="Systems that must make an edit; by default more than half of them.")
    ] = None,
    text: Annotated[str, typer.Option(help="What the files hold, as for `geceval score`.")] = "auto",
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    report_metric: choosing.ReportMetrics = None,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    output: choosing.Texts = None,
    form: choosing.Form = "table",
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Make the edits that so many systems make, and no others.

    The texts go to standard output and the table to standard error; with --output the table to standard output.

    Example: geceval vote --min-count 2 -s source.txt -p a.txt b.txt c.txt --output voted.txt
    """
    from geceval.workflows import choose  # numpy: the help of a verb is to start at once

    shared.no_warnings(quiet)
    shared.check_lines(output)
    if not report_metric:
        choosing.refuse_for_report(references=references, gold_m2=gold_m2, option=option, cache=cache)
    names = list(dict.fromkeys(report_metric or []))
    text = text if text != "auto" else text_of(predictions or (n_best and [n_best])) or "auto"
    flags = {"text": text, "gold_m2": gold_m2, "cache": cache} if names else {}
    options = metric_options(names, option, **flags)
    scorers = list(make_scorers(options, references).values()) if names else []
    given, candidates, gold = choosing.read_given(sources, predictions, n_best, references)
    with bar(progress), once(set()):
        choices = {"[vote]": choose.vote(given, candidates, min_count=min_count, text=text)}
        choosing.show_choices(choose.Pool.of("vote", given, candidates, text), choices, scorers, gold, form, output)
