"""`geceval report`: one page with the leaderboard of metrics on SEEDA and GJG15."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import geceval.cli.shared_options as shared
from geceval import registry
from geceval.cli.arguments import metric_options
from geceval.cli.html.report import page
from geceval.cli.html.report_numbers import NAMES, numbers
from geceval.cli.tables import check_outputs, write
from geceval.core.errors import InputError
from geceval.core.progress import bar, parts
from geceval.corpora.judgments import read_human
from geceval.meta import figures
from geceval.meta.judgments import HumanData
from geceval.workflows import analyses
from geceval.workflows.report import Leaderboard, make_leaderboard

CURVES, SCATTERED = 6, 4  # metrics that one figure can hold
WINDOW = 4


def report(
    data: Annotated[
        list[str], typer.Option("--data", help="SEEDA, GJG15 or both: checkouts, or what `geceval data` built.")
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
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Metrics and people",
    progress: shared.Progress = False,
) -> None:
    """Write one HTML page: which metrics agree with people.

    A leaderboard of metrics with plots, signatures and the papers' numbers.

    Example: geceval report --data SEEDA GJG15 --gold-m2 official-2014.combined.m2 --output report.html

    With --scores and without -m, only the scores in the files are shown. An output that ends in .json gets the numbers
    of the leaderboard alone: what the demo Space shows.
    """
    shared.check_page(output, ".html", ".htm", ".json", advice="; `geceval meta` writes its numbers in other formats")
    check_outputs(output)
    if Path(output).suffix != ".json":
        figures.check_installed()
    humans = [read_human(folder) for folder in data]
    if len({human.name for human in humans}) < len(humans):
        raise InputError("the same data is given twice")
    names = [] if metrics is None and scores else metrics
    files = _files_by_data(scores or [], humans)
    chosen, skipped = registry.metrics_at_hand() if names is None else (names, None)
    options = metric_options(chosen, option)
    shown = [human for human in humans if names != [] or files[human.name]]
    with bar(progress):
        boards = [
            make_leaderboard(human, options, files[human.name], gold_m2, skipped)
            for human in parts(shown, lambda human: human.name)
        ]
    if Path(output).suffix == ".json":
        write(numbers(boards), output)
        return
    write(page(title, boards, [_figures(board) for board in boards]), output)


def _files_by_data(paths: list[str], humans: list[HumanData]) -> dict[str, list[str]]:
    """Which file of scores belongs to which data: the one whose systems and sentences it has."""
    from geceval.meta.scores import read_scores

    found: dict[str, list[str]] = {human.name: [] for human in humans}
    for path in paths:
        errors = []
        for human in humans:
            try:
                read_scores(path, human.outputs, len(human.sources))
            except InputError as error:
                errors.append(error)
            else:
                found[human.name].append(path)
                break
        else:
            raise errors[0]
    return found


def _figures(board: Leaderboard) -> list[tuple[str, str]]:
    """The figures of one data set, each with its caption: inline SVG."""
    human, tables = board.human, board.tables
    how = "trueskill" if human.name == "seeda" else "corpus"
    kind, items = next(iter(human.judgments.items()))
    skills = {name: scores for name, scores in human.scores.items() if name.startswith("ts_")} or human.scores
    ranked = dataclasses.replace(human, scores=skills)
    drawn = [
        (
            "Accuracy on sentences, and the share of pairs with equal scores.",
            analyses.sentence_level(human, tables, "order", True),
        ),
        (
            f"Correlation over {WINDOW} systems that are neighbours in the human ranking, by the rank of the first; "
            f"the best {CURVES} metrics at most.",
            analyses.window_level(ranked, tables[:CURVES], how, WINDOW),
        ),
        (
            f"Correlation over the K best systems of the human ranking; the best {CURVES} metrics at most.",
            analyses.top_k_level(ranked, tables[:CURVES], how),
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
    captioned = [(caption, each.draw()) for caption, each in drawn]
    shares = _chunk_shares(board)
    if shares:
        caption = (
            "What systems do with the chunks that need correction, and how many of the chunks they change need none, "
            "by CLEME2.0, the best system first."
        )
        captioned.insert(0, (caption, figures.chunk_shares(shares)))
    if board.difficulty:
        caption = "How hard the error types of the first annotator are: mean share of systems that fail."
        captioned.append((caption, figures.difficulty(board.difficulty)))
    return [
        (f"{NAMES[human.name]}: {caption}", figures.inline_svg(figure, f"{human.name}-{number}"))
        for number, (caption, figure) in enumerate(captioned)
    ]


def _chunk_shares(board: Leaderboard) -> dict[str, Mapping[str, float]]:
    """CLEME2.0's shares of each system, the best first; nothing where they are not known."""
    for table in board.tables:
        if table.metric == "cleme2" and table.details:
            scores = table.of_systems("corpus")
            return {system: table.details[system] for system in sorted(scores, key=scores.__getitem__, reverse=True)}
    return {}
