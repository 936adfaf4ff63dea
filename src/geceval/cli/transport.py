"""`geceval transport`: which edit of a correction answers which edit of a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import edit_fields, results_json, span_text, table_text, terminal_width, write
from geceval.cli.text_files import read_side_by_side, text_of
from geceval.core.errors import counted
from geceval.core.progress import bar

if TYPE_CHECKING:  # numpy, also below: the help of a verb is to start at once
    from geceval.workflows.transport import SentencePlan

_METRIC = "uot_errant"
_COLUMNS = ["line", "edit", "type", "mass", "transported", "reference's edit", "type", "mass", "reference"]


def transport(
    texts: shared.SideBySide = None,
    sources: shared.SourceFile = None,
    predictions: shared.PredictionFile = None,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    predictions_m2: shared.PredictionM2 = None,
    option: shared.OneMetricOptions = None,
    model: Annotated[str | None, typer.Option(help="Encoder: bundled, a folder, or a Hub id[@revision].")] = None,
    line: shared.Lines = None,
    changed: shared.Changed = False,
    nlp: shared.Nlp = "bundled",
    workers: shared.Workers = 1,
    batch_size: shared.BatchSize = 64,
    device: shared.Device = "auto",
    cache: shared.Cache = None,
    form: shared.Page = None,
    output: shared.Output = None,
    progress: shared.Progress = False,
    quiet: shared.Quiet = False,
) -> None:
    """Show which edits of a correction answer those of references.

    These are the transport plans of the metric uot_errant: the mass of an edit is the length of its vector, and what is
    transported from an edit of the correction to one of the reference counts as right. Of several references, each
    sentence shows the one that the corpus score takes.

    With texts, which stand without a flag, -r takes one file of one line: -r A -r B; with -s FILE several: -r A B.

    Example: geceval transport "He go to school ." "He goes to the school ." "He went to school ."
    """
    from geceval.cli.pages import transport_page
    from geceval.workflows.transport import transport_plans

    shared.no_warnings(quiet)
    form = shared.check_format(form, output, shared.PageFormat)
    left, right, targets = read_side_by_side(
        "transport", texts or [], sources, predictions, references or [], gold_m2, predictions_m2
    )
    runtime = {"batch_size": batch_size, "device": device, "workers": workers, "progress": progress, "cache": cache}
    runtime |= {"text": text_of(predictions and [predictions]), "model": model, "nlp": nlp}
    options = metric_options([_METRIC], option, **runtime)[_METRIC]
    with bar(progress, _METRIC):
        plans = transport_plans(
            left, right, targets, gold_m2=gold_m2, predictions_m2=predictions_m2, options=options, lines=line
        )
    shown = [each for each in plans if len(each.plan.edits) + len(each.plan.gold)] if changed else plans
    caption = f"{len(shown):,} of {counted(len(plans), 'sentence')}" if changed else counted(len(plans), "sentence")
    if form == "json":
        text = results_json(sentences=list(map(_to_json, shown)))
    elif form == "html":
        text = transport_page(shown, caption)
    else:
        rows = [row for each in shown for row in _rows(each)]
        text = table_text(_COLUMNS, rows, terminal_width(output), caption)
    write(text, output)


def _rows(each: SentencePlan) -> list[list[Any]]:
    plan, nothing = each.plan, ["", "", ""]
    edits, gold = (
        [[span_text(each.source, edit), edit.type, mass] for edit, mass in zip(edits, masses.tolist(), strict=True)]
        for edits, masses in ((plan.edits, plan.masses), (plan.gold, plan.gold_masses))
    )
    return [
        [each.line, *(nothing if i is None else edits[i]), moved, *(nothing if j is None else gold[j]), each.reference]
        for i, j, moved in plan.pairs()
    ]


def _to_json(each: SentencePlan) -> dict[str, Any]:
    from geceval.cli.pages import transport_shares

    plan = each.plan
    precision, recall = transport_shares(plan)
    return {
        "line": each.line,
        "source": each.source,
        "prediction": each.prediction,
        "reference": each.reference,
        "precision": precision,
        "recall": recall,
        "edits": _edits(each.source, plan.edits, plan.masses),
        "reference_edits": _edits(each.source, plan.gold, plan.gold_masses),
        "transported": plan.plan.tolist(),
    }


def _edits(source: str, edits: Sequence[Any], masses: Any) -> list[dict[str, Any]]:
    return [{**edit_fields(source, edit), "mass": mass} for edit, mass in zip(edits, masses.tolist(), strict=True)]
