"""`geceval attack`: can a metric be gamed?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import Cell, results_json, table_text, terminal_width, write
from geceval.cli.text_files import read_corpus, text_of
from geceval.core.progress import bar

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.workflows.attack import Estimate, Resistance

COLUMNS = ["attack", "score", "> source", "> reference", "beats", "changed", ""]
HEADLINES = ["metric", "attacks", "systems beaten", "by", "above references", "by", "honest system", "flips missed"]


def attack(
    metrics: shared.Metrics,
    sources: Annotated[
        str | None, typer.Option("-s", "--sources", help="File, one sentence per line; by default the example corpus.")
    ] = None,
    predictions: Annotated[
        list[str] | None, typer.Option("-p", "--predictions", help="Outputs of honest systems: files, or a folder.")
    ] = None,
    references: shared.References = None,
    attacks: Annotated[
        list[str] | None, typer.Option("--attack", help="Outputs of attacks of your own, one file per attack.")
    ] = None,
    budget: Annotated[
        int, typer.Option(min=0, help="Also attacks that search, with so many texts tried a sentence: 80 is usual.")
    ] = 0,
    sentences: Annotated[int | None, typer.Option(min=1, help="Attack so many sentences, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of searches, flips and resamples.")] = 1,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    form: shared.Page = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Attack metrics with texts that are no corrections.

    An attack fails a metric if it beats an honest system: FAIL. Also counted: outputs above their source, and above
    each reference; and changes of meaning that cost nothing.

    Example: geceval attack -m impara_lm

    The example corpus takes about a minute, with --budget 80 about ten. With -s -p -r it is a corpus of your own.
    """
    from geceval.cli.pages import attack_page
    from geceval.workflows.attack import attack as attack_metrics

    form = shared.check_format(form, output, shared.PageFormat)
    shared.no_warnings(quiet)
    options = metric_options(metrics, option, text=text_of(predictions), cache=cache)
    settings: dict[str, Any] = {"options": options, "budget": budget, "sentences": sentences, "seed": seed}
    if sources is None:
        shared.refuse("needs the sources: -s FILE", predictions=predictions, references=references, attack=attacks)
    else:
        honest = read_corpus(sources, predictions or [], references or [])
        settings |= {"sources": honest.sources, "systems": honest.systems, "references": honest.references}
        settings["attacks"] = read_corpus(sources, attacks or []).systems
    with bar(progress, "attack"):
        resistances = list(attack_metrics(list(options), **settings).values())
    if form == "json":
        write(results_json(metrics=[dataclasses.asdict(each) for each in resistances]), output)
    else:
        write(attack_page(resistances) if form == "html" else _tables(resistances, terminal_width(output)), output)


def _tables(resistances: Sequence[Resistance], width: int | None) -> str:
    """For each metric its rows and its flips; then the headlines of all."""
    tables = []
    for each in resistances:
        tables.append(table_text([each.metric, *COLUMNS], _rows(each), width))
        if each.flips:
            flips = [[flip.name, _interval(flip.share), flip.flips] for flip in each.flips]
            tables.append(table_text(["flips of references", "missed", "of"], flips, width))
    lines = [line for each in resistances for line in headlines(each)]
    notes = dict.fromkeys([*(each.signature for each in resistances), *(each.test for each in resistances)])
    return "\n".join([*tables, table_text(HEADLINES, lines, width, notes=list(notes))])


def _rows(each: Resistance) -> list[list[Any]]:
    """A row for each control and attack; its family stands in the first of it."""
    rows: list[list[Any]] = []
    for before, row in zip([None, *each.rows], each.rows, strict=False):
        family = row.family if before is None or before.family != row.family else ""
        name = f"{row.name} (searched)" if row.kind == "searched" else row.name
        beats = "–" if row.beaten is None else f"{row.beaten.value:.0f}/{each.systems}"
        score = Cell(row.score.value, f"{row.score.value:.2f}")
        shares = [_percent(row.above_source), _percent(row.above_reference)]
        rows.append([family, name, score, *shares, Cell(0, beats), row.changed, "FAIL" * row.fails])
    return rows


def headlines(each: Resistance) -> list[list[Any]]:
    """The headlines of one metric, a row for each kind of attack."""
    missed = next((f"{_interval(flip.share).text} of {flip.flips}" for flip in each.flips if flip.name == "all"), "–")
    return [
        [
            each.metric if number == 0 else "",
            line.kind,
            Cell(0, f"{line.worst.beaten.value:.0f} of {each.systems}" if line.worst.beaten else "–"),
            line.worst.name if line.worst.fails else "–",
            _interval(line.ceiling.above_reference if line.ceiling else None),
            line.ceiling.name if line.ceiling else "–",
            _percent(each.control.above_reference if each.control else None),
            Cell(0, missed if number == 0 else "–"),
        ]
        for number, line in enumerate(each.headlines)
    ]


def _percent(share: Estimate | None) -> Cell:
    return Cell(0, "–" if share is None else f"{100 * share.value:.0f}%")


def _interval(share: Estimate | None) -> Cell:
    return Cell(0, "–" if share is None else f"{100 * share.value:.0f}% ({100 * share.low:.0f}–{100 * share.high:.0f})")
