"""`geceval meta edits`: how well metrics tell right edits from wrong ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import Cell, check_outputs, show
from geceval.core.errors import InputError, counted
from geceval.core.progress import bar, parts
from geceval.core.warnings import once
from geceval.edits.m2 import references
from geceval.meta import figures
from geceval.meta.edit_labels import RESAMPLES, STATISTICS, agreement_on_edits, best_threshold
from geceval.scorers.references.gold import gold_sentences
from geceval.workflows.meta_evaluation import EditKind, gains_by_edits, in_references, kinds_of_edits

Method = Literal["add", "sub", "shapley"]


def edits(
    metrics: shared.Metrics,
    data: Annotated[str, typer.Option(help="SEEDA or `seeda-edits`, or .jsonl with source, hypothesis and label.")],
    gold_m2: Annotated[
        str | None, typer.Option("--gold-m2", help="M2 file: is an edit in a reference? Only its sentences count.")
    ] = None,
    method: Annotated[Method, typer.Option(help="Gain of the edit alone, loss without it, or Shapley value.")] = "add",
    by: Annotated[EditKind | None, typer.Option(help="A row also for each operation or error type.")] = None,
    option: shared.MetricOptions = None,
    cache: shared.Cache = None,
    plot: Annotated[str | None, typer.Option(help="Heat map of the AUC in each row: .png, .svg or .pdf.")] = None,
    form: shared.PaperForm = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
) -> None:
    """Test whether metrics tell right edits from wrong ones.

    A metric's judgment of an edit is what its score of the sentence gains by it: above 0, the edit is right. That of
    edit_quality is the log-odds that it is right, with add made alone, else last. The best accuracy is that of a
    threshold found on other sentences.

    Example: geceval meta edits -m impara_lm --data SEEDA --gold-m2 official-2014.combined.m2 --by type
    """
    from geceval.corpora.edit_labels import annotator_agreement, read_edit_labels  # pyarrow

    form = shared.check_format(form, output, shared.PaperFormat)
    for_programs = form in ("json", "tsv")
    check_outputs(plot)
    if plot is not None:
        figures.check_suffix(plot)
    scorers = registry.make_scorers("meta edits", metrics, metric_options(metrics, option, cache=cache))
    for name, scorer in scorers.items():
        if scorer.needs_references() and gold_m2 is None:
            raise InputError(f"{name} needs references: pass --gold-m2 with an M2 file of the sentences")
    rows, targets = read_edit_labels(data), {}
    if gold_m2 is not None:
        gold = {" ".join(each.source.split()): list(references(each).values()) for each in gold_sentences(gold_m2)}
        rows = [row for row in rows if row.source in gold]
        targets = {row.source: gold[row.source] for row in rows}
    right, sources = (np.array([getattr(row, name) for row in rows]) for name in ("right", "source"))
    if len(set(right.tolist())) < 2:
        raise InputError(f"{data}: right and wrong edits are needed{f', of sentences of {gold_m2}' if gold_m2 else ''}")
    scores, notes, groups = {}, [], {"all": np.ones(len(rows), dtype=bool)}
    with bar(progress), once(set()):
        for name, scorer in parts(scorers.items()):
            scores[name], signature = gains_by_edits(scorer, rows, method, targets)
            notes.append(signature)
        if gold_m2 is not None:
            scores["in a reference"] = in_references(rows, targets)
            notes.append(f"references: {Path(gold_m2).name}")
        if by is not None:
            kinds = kinds_of_edits(rows, by)
            groups |= {kind: kinds == kind for kind, _ in Counter(kinds.tolist()).most_common()}
    cells, aucs = [], {}
    for metric, values in scores.items():
        for kind, mask in groups.items():
            judged, labels = values[mask], right[mask]
            if 0 < labels.sum() < len(labels):
                table = agreement_on_edits(judged, labels, sources[mask])
                aucs[metric, kind] = float(table[0, 0])
                row = [metric, kind, len(labels), float(labels.mean()), best_threshold(judged, labels)]
                cells.append([*row, *(table.T.ravel().tolist() if for_programs else map(_with_interval, table.T))])
    if plot is not None:
        figures.save(figures.edit_map(aucs, "AUC"), plot)
    caption = (
        f"{Path(data).name}: {counted(len(rows), 'label')} of edits in {counted(len(set(sources)), 'sentence')}, "
        f"method {method}; 95% intervals from {RESAMPLES:,} resamples of the sentences"
    )
    notes += filter(None, [annotator_agreement(rows)])
    names = [(name, f"{name} low", f"{name} high") if for_programs else (name,) for name in STATISTICS]
    show(["metric", "kind", "edits", "right", "threshold", *sum(names, ())], cells, form, output, caption, notes)


def _with_interval(row: np.ndarray) -> Cell:
    value, low, high = map(figures.unsigned, row)
    return Cell(float(row[0]), f"{value} {low}–{high}")
