"""`geceval compare`: do systems differ under a metric, or is it chance?"""

from __future__ import annotations

import enum
import logging
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from geceval.cli.arguments import Cache, Format, metric_options
from geceval.cli.corpus import read_corpus
from geceval.cli.report import check_outputs, records_text, terminal_width, write
from geceval.hub import registry
from geceval.hub.compare import Comparison
from geceval.hub.compare import compare as compare_systems


class Method(str, enum.Enum):
    """Where p-values come from."""

    bootstrap = "bootstrap"
    randomisation = "randomisation"


def compare(
    metrics: Annotated[list[str], typer.Option("-m", "--metrics", help="One or more of `geceval list`.")],
    sources: Annotated[str, typer.Option("-s", "--sources", help="What the learners wrote, one sentence a line.")],
    predictions: Annotated[list[str], typer.Option("-p", "--predictions", help="Two or more files, one per system.")],
    references: Annotated[
        list[str] | None,
        typer.Option("-r", "--references", help="One file per annotator; a blank line is no reference."),
    ] = None,
    gold_m2: Annotated[
        str | None, typer.Option("--gold-m2", "--refs-m2", help="M2 file of the gold edits, in place of -r.")
    ] = None,
    baseline: Annotated[str, typer.Option(help="Compare with this system: first, best, or a name.")] = "first",
    method: Annotated[list[Method] | None, typer.Option(help="One or both kinds of p-values; both by default.")] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap samples, and random swaps.")] = 1000,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 1,
    option: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", metavar="[METRIC.]KEY=VALUE", help="Any option of the metrics."),
    ] = None,
    cache: Cache = None,
    form: Annotated[Format, typer.Option("--format", envvar="GECEVAL_FORMAT", help="How to write it.")] = Format.table,
    output: Annotated[str | None, typer.Option(help="File to write, in place of standard output.")] = None,
    width: Annotated[int | None, typer.Option(min=20, help="Columns of a table.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No warnings.")] = False,
) -> None:
    """Test whether systems differ: confidence intervals and p-values, two-sided, from one scoring of each system.

    Example: geceval compare -m errant gleu -s source.txt -p a.txt b.txt -r reference_0.txt reference_1.txt
    """
    if quiet:
        logging.getLogger("geceval").setLevel(logging.ERROR)
    check_outputs(output)
    metrics = list(dict.fromkeys(metrics))
    named = {"gold_m2": gold_m2, "cache": cache}
    assignments = [*(f"{key}={value}" for key, value in named.items() if value is not None), *(option or [])]
    options = metric_options(metrics, assignments)
    for name in metrics:
        if registry.make_scorer(name, options[name]).needs_references() and not references:
            raise ValueError(f"{name} needs references: pass -r FILE... or --gold-m2 FILE")
    corpus = read_corpus(sources, predictions, references or [])
    test: dict[str, Any] = {"baseline": baseline, "resamples": resamples, "confidence": confidence, "seed": seed}
    if method:
        test["methods"] = tuple(dict.fromkeys(each.value for each in method))
    found = compare_systems(metrics, corpus.sources, corpus.systems, corpus.references, options=options, **test)
    heads, rows = _table(list(found.values()), confidence)
    caption = f"{len(corpus.sources)} sentences; p of the difference from the {_role(baseline)}, two-sided"
    notes = list(dict.fromkeys([each.signature for each in found.values()] + [each.test for each in found.values()]))
    write(records_text(heads, rows, form, caption, notes, width or terminal_width(output)), output)


def _role(baseline: str) -> str:
    return f"{baseline} system" if baseline in ("first", "best") else f"system {baseline}"


def _table(found: Sequence[Comparison], confidence: float) -> tuple[list[str], list[list[Any]]]:
    methods = list(found[0].standings[0].p)
    share = f"{100 * confidence:g}%"
    heads = ["metric", "system", "score", f"{share} low", f"{share} high", "difference"]
    heads += [f"p {method}" for method in methods]
    rows = [
        [each.metric, s.system, s.score, s.low, s.high, s.difference, *(s.p[method] for method in methods)]
        for each in found
        for s in each.standings
    ]
    return heads, rows
