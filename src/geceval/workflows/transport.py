"""The transport plans of UOT-ERRANT, by sentence: edits of a correction that answer edits of a reference."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval import registry
from geceval.core.errors import InputError
from geceval.core.inputs import References
from geceval.scorers.references.gold import reference_names, rows_of_lines, sources_and_predictions

if TYPE_CHECKING:
    from geceval.scorers.edit_based.transport_plans import TransportPlan

_NAME = "transport"


@dataclass(frozen=True, slots=True, eq=False)
class SentencePlan:
    """The plan of one sentence."""

    line: int
    source: str
    prediction: str
    reference: str
    plan: TransportPlan


def transport_plans(
    sources: Sequence[str] | None = None,
    predictions: Sequence[str] | None = None,
    references: References | None = None,
    *,
    gold_m2: str | Path | None = None,
    predictions_m2: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    lines: Collection[int] | None = None,
) -> list[SentencePlan]:
    """The transport plans of `uot_errant` for a system; columns, files and lines as for `chunks.chunk_tables`.

    Args:
        options: Further options of `uot_errant`, such as `model`, `behaviour` or `batch_size`.

    References are chosen over all sentences. Raises what `chunk_tables` raises, and a `ValueError` if the encoder
    cannot be used.
    """
    files = {"gold_m2": gold_m2, "predictions_m2": predictions_m2}
    for name in files.keys() & (options or {}).keys():
        raise InputError(f"{_NAME}: {name} is no option here; pass it beside the columns")
    scorer: Any = registry.make_scorer("uot_errant", {**(options or {}), **files})
    sources, predictions = sources_and_predictions(_NAME, sources, predictions, gold_m2, predictions_m2)
    chosen = rows_of_lines(_NAME, lines, len(sources))
    columns, _ = scorer.read(sources, predictions, references)
    plans = scorer.plans(columns.sources, columns.predictions, columns.references)
    sentences = []
    for row in chosen:
        annotator = plans[row].annotator
        named = gold_m2 is None and references is not None
        name = reference_names(references[row])[annotator] if named else f"annotator {annotator}"
        sentences.append(SentencePlan(row + 1, columns.sources[row], columns.predictions[row], name, plans[row]))
    return sentences
