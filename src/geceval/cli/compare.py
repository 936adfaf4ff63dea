"""`geceval compare`: do systems differ under a metric, or is it chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import m2_of_systems, make_scorers, metric_options
from geceval.cli.tables import Cell, show
from geceval.cli.text_files import read_corpus, text_of
from geceval.core.errors import counted, p_bound
from geceval.core.progress import bar
from geceval.registry import scorer_class

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.workflows.compare import Comparison


def compare(
    metrics: shared.Metrics,
    sources: shared.Sources,
    predictions: shared.Predictions,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionsM2 = None,
    baseline: Annotated[str, typer.Option(help="Compare with this system: first, best, or a name.")] = "first",
    method: Annotated[
        list[str] | None, typer.Option(help="Kinds of p-values: bootstrap, randomisation; all by default.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Number of bootstrap samples, and of random swaps.")] = 1000,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals and of the ranks.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 1,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    form: shared.PaperForm = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Test whether systems differ by more than chance.

    Each system is scored once, which gives confidence intervals and two-sided p-values. Systems differ if the paired
    bootstrap gives p < 1 - confidence; systems that do not differ share a rank. For an HTML page: geceval leaderboard.

    Example: geceval compare -m errant gleu -s source.txt -p a.txt b.txt -r reference_0.txt reference_1.txt
    """
    form = shared.check_format(form, output, shared.PaperFormat)
    shared.no_warnings(quiet)
    options = metric_options(metrics, option, text=text_of(predictions), gold_m2=gold_m2, cache=cache)
    test: dict[str, Any] = {"baseline": baseline, "resamples": resamples, "confidence": confidence, "seed": seed}
    if method:
        test["methods"] = tuple(method)
    with bar(progress):
        comparisons, sentences = compare_files(options, sources, predictions, references, predictions_m2, **test)
    data = form in ("json", "tsv")
    columns, rows = _table(list(comparisons.values()), baseline, confidence, resamples, data)
    role = f"{baseline} system" if baseline in ("first", "best") else f"system {baseline}"
    caption = f"{counted(sentences, 'sentence')}; p of the difference from the {role}, two-sided, "
    caption += counted(resamples, "resample")
    every = comparisons.values()
    notes = list(dict.fromkeys([*(each.signature for each in every), *(each.test for each in every)]))
    show(columns, rows, form, output, caption, notes)


def compare_files(
    options: Mapping[str, dict[str, Any]],
    sources: str,
    predictions: Sequence[str],
    references: Sequence[str] | None,
    predictions_m2: Sequence[str] | None,
    **test: Any,
) -> tuple[dict[str, Comparison], int]:
    """Compare the systems of files under each metric of `options`; also the number of sentences."""
    from geceval.workflows.compare import compare as compare_systems

    make_scorers(options, references)  # a mistake shows before files are read
    corpus = read_corpus(sources, predictions, references or [])
    test["predictions_m2"] = m2_of_systems(list(options), corpus.systems, predictions_m2)
    columns = corpus.sources, corpus.systems, corpus.references
    return compare_systems(list(options), *columns, options=options, **test), len(corpus.sources)


def _table(
    comparisons: Sequence[Comparison], baseline: str, confidence: float, resamples: int, data: bool
) -> tuple[list[str], list[list[Any]]]:
    """The systems under each metric, the best first; those that do not differ share a rank."""
    from geceval.cli.pages import ordered
    from geceval.meta.significance.systems import pick_baseline

    methods = list(comparisons[0].standings[0].p)
    share = "" if data else f"{100 * confidence:g}% "  # keys of data are the same whatever the level
    columns = ["metric", "rank", "system", "score", f"{share}low", f"{share}high", "difference"]
    columns += [f"p {method}" for method in methods]
    rows = []
    for each in comparisons:
        higher = scorer_class(each.metric).higher_is_better
        first = pick_baseline({s.system: s.score for s in each.standings}, baseline, higher)
        standings = ordered(each.metric, each.standings)
        for s in standings:
            is_baseline, is_best = s.system == first, s.score == standings[0].score
            row = [each.metric, s.rank, Cell(s.system, f"{s.system} (baseline)" if is_baseline else "")]
            row += [Cell(s.score, best=is_best), s.low, s.high, Cell(s.difference, "–" if is_baseline else "")]
            row += [Cell(s.p[method], "–" if is_baseline else p_bound(s.p[method], resamples)) for method in methods]
            rows.append([*row, is_baseline, higher] if data else row)
    return [*columns, "baseline", "higher_is_better"] if data else columns, rows
