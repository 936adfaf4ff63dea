"""`geceval score`: score the outputs of systems and rank them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import geceval.cli.shared_options as shared
from geceval import registry
from geceval.cli.arguments import m2_of_systems, make_scorers, metric_options
from geceval.cli.rankings import rank, render, worst_sentences
from geceval.cli.tables import check_outputs, terminal_width, write
from geceval.cli.text_files import Corpus, read_corpus
from geceval.core.errors import naming_the_extra
from geceval.core.progress import bar, parts
from geceval.core.result import Result
from geceval.core.warnings import once


def score(
    metrics: shared.Metrics,
    sources: shared.Sources,
    predictions: shared.Predictions,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionsM2 = None,
    option: shared.MetricOptions = None,
    model: Annotated[
        str | None, typer.Option(help="bundled, a folder, or a Hub id[@revision]; for every metric that has a model.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Similarity that a correction must pass (impara, scribendi).")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="Weight of recall in F (all metrics with an F).")] = None,
    average: Annotated[
        str | None,
        typer.Option(help="corpus or sentence (cleme, cleme2, errant, gotoscorer, m2, pt_errant, pt_m2, uot_errant)."),
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Sentences per batch of a neural model.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, mps, cuda:0, ... or several: cuda:0,cuda:1.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, float16, or auto.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that parse sentences (edit metrics).")] = None,
    cache: shared.Cache = None,
    sentence: Annotated[bool, typer.Option("--sentence", help="One score per sentence.")] = False,
    worst: Annotated[
        int | None, typer.Option(min=1, help="Show the N worst corrections, by the first metric; ties by the next.")
    ] = None,
    form: shared.Form = None,
    output: shared.Output = None,
    width: shared.Width = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Score the outputs of systems and rank them, best first.

    Example: geceval score -m impara errant -s source.txt -p systems/*.txt -r reference_0.txt reference_1.txt
    """
    form = shared.chosen_format(form, output, shared.Format)
    shared.no_warnings(quiet)
    metrics = list(dict.fromkeys(metrics))
    options = metric_options(
        metrics,
        option,
        gold_m2=gold_m2,
        model=model,
        threshold=threshold,
        beta=beta,
        average=average,
        batch_size=batch_size,
        device=device,
        dtype=dtype,
        workers=workers,
        cache=cache,
    )
    scorers = make_scorers(options, references)
    check_outputs(output)
    corpus = read_corpus(sources, predictions, references or [])
    files = m2_of_systems(metrics, corpus.systems, predictions_m2)
    with bar(progress), once(set()):
        results = _score_all(scorers, corpus, files)
    rows, used = rank(results, corpus.files, scorers[metrics[0]]), list(scorers.values())
    columns = width or terminal_width(output)
    if worst:
        write(worst_sentences(rows, used, corpus.sources, corpus.systems, form, worst, columns), output)
    else:
        write(render(rows, used, form, len(corpus.sources), sentence, columns), output)


def _score_all(scorers: dict[str, Any], corpus: Corpus, files: dict[str, str] | None) -> dict[str, dict[str, Result]]:
    results: dict[str, dict[str, Result]] = {system: {} for system in corpus.systems}
    for name in parts(scorers):
        with naming_the_extra(name):
            scored = registry.score_systems(scorers[name], corpus.sources, corpus.systems, corpus.references, files)
        for system, result in scored.items():
            results[system][name] = result
    return results
