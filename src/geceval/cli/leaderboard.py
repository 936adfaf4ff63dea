"""`geceval leaderboard`: a page that ranks systems under several metrics on a test set of one's own."""

from typing import Annotated

import typer

import geceval.cli.options as shared
from geceval.cli.compare import compare_files
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import write
from geceval.cli.text_files import text_of
from geceval.core.progress import bar


def leaderboard(
    metrics: shared.Metrics,
    sources: shared.Sources,
    predictions: shared.Predictions,
    output: Annotated[str, typer.Option(help="HTML file to write.")],
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionsM2 = None,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Leaderboard",
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap samples.")] = 1000,
    confidence: Annotated[float, typer.Option(help="Of the intervals; ranks differ below 1 - this.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 1,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Write one HTML page: systems by metrics, with intervals.

    Systems that do not differ share a rank.

    Example: geceval leaderboard -m errant gleu -s source.txt -p systems/*.txt -r reference.txt --output page.html

    The first metric orders the systems. The numbers are those of `geceval compare`.
    """
    from geceval.cli.pages import leaderboard_page  # numpy: the help of a verb is to start at once

    shared.no_warnings(quiet)
    shared.check_page(output, ".html", ".htm", advice="; `geceval compare` writes its numbers in other formats")
    options = metric_options(metrics, option, text=text_of(predictions), gold_m2=gold_m2, cache=cache)
    test = {"methods": "bootstrap", "resamples": resamples, "confidence": confidence, "seed": seed}
    with bar(progress):
        comparisons, sentences = compare_files(options, sources, predictions, references, predictions_m2, **test)
    write(leaderboard_page(comparisons, sentences, confidence, title), output)
