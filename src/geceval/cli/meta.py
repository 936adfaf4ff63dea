"""`geceval meta`: how well metrics agree with people on SEEDA or GJG15."""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from geceval.cli.arguments import Format, metric_options
from geceval.cli.report import check_outputs, records_text, write
from geceval.edits.m2 import read_m2, references, write_m2
from geceval.hub import registry
from geceval.meta.data import HumanData, read_human, system_set
from geceval.meta.protocol import aggregate, agreement, correlate_systems, judged_pairs, windows


class Level(str, enum.Enum):
    """What is compared with people."""

    system = "system"
    sentence = "sentence"


class Aggregation(str, enum.Enum):
    """How sentence scores become a system's score; `corpus` takes the metric's own."""

    corpus = "corpus"
    average = "average"
    trueskill = "trueskill"
    expected_wins = "expected_wins"


class Ties(str, enum.Enum):
    """What equal scores of a metric mean."""

    order = "order"
    zero = "zero"
    drop = "drop"


def meta(
    metrics: Annotated[list[str], typer.Option("-m", "--metrics", help="One or more of `geceval list`.")],
    data: Annotated[str, typer.Option("--data", help="A checkout of SEEDA or of GJG15.")],
    gold_m2: Annotated[
        str | None, typer.Option("--gold-m2", help="CoNLL-2014 M2 file, for metrics that need references.")
    ] = None,
    level: Annotated[Level, typer.Option(help="Compare systems or sentences.")] = Level.system,
    systems: Annotated[
        str | None, typer.Option(help="base, +INPUT, +fluency or all; base for SEEDA, all for GJG15.")
    ] = None,
    aggregation: Annotated[Aggregation, typer.Option(help="Score of a system.")] = Aggregation.corpus,
    ties: Annotated[Ties, typer.Option(help="Tied sentences: the later system wins, nobody does, or no pair.")] = (
        Ties.order
    ),
    window: Annotated[int | None, typer.Option(min=2, help="Correlate each run of so many neighbours.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", metavar="[METRIC.]KEY=VALUE", help="Any option of the metrics."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", envvar="GECEVAL_FORMAT", help="How to write it.")] = Format.table,
    output: Annotated[str | None, typer.Option(help="File to write, in place of standard output.")] = None,
) -> None:
    """Compare metrics with human judgments of systems.

    Example: geceval meta -m impara gleu --data SEEDA --gold-m2 official-2014.combined.m2 --level sentence
    """
    metrics = list(dict.fromkeys(metrics))
    check_outputs(output)
    human = read_human(data)
    chosen = system_set(human, systems or ("base" if human.name == "seeda" else "all"))
    with tempfile.TemporaryDirectory() as folder:
        assignments = list(option or [])
        texts = None
        if gold_m2 is not None:
            path = _select_m2(gold_m2, human, Path(folder))
            texts = [list(references(sentence).values()) for sentence in read_m2(path)]
            if any(hasattr(registry.scorer_class(name).Settings, "gold_m2") for name in metrics):
                assignments.insert(0, f"gold_m2={path}")
        options = metric_options(metrics, assignments)
        table = {name: _score(name, options[name], human, chosen, texts) for name in metrics}
    if level is Level.sentence:
        heads, rows = _sentence_rows(human, chosen, table, ties.value)
    else:
        heads, rows = _system_rows(human, chosen, table, aggregation.value, window)
    how = f"tie rule {ties.value}" if level is Level.sentence else f"{aggregation.value} scores of the systems"
    caption = f"{human.name}, {len(chosen)} systems, {len(human.sources)} sentences; {how}"
    signatures = [results[chosen[0]].signature for results in table.values()]
    write(records_text(heads, rows, form, caption, signatures), output)


def _select_m2(path: str, human: HumanData, folder: Path) -> str:
    """An M2 file with the sentences of the data only, under the name of the whole one."""
    sentences = read_m2(path)
    if len(sentences) <= max(human.lines):
        raise ValueError(
            f"{path}: {len(sentences)} sentences, but the data has line {max(human.lines) + 1} of its text"
        )
    target = folder / Path(path).name
    write_m2(target, [sentences[line] for line in human.lines])
    return str(target)


def _score(
    name: str, options: dict[str, Any], human: HumanData, systems: Sequence[str], texts: list[list[str]] | None
) -> dict[str, Any]:
    scorer = registry.make_scorer(name, options)
    if scorer.needs_references() and texts is None:
        raise ValueError(f"{name} needs references: pass --gold-m2 with the M2 file of CoNLL-2014")
    outputs = {system: human.outputs[system] for system in systems}
    return registry.score_systems(scorer, human.sources, outputs, texts)


def _matrix(results: dict[str, Any], systems: Sequence[str]) -> np.ndarray:
    return np.array([results[system].scores for system in systems])


def _system_rows(
    human: HumanData, systems: Sequence[str], table: dict[str, Any], how: str, window: int | None
) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = []
    for metric, results in table.items():
        if how == "corpus":
            values = {system: results[system].score for system in systems}
        else:
            values = dict(zip(systems, aggregate(_matrix(results, systems), how).tolist(), strict=True))
        for name, scores in human.scores.items():
            if window is None:
                found = correlate_systems(values, scores, systems)
                rows.append([metric, name, found.pearson, found.spearman])
            else:
                for place, part in enumerate(windows(values, scores, systems, window), start=1):
                    rows.append([metric, name, place, part.pearson, part.spearman])
    first = ["metric", "human"] + (["first rank"] if window else [])
    return [*first, "pearson", "spearman"], rows


def _sentence_rows(
    human: HumanData, systems: Sequence[str], table: dict[str, Any], ties: str
) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = []
    for metric, results in table.items():
        scores = _matrix(results, systems)
        for name, items in human.judgments.items():
            found = agreement(judged_pairs(items, systems), scores, ties)
            rows.append([metric, name, found.accuracy, found.kendall, found.pairs, found.tie_share])
    return ["metric", "judgments", "accuracy", "kendall", "pairs", "ties"], rows
