"""`geceval gate`: exit code 1 where a checker got worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import make_scorers, metric_options
from geceval.cli.tables import Cell, records_text, results_json, terminal_width, write
from geceval.cli.text_files import read_corpus, text_of
from geceval.core.errors import InputError, counted, p_bound
from geceval.core.progress import bar

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.workflows.gate import Gate

Form = Literal["table", "json", "markdown"]


def gate(
    metrics: shared.Metrics,
    sources: shared.Sources,
    baseline: Annotated[str, typer.Option(help="File of what the checker made of the sources before.")],
    candidate: Annotated[str, typer.Option(help="File of what it makes of them now.")],
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    max_drop: Annotated[
        float, typer.Option(help="Drop that is allowed, in points: hundredths of the metric's score.")
    ] = 0.5,
    p: Annotated[float, typer.Option(help="What the p-value of a drop must be below to fail.")] = 0.05,
    resamples: Annotated[int, typer.Option(min=1, help="Number of bootstrap samples.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 1,
    worst: Annotated[int, typer.Option(min=1, help="Rows of each list of sentences; JSON has all.")] = 10,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    form: Annotated[Form | None, shared.FORMAT] = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Exit with 1 if a checker got worse, by more than is allowed and by more than chance; else with 0.

    A metric fails if its drop is larger than --max-drop and p, that of the paired bootstrap, is below --p. If such a
    drop could not have been seen with these sentences, the metric passes with a warning.

    With errant among the metrics, the report has the edits that were lost and the new false alarms, by error type.

    Example: geceval gate -m errant -s source.txt --baseline old.txt --candidate new.txt -r reference_0.txt
    """
    from geceval.workflows.gate import Settings
    from geceval.workflows.gate import gate as run_gate

    form = shared.check_format(form, output, Form)
    shared.no_warnings(quiet)
    test = Settings(max_drop, p, resamples, seed)
    options = metric_options(metrics, option, text=text_of([baseline, candidate]), gold_m2=gold_m2, cache=cache)
    make_scorers(options, references)  # a mistake shows before files are read
    corpus = read_corpus(sources, [baseline, candidate], references or [])
    if len(corpus.systems) != 2:
        raise InputError("--baseline and --candidate take a file each, not a folder")
    with bar(progress):
        result = run_gate(
            list(options), corpus.sources, *corpus.systems.values(), corpus.references, options=options, **asdict(test)
        )
    write(report(result, form, worst, terminal_width(output)), output)
    if not result.passed:
        raise typer.Exit(1)


def report(result: Gate, form: str = "table", worst: int = 10, width: int | None = None) -> str:
    """What a gate found, for people or programs."""
    if form == "json":
        return results_json(**asdict(result))
    test, signatures = result.settings, [each.signature for each in result.verdicts]
    outcome = "PASSED" if result.passed else "FAILED: worse than the baseline"
    caption = f"{outcome}; drops in points (score x 100), allowed {test.max_drop:g} or p ≥ {test.p:g}; p of the paired "
    caption += f"bootstrap, {counted(test.resamples, 'resample')}, seed {test.seed}"
    texts = [records_text(*_verdicts(result), form, caption, signatures, width)]
    texts += [records_text(columns, rows, form, below, width=width) for columns, rows, below in _lists(result, worst)]
    return "\n".join(texts)


def _verdicts(result: Gate) -> tuple[list[str], list[list[Any]]]:
    blind = f"pass, but a drop of {result.settings.max_drop:g} cannot be seen here"
    rows = []
    for each in result.verdicts:
        verdict = "FAIL" if not each.passed else blind if each.blind else "pass"
        p = Cell(each.p, p_bound(each.p, result.settings.resamples))
        drop, visible = (Cell(value, f"{value:.2f}") for value in (each.drop, each.visible))
        rows.append([each.metric, each.baseline, each.candidate, drop, p, visible, verdict])
    return ["metric", "baseline", "candidate", "drop", "p", "smallest visible drop", "verdict"], rows


def _lists(result: Gate, worst: int) -> Iterator[tuple[list[str], list[list[Any]], str]]:
    """Edits by error type, those that make it worse line by line, and sentences under metrics without edits."""
    from geceval.workflows.gate import Kind

    if result.changes:
        counts = {kind: Counter(each.type for each in result.changes if each.kind == kind) for kind in get_args(Kind)}
        harm = counts["lost"] + counts["new alarm"]
        on_correct = Counter(each.type for each in result.changes if each.kind == "new alarm" and each.correct)
        of_columns = [counts["lost"], counts["gained"], counts["new alarm"], counts["alarm gone"], on_correct]
        types = sorted({each.type for each in result.changes}, key=lambda kind: (-harm[kind], kind))
        rows = [[kind, *(column[kind] for column in of_columns)] for kind in types]
        rows.append(["all", *(column.total() for column in of_columns)])
        columns = ["error type", "corrections lost", "gained", "new false alarms", "gone", "new on correct sentences"]
        yield columns, rows, "edits that only one of the two makes, by error type"
        changes = [each for each in result.changes if each.kind in ("lost", "new alarm")]
        changes.sort(key=lambda each: (types.index(each.type), not each.correct, each.line))
        rows = [
            [each.type, each.line, each.kind + " in a correct sentence" * each.correct, each.edit, each.source]
            for each in changes[:worst]
        ]
        caption = f"{len(rows)} of {counted(len(changes), 'edit')} that made it worse"
        yield ["error type", "line", "what", "edit", "sentence"], rows, caption
    for verdict in result.verdicts:
        if verdict.worse and verdict.metric != "errant":
            columns = ["line", "before", "after", "source", "baseline", "candidate"]
            caption = f"{counted(len(verdict.worse), 'sentence')} got worse by {verdict.metric}, the worst ones above"
            yield columns, [[getattr(each, name) for name in columns] for each in verdict.worse[:worst]], caption
