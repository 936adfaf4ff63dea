"""`geceval score`: score the outputs of systems and rank them."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import typer

from geceval.cli import report
from geceval.cli.arguments import Cache, Format, metric_options
from geceval.cli.corpus import Corpus, read_corpus
from geceval.core.extras import naming_the_extra
from geceval.core.result import Result
from geceval.hub import registry


def score(
    metrics: Annotated[list[str], typer.Option("-m", "--metrics", help="One or more of `geceval list`.")],
    sources: Annotated[str, typer.Option("-s", "--sources", help="What the learners wrote, one sentence a line.")],
    predictions: Annotated[list[str], typer.Option("-p", "--predictions", help="One file per system.")],
    references: Annotated[
        list[str] | None,
        typer.Option("-r", "--references", help="One file per annotator; a blank line is no reference."),
    ] = None,
    gold_m2: Annotated[
        str | None, typer.Option("--gold-m2", "--refs-m2", help="M2 file of the gold edits, in place of -r.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", metavar="[METRIC.]KEY=VALUE", help="Any option of the metrics."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="bundled, a folder, or a Hub id[@revision].")] = None,
    threshold: Annotated[float | None, typer.Option(help="Similarity threshold (impara).")] = None,
    beta: Annotated[float | None, typer.Option(help="Weight of recall in F (edit metrics).")] = None,
    average: Annotated[str | None, typer.Option(help="corpus or sentence (edit metrics).")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Sentences a batch of a neural model.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda:0, mps, ...")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, float16, or auto.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that parse sentences (edit metrics).")] = None,
    cache: Cache = None,
    sentence: Annotated[bool, typer.Option("--sentence", help="One score a sentence.")] = False,
    form: Annotated[
        Format, typer.Option("--format", envvar="GECEVAL_FORMAT", help="How to write the scores.")
    ] = Format.table,
    output: Annotated[str | None, typer.Option(help="File to write, in place of standard output.")] = None,
    width: Annotated[int | None, typer.Option(min=20, help="Columns of a table.")] = None,
    progress: Annotated[bool, typer.Option("--progress", help="Show progress on standard error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No warnings.")] = False,
) -> None:
    """Score the outputs of systems and rank them, best first.

    Example: geceval score -m impara errant -s source.txt -p systems/*.txt -r reference_0.txt reference_1.txt
    """
    if quiet:
        logging.getLogger("geceval").setLevel(logging.ERROR)
    named = {
        "gold_m2": gold_m2,
        "model": model,
        "threshold": threshold,
        "beta": beta,
        "average": average,
        "batch_size": batch_size,
        "device": device,
        "dtype": dtype,
        "workers": workers,
        "cache": cache,
        "progress": "yes" if progress else None,
    }
    assignments = [f"{key}={value}" for key, value in named.items() if value is not None]
    metrics = list(dict.fromkeys(metrics))
    options = metric_options(metrics, [*assignments, *(option or [])])
    scorers = {name: registry.make_scorer(name, options[name]) for name in metrics}
    for name, scorer in scorers.items():
        if scorer.needs_references() and not references:
            gold = " or --gold-m2 FILE" if hasattr(scorer.Settings, "gold_m2") else ""
            raise ValueError(f"{name} needs references: pass -r FILE...{gold}")
    report.check_outputs(output)
    corpus = read_corpus(sources, predictions, references or [])
    rows = report.rank(_score_all(scorers, corpus), corpus.files, registry.entry(metrics[0]))
    entries = [registry.entry(name) for name in metrics]
    columns = width or report.terminal_width(output)
    report.write(report.render(rows, entries, form, len(corpus.sources), sentence, columns), output)


def _score_all(scorers: dict[str, Any], corpus: Corpus) -> dict[str, dict[str, Result]]:
    results: dict[str, dict[str, Result]] = {system: {} for system in corpus.systems}
    for name, scorer in scorers.items():
        with naming_the_extra(name):
            scored = registry.score_systems(scorer, corpus.sources, corpus.systems, corpus.references)
        for system, result in scored.items():
            results[system][name] = result
    return results
