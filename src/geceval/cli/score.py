"""`geceval score`: score the outputs of systems and rank them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.metric_options import m2_of_systems, make_scorers, metric_options
from geceval.cli.tables import JUDGE_LEGEND, Cell, edit_fields, json_text, judged, or_null, show, span_text, write
from geceval.cli.text_files import Corpus, read_corpus, text_of
from geceval.core.errors import InputError, counted, naming_the_extra
from geceval.core.progress import bar, parts
from geceval.core.warnings import once
from geceval.text.answer_files import Sources
from geceval.version import __version__

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.core.result import Result
    from geceval.scorers.base import Scorer

_ZERO = (
    "gleu of {} is 0, for the whole corpus has no match of some length up to four words (are its sentences shorter?); "
    "only sentence scores are smoothed"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One system: its rank (ties share one), name, file and results by metric."""

    rank: int
    system: str
    file: str
    results: dict[str, Result]


def score(
    predictions: shared.Predictions,
    metrics: shared.Metrics = None,
    sources: shared.Sources = None,
    test_set: Annotated[
        str | None, typer.Option("-t", "--test-set", help="One of `geceval data list`, in place of -m, -s and -r.")
    ] = None,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionsM2 = None,
    option: shared.MetricOptions = None,
    text: shared.Text = None,
    model: Annotated[
        str | None, typer.Option(help="bundled, a folder, or a Hub id[@revision]; for every metric that has a model.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Similarity that a correction must pass, for every metric that has one.")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="Weight of recall in F, for every metric with an F.")] = None,
    average: Annotated[
        str | None, typer.Option(help="F of the corpus or mean of sentences: corpus or sentence (edit metrics).")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Sentences per batch of a neural model.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, mps, cuda:0, ... or several: cuda:0,cuda:1.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, float16 or auto.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that parse sentences (edit metrics).")] = None,
    cache: shared.Cache = None,
    sentence: Annotated[bool, typer.Option("--sentence", help="One score per sentence.")] = False,
    worst: Annotated[
        int | None, typer.Option(min=1, help="Show the N worst corrections, by the first metric; ties by the next.")
    ] = None,
    edits: Annotated[
        bool, typer.Option("--edits", help="With --worst: the edits of each, and how likely each is right.")
    ] = False,
    beside: Annotated[bool, typer.Option("--beside", help="Published systems beside yours, with -t.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Also what to write in a paper, with BibTeX.")] = False,
    form: shared.PaperForm = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Score the outputs of systems and rank them, best first.

    Example: geceval score -m impara errant -s source.txt -p systems/*.txt -r reference_0.txt reference_1.txt
    """
    import geceval.cli.named_sets as named_sets
    from geceval.corpora.test_sets import entry
    from geceval.workflows.test_sets import test_set as named_test_set

    form = shared.check_format(form, output, shared.PaperFormat)
    shared.no_warnings(quiet)
    if worst:
        shared.refuse("shows all sentences, and --worst the worst: ask for one of them", sentence=sentence)
    if beside:
        shared.refuse("shows sentences, and --beside systems: ask for one of them", sentence=sentence, worst=worst)
    if not worst:
        shared.refuse("shows the edits of the worst corrections: add --worst N", edits=edits)
    if test_set is not None:
        shared.refuse("says what -t says: leave it out", sources=sources, references=references, gold_m2=gold_m2)
        if entry(test_set).gold == "hidden":
            shared.refuse("is not for a test set without public gold", metrics=metrics, output=output)
            named_sets.write_submissions(test_set, predictions)
            return
    elif not metrics or not sources:
        missing = " and ".join(flag for flag, value in (("'-m'", metrics), ("'-s'", sources)) if not value)
        raise InputError(f"Missing option {missing}; or name a test set: -t NAME")
    named = None if test_set is None else named_test_set(test_set)
    metrics = list(dict.fromkeys(metrics or [named.metric]))
    options = metric_options(
        metrics,
        option,
        text=text or text_of(predictions),
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
    if named is None:
        scorers = make_scorers(options, references)
        corpus = read_corpus(sources, predictions, references or [])
    else:
        scorers = {name: registry.make_scorer(name, named.options(name) | options[name]) for name in metrics}
        corpus = replace(
            read_corpus(Sources(named.name, named.sources, named.ids), predictions), references=named.references
        )
    others = named_sets.published(named, scorers) if beside else {}
    files = m2_of_systems(metrics, corpus.systems, predictions_m2)
    with bar(progress), once(set()):
        results = _score_all(scorers, corpus, files)
    signatures = {name: result.signature for name, result in next(iter(results.values())).items()}
    paper = named_sets.cite(signatures, named, named_sets.as_papers(named, scorers)) if cite else ""
    rows = rank({**others, **results}, {**dict.fromkeys(others, ""), **corpus.files}, scorers[metrics[0]])
    used = list(scorers.values())
    if form == "json" and not worst:
        write(json_text(to_json(rows, used, sentence) | ({"cite": paper} if cite else {})), output)
        return
    if worst:
        columns, cells, caption = _worst(rows, used, corpus, worst)
        if edits:
            columns, cells = [*columns, "edits"], _with_edits(cells, used[0])
    else:
        columns, cells = (_sentence_cells if sentence else _system_cells)(rows, used)
        caption = f"{counted(len(corpus.sources), 'sentence')}, ranked by {_by(used[0])}"
    notes = [note for metric in used for note in _guard_notes(metric.name, rows)]
    notes += [_ZERO.format(", ".join(zero))] if (zero := _unsmoothed(rows)) else []
    notes += [JUDGE_LEGEND] if edits and form == "table" else []
    notes += [named_sets.STAR] if any(" * (" in system for system in others) else []
    lines = dict.fromkeys(row[name].signature for name in signatures for row in results.values())
    show(columns, cells, form, output, caption, [*notes, *lines])
    if cite:
        write("".join(f"# {line}\n" for line in paper.splitlines()) if form == "tsv" else f"\n{paper}", None)


def _score_all(scorers: dict[str, Any], corpus: Corpus, files: dict[str, str] | None) -> dict[str, dict[str, Result]]:
    results: dict[str, dict[str, Result]] = {system: {} for system in corpus.systems}
    for name in parts(scorers):
        scored = registry.score_systems(scorers[name], corpus.sources, corpus.systems, corpus.references, files)
        for system, result in scored.items():
            results[system][name] = result
    return results


def rank(results: dict[str, dict[str, Result]], files: dict[str, str], first: Scorer) -> list[Row]:
    """Systems with the best of the first metric first; equal scores share a rank and keep the order given."""
    # A system whose score is not a number (a judge may fail on every sentence) comes last.
    sign = -1 if first.higher_is_better else 1
    values = {system: sign * by_metric[first.name].score for system, by_metric in results.items()}
    values = {system: math.inf if math.isnan(value) else value for system, value in values.items()}
    ranks = {system: 1 + sum(other < value for other in values.values()) for system, value in values.items()}
    return [Row(ranks[name], name, files[name], results[name]) for name in sorted(results, key=values.__getitem__)]


def _worst(
    rows: Sequence[Row], metrics: Sequence[Scorer], corpus: Corpus, count: int
) -> tuple[list[str], list[list[Any]], str]:
    """The sentences that the first metric likes least, of all systems together, with their texts."""
    # Where it likes several alike, the next metric decides.
    columns, cells = _sentence_cells(rows, metrics)
    signs = [1 if metric.higher_is_better else -1 for metric in metrics]

    def badness(row: list[Any]) -> list[float]:
        scores = [sign * score for sign, score in zip(signs, row[2 : 2 + len(signs)], strict=True)]
        return [math.inf if math.isnan(score) else score for score in scores]

    worst = sorted((row for row in cells if not math.isnan(row[2])), key=badness)[:count]
    shown = [[*row, corpus.sources[row[1] - 1], corpus.systems[row[0]][row[1] - 1]] for row in worst]
    caption = f"the worst of {counted(len(cells), 'correction')} by {_by(metrics[0])}"
    return [*columns, "source", "correction"], shown, caption


def _with_edits(cells: Sequence[list[Any]], metric: Scorer) -> list[list[Any]]:
    """Corrections with their edits, each with how likely it is right."""
    from geceval.workflows.edit_filter import judge_edits

    with naming_the_extra("--edits"):
        corrections = judge_edits(*([row[column] for row in cells] for column in (-2, -1)), text=metric.text)
    shown = []
    for row, each in zip(cells, corrections, strict=True):
        pairs = list(zip(each.edits, each.probabilities, strict=True))
        parts = [part for edit, p in pairs for part in (("; ", ""), judged(p, span_text(each.source, edit)))]
        value = [{**edit_fields(each.source, edit), "right": p} for edit, p in pairs]
        shown.append([*row, Cell(value, "" if pairs else "–", parts=tuple(parts[1:]))])
    return shown


def _by(metric: Scorer) -> str:
    return f"{metric.name} ({'higher' if metric.higher_is_better else 'lower'} is better)"


def _system_cells(rows: Sequence[Row], metrics: Sequence[Scorer]) -> tuple[list[str], list[list[Any]]]:
    columns = ["rank", "system"]
    cells: list[list[Any]] = [[row.rank, row.system] for row in rows]
    better = {}
    for metric in metrics:
        more = [key for key in ("precision", "recall") if key in rows[0].results[metric.name].details]
        better |= {len(columns) + index: index > 0 or metric.higher_is_better for index in range(1 + len(more))}
        columns += [metric.name, *(f"{metric.name}_{key}" for key in more)]
        for row, line in zip(rows, cells, strict=True):
            result = row.results[metric.name]
            line += [result.score, *(result.details[key] for key in more)]
        if _is_guarded(metric.name, rows):
            columns.append(f"{metric.name}_guarded")
            for row, line in zip(rows, cells, strict=True):
                line.append(row.results[metric.name].details["guarded"])
    return columns, best_marked(cells, better)


def _is_guarded(metric: str, rows: Sequence[Row]) -> bool:
    """Whether the guard of a metric penalised a correction of any system."""
    return any(row.results[metric].details.get("guarded") for row in rows)


def _guard_notes(metric: str, rows: Sequence[Row]) -> list[str]:
    """How many corrections of each system a guard penalised, with the commonest reasons."""
    from geceval.scorers.learned.guard import summary

    struck = [(row.system, row.results[metric].details.get("guard_reasons", [])) for row in rows]
    return [f"{metric}_guarded: {system} {summary(reasons)}" for system, reasons in struck if any(reasons)]


def _unsmoothed(rows: Sequence[Row]) -> list[str]:
    """Systems of which GLEU is 0 though sentences have more."""
    results = {row.system: row.results["gleu"] for row in rows if "gleu" in row.results}
    return [system for system, result in results.items() if result.score == 0 < max(result.scores, default=0)]


def _sentence_cells(rows: Sequence[Row], metrics: Sequence[Scorer]) -> tuple[list[str], list[list[Any]]]:
    guarded = [metric.name for metric in metrics if _is_guarded(metric.name, rows)]
    columns = ["system", "line", *(metric.name for metric in metrics), *(f"{name}_guard" for name in guarded)]
    cells = []
    for row in rows:
        scores = [row.results[metric.name].scores for metric in metrics]
        reasons = [row.results[name].details["guard_reasons"] for name in guarded]
        cells += [[row.system, number, *values] for number, values in enumerate(zip(*scores, *reasons, strict=True), 1)]
    return columns, cells


def to_json(rows: Sequence[Row], metrics: Sequence[Scorer], by_sentence: bool) -> dict[str, Any]:
    """The ranking as plain values, with the scores of sentences if `by_sentence`."""

    def result(value: Result) -> dict[str, Any]:
        values = value.to_dict()
        if not by_sentence:
            values = {key: item for key, item in values.items() if not isinstance(item, list)}
        return or_null(values)

    systems = [
        {
            "rank": row.rank,
            "system": row.system,
            "file": row.file,
            "metrics": {metric: result(value) for metric, value in row.results.items()},
        }
        for row in rows
    ]
    return {
        "geceval": __version__,
        "sentences": max(len(row.results[metrics[0].name].scores) for row in rows),
        "ranked_by": metrics[0].name,
        "metrics": {
            metric.name: {"higher_is_better": metric.higher_is_better, "bounds": metric.bounds} for metric in metrics
        },
        "systems": systems,
    }


def best_marked(cells: Sequence[Sequence[Any]], better: Mapping[int, bool]) -> list[list[Any]]:
    """The rows with the best numbers of some columns marked as such; equal ones all are."""
    marked = [list(row) for row in cells]
    for column, higher in better.items():
        values = [row[column] for row in cells if not math.isnan(row[column])]
        best = (max if higher else min)(values, default=None)
        for row in marked:
            row[column] = Cell(row[column], best=row[column] == best)
    return marked
