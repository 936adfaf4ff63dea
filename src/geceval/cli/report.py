"""`geceval meta report`: one page on the agreement of metrics with SEEDA and GJG15."""

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.metric_options import metric_options
from geceval.cli.pages import report_page, report_table
from geceval.cli.tables import write
from geceval.core.errors import InputError
from geceval.core.progress import bar, parts
from geceval.corpora.judgments import read_human
from geceval.meta import figures
from geceval.meta.judgments import HumanData
from geceval.meta.papers import COLUMNS
from geceval.version import __version__
from geceval.workflows import analyses
from geceval.workflows.report import (
    AGGREGATIONS,
    ATTACKS,
    RANKED_BY,
    Report,
    make_report,
    published_values,
    resistance,
    rivals_of_best,
)

NAMES = {"seeda": "SEEDA", "gjg15": "GJG15", "gmeg": "GMEG"}
CURVES, SCATTERED = 6, 4  # metrics that one figure can hold
WINDOW = 4
LEVEL = 0.05  # below it a difference is called significant
DIGITS = 6  # of the numbers alone: more than 391 sentences can tell


def report(
    data: Annotated[
        list[str], typer.Option("--data", help="SEEDA, GJG15, GMEG: checkouts, or what `geceval data` built.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="HTML file to write; .json: the numbers alone.")],
    gold_m2: shared.ConllM2 = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("-m", "--metrics", help="Metrics; by default all that run here with nothing fetched."),
    ] = None,
    scores: Annotated[
        list[str] | None, typer.Option("--scores", help="Scores of other metrics; see geceval meta.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="[METRIC.]KEY=VALUE", help="Any option of the metrics.")
    ] = None,
    title: Annotated[str | None, typer.Option(help='Title of the page; "Metrics and people" by default.')] = None,
    progress: shared.Progress = False,
) -> None:
    """Write one HTML page: which metrics agree with people.

    A table of metrics with plots, signatures and the papers' numbers.

    Example: geceval meta report --data SEEDA GJG15 --gold-m2 official-2014.combined.m2 --output report.html

    With --scores and without -m, only the scores in the files are shown. An output that ends in .json gets the numbers
    alone: what the demo Space shows.
    """
    if Path(output).suffix == ".json":
        shared.refuse("is that of a page, and a .json output has none", title=title)
    shared.check_page(output, ".html", ".htm", ".json", advice="; `geceval meta` writes its numbers in other formats")
    if Path(output).suffix != ".json":
        figures.check_installed()
    humans = [read_human(folder) for folder in data]
    if len({human.name for human in humans}) < len(humans):
        raise InputError("the same data is given twice")
    names = [] if metrics is None and scores else metrics
    if not names and names is not None:
        shared.refuse("is for metrics: add -m NAME...", gold_m2=gold_m2, option=option)
    files = _files_by_data(scores or [], humans)
    chosen, skipped = registry.metrics_at_hand() if names is None else (names, None)
    options = metric_options(chosen, option)
    shown = [human for human in humans if names != [] or files[human.name]]
    with bar(progress):
        reports = [
            make_report(human, options, files[human.name], gold_m2, skipped)
            for human in parts(shown, lambda human: human.name)
        ]
        attacked = resistance(options)
    reports = [dataclasses.replace(each, attacks=attacked) for each in reports]
    if Path(output).suffix == ".json":
        write(numbers(reports), output)
        return
    write(report_page(title or "Metrics and people", [_section(report) for report in reports]), output)


def _files_by_data(paths: list[str], humans: list[HumanData]) -> dict[str, list[str]]:
    """Name of each data set to the files of scores that have its systems and sentences."""
    from geceval.meta.scores import read_scores

    files: dict[str, list[str]] = {human.name: [] for human in humans}
    for path in paths:
        errors = []
        for human in humans:
            try:
                read_scores(path, human.outputs, len(human.sources))
            except InputError as error:
                errors.append(error)
            else:
                files[human.name].append(path)
                break
        else:
            raise errors[0]
    return files


def numbers(reports: Sequence[Report]) -> str:
    """The numbers of a report as JSON, without any sentence of a corpus: what the demo Space shows."""
    content = {"geceval": __version__, "boards": [as_json(report, DIGITS) for report in reports]}
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_json(report: Report, digits: int | None = None) -> dict[str, Any]:
    """One data set as plain values, `None` for what is not a number; measured values are rounded to `digits`."""

    def plain(value: float) -> float | None:
        return None if not math.isfinite(value) else value if digits is None else round(value, digits)

    human = report.human
    columns = {**COLUMNS[human.name], **({"attacks by rule": ATTACKS} if report.attacks else {})}
    return {
        "data": human.name,
        "name": NAMES[human.name],
        "systems": list(report.systems),
        "sentences": len(human.sources),
        "judgments": sum(map(len, human.judgments.values())),
        "columns": {group: list(keys) for group, keys in columns.items()},
        "ranked_by": RANKED_BY[human.name],
        "rows": [
            {
                "metric": table.metric,
                "signature": table.signature,
                "values": {key: plain(value) for key, value in _values(report, table.metric).items()},
                "published": {
                    key: {"value": value, "source": f"{row.paper}: {row.label}"}
                    for key, (value, row) in published_values(report.published, table.metric).items()
                },
            }
            for table in report.tables
        ],
        "not_scored": sorted(report.skipped),
    }


def _values(report: Report, metric: str) -> dict[str, float]:
    """The values of a metric, beside those of attacks on it where it was attacked."""
    return {**report.values[metric], **report.attacks.get(metric, {})}


def _section(report: Report) -> dict[str, Any]:
    """The parts of the page about one data set."""
    labels = {}
    for table in report.tables:
        published = published_values(report.published, table.metric).values()
        labels[table.metric] = list(dict.fromkeys(f"{row.label}: {row.paper}" for _, row in published))
    published_only: dict[tuple[str, str], dict[str, Any]] = {}
    for row in report.published:
        if row.metric not in report.values:
            entry = published_only.setdefault(
                (row.label, row.paper), {"label": row.label, "paper": row.paper, "values": {}}
            )
            entry["values"].update(row.values)
    content = as_json(report)
    return {
        **content,
        "summary": summary(report),
        "level": LEVEL,
        "table": report_table(content, None, labels, list(published_only.values())),
        "figures": _figures(report),
        "signatures": [
            table.signature or f"{table.metric}: from a file, without a signature" for table in report.tables
        ],
        "skipped": [f"{name}: {why}" for name, why in report.skipped.items()],
    }


def summary(report: Report) -> str:
    """Two or three sentences: the metric that agrees best with people, its lead, and whether that could be chance."""
    first, rivals = report.tables[0].metric, rivals_of_best(report)
    accuracy = 100 * report.values[first][RANKED_BY[report.human.name]]
    best = f"{first} agrees best with people: it orders {accuracy:.1f}% of the pairs of outputs as they do."
    if not rivals:
        return f"{best} No other metric was measured."
    (second, test), *_ = rivals.items()
    by = f"That is {100 * test.difference:.1f} points more than {second}"
    if test.p < LEVEL:
        return f"{best} {by}, the second, a significant difference ({_p(test.p)})."
    worse = next(((name, each) for name, each in rivals.items() if each.p < LEVEL), None)
    text = f"{best} {by}, the second, which is no significant difference ({_p(test.p)})."
    if worse is None:
        return f"{text} No metric is significantly worse than the best."
    return f"{text} The first that is significantly worse is {worse[0]}, by {100 * worse[1].difference:.1f} points."


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".", 1)


def _figures(report: Report) -> list[tuple[str, str]]:
    """The figures of one data set, each with its caption: inline SVG."""
    drawn = [(caption, analysis.draw()) for caption, analysis in _analyses(report)]
    name = report.human.name
    return [
        (f"{NAMES[name]}: {caption}", figures.inline_svg(figure, f"{name}-{number}"))
        for number, (caption, figure) in enumerate(drawn)
    ]


def _analyses(report: Report) -> list[tuple[str, analyses.Analysis]]:
    """The analyses of every data set, each with its caption."""
    human, tables = report.human, report.tables
    how = next(iter(AGGREGATIONS[human.name].values()))
    kind, items = next(iter(human.judgments.items()))
    skills = {name: scores for name, scores in human.scores.items() if name.startswith("ts_")} or human.scores
    ranked = dataclasses.replace(human, scores=skills)
    return [
        (
            "Accuracy on sentences, and the share of pairs with equal scores.",
            analyses.sentence_level(human, tables, "order", True),
        ),
        (
            f"Correlation over {WINDOW} systems that are neighbours in the human ranking, by the rank of the first; "
            f"the best {CURVES} metrics at most.",
            analyses.curves(ranked, tables[:CURVES], how, WINDOW),
        ),
        (
            f"Correlation over the K best systems of the human ranking; the best {CURVES} metrics at most.",
            analyses.curves(ranked, tables[:CURVES], how),
        ),
        (
            "How often people prefer the output that a metric ranks higher, as Kendall’s τ, by the two ranks, and the "
            "difference of two metrics; the best two.",
            analyses.pairwise(dataclasses.replace(human, judgments={kind: items}), tables[:2], "metric", "order", True),
        ),
        (
            f"Scores of the systems by metric ({how}) and by people; the best {SCATTERED} metrics at most.",
            analyses.system_level(ranked, tables[:SCATTERED], how),
        ),
    ]
