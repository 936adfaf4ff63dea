"""`geceval attack`: can a metric be gamed?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import typer

import geceval.cli.options as shared
from geceval.cli.pages import attack_counts, attack_page
from geceval.cli.tables import Cell, json_text, records_text, terminal_colours, terminal_width, write
from geceval.cli.text_files import read_corpus
from geceval.core.errors import InputError
from geceval.core.progress import bar
from geceval.version import __version__
from geceval.workflows.attack import STANDARD_BUDGET, Estimate, Resistance
from geceval.workflows.attack import attack as attack_metrics

AttackFormat = Literal["table", "json", "tsv", "markdown", "html"]
COLUMNS = ["family", "attack", "score", "> source", "> reference", "beats", "changed", ""]
BRIEF = ["metric", "attacks", "systems beaten", "by", "above references", "by", "honest system", "flips missed"]


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
    search: Annotated[
        bool, typer.Option("--search", help="Also attacks that ask the metric which text it likes best.")
    ] = False,
    budget: Annotated[
        int | None, typer.Option(min=1, help=f"Texts that a search may try for a sentence: {STANDARD_BUDGET}.")
    ] = None,
    sentences: Annotated[int | None, typer.Option(min=1, help="Attack so many sentences, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of searches, flips and resamples.")] = 1,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    brief: Annotated[bool, typer.Option("--brief", help="Only the worst attacks, a line a metric.")] = False,
    form: Annotated[
        AttackFormat | None, typer.Option("--format", help="How to write it; by default as --output ends.")
    ] = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Attack metrics with texts that are no corrections.

    An attack fails a metric if it beats an honest system: FAIL. Also counted: outputs above their source, and above
    each reference; and changes of meaning that cost nothing.

    Example: geceval attack -m impara_lm

    The example corpus takes about a minute, with --search about ten. With -s -p -r it is a corpus of your own.
    """
    form = shared.check_format(form, output, AttackFormat)
    shared.no_warnings(quiet)
    if brief and form in ("json", "tsv", "html"):
        raise InputError("--brief is for --format table or markdown")
    options = shared.metric_options(metrics, option, cache=cache)
    tried = 0 if budget is None and not search else budget or STANDARD_BUDGET
    texts = _read(sources, predictions, references, attacks)
    with bar(progress, "attack"):
        resistances = attack_metrics(
            list(options), **texts, options=options, budget=tried, sentences=sentences, seed=seed
        )
    write(_text(list(resistances.values()), form, brief, output), output)


def _read(
    sources: str | None, predictions: list[str] | None, references: list[str] | None, attacks: list[str] | None
) -> dict[str, Any]:
    """The texts of files; none, for the example corpus, without files."""
    if sources is None:
        shared.refuse("needs the sources: -s FILE", predictions=predictions, references=references, attack=attacks)
        return {}
    honest = read_corpus(sources, predictions or [], references or [])
    return {
        "sources": honest.sources,
        "systems": honest.systems,
        "references": honest.references,
        "attacks": read_corpus(sources, attacks or [], []).systems,
    }


def _text(resistances: Sequence[Resistance], form: str, brief: bool, output: str | None) -> str:
    if form == "json":
        return json_text({"geceval": __version__, "metrics": [dataclasses.asdict(each) for each in resistances]})
    if form == "html":
        return attack_page(resistances)
    if form == "tsv":
        records = [record for each in resistances for record in _records(each)]
        return records_text(
            list(records[0]), [list(record.values()) for record in records], form, notes=_notes(resistances)
        )
    tables = [] if brief else [table for each in resistances for table in _tables(each)]
    width = terminal_width(output)
    parts = [records_text(columns, cells, form, width=width) for columns, cells in tables]
    lines = [row for each in resistances for row in summary(each)]
    caption = attack_counts(resistances[0]) if len(resistances) == 1 else ""
    parts.append(records_text(BRIEF, lines, form, caption, _notes(resistances), width))
    text = "\n".join(parts)
    red = typer.style("FAIL", fg="red", bold=True)
    return text.replace(" FAIL", f" {red}") if terminal_colours(output) else text


# --- A table for people ----------------------------------------------------------------------------------------------


def _tables(each: Resistance) -> list[tuple[list[str], list[list[Any]]]]:
    """All rows of one metric, then its flips: columns and cells."""
    rows: list[list[Any]] = []
    for before, row in zip([None, *each.rows], each.rows, strict=False):
        family = row.family if before is None or before.family != row.family else ""
        name = f"{row.name} (searched)" if row.kind == "searched" else row.name
        beats = "–" if row.beaten is None else f"{row.beaten.value:.0f}/{row.rivals}"
        shares = [_percent(row.above_source), _percent(row.above_reference)]
        score = Cell(row.score.value, f"{row.score.value:.2f}")
        rows.append([family, name, score, *shares, Cell(0, beats), row.changed, "FAIL" * row.fails])
    tables = [([each.metric, *COLUMNS[1:]], rows)]
    if each.flips:
        flips = [[flip.name, _interval(flip.share), flip.flips] for flip in each.flips]
        tables.append(([f"flips of {each.flipped}", "missed", "of"], flips))
    return tables


def summary(each: Resistance) -> list[list[Any]]:
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


def _notes(resistances: Iterable[Resistance]) -> list[str]:
    return list(dict.fromkeys([*(each.signature for each in resistances), *(each.test for each in resistances)]))


def _percent(share: Estimate | None) -> Cell:
    return Cell(0, "–" if share is None else f"{100 * share.value:.0f}%")


def _interval(share: Estimate | None) -> Cell:
    return Cell(0, "–" if share is None else f"{100 * share.value:.0f}% ({100 * share.low:.0f}–{100 * share.high:.0f})")


# --- A table for programs --------------------------------------------------------------------------------------------


def _records(each: Resistance) -> list[dict[str, Any]]:
    """A record for each row and each kind of flip, with the ends of intervals; what a row has not is empty."""
    records = []
    for row in each.rows:
        fields: dict[str, Any] = {"metric": each.metric, "family": row.family, "attack": row.name, "kind": row.kind}
        for name in ("score", "above_source", "above_reference", "beaten"):
            fields |= _ends(name, getattr(row, name))
        of = {"of": row.rivals, "changed": row.changed, "sentences": row.sentences}
        records.append({**fields, **of, "fails": row.fails, **_ends("missed", None)})
    empty = dict.fromkeys(records[0], "")
    for flip in each.flips:
        fields = {"metric": each.metric, "family": "flips", "attack": flip.name, "kind": "static", "of": flip.flips}
        records.append({**empty, **fields, **_ends("missed", flip.share)})
    return records


def _ends(name: str, estimate: Estimate | None) -> dict[str, Any]:
    names = (name, f"{name}_low", f"{name}_high")
    return dict(zip(names, dataclasses.astuple(estimate) if estimate else ("", "", ""), strict=True))
