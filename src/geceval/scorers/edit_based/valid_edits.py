"""Edits that no reference has, but that a judge finds right: they are no false positives."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from geceval.core.options import RunTime
from geceval.edits.edit import Edit, distinct, in_order
from geceval.models.devices import network_facts
from geceval.scorers.edit_quality import EditQuality

ValidEdits: TypeAlias = Literal["references", "judge"]


def edit_judge(runtime: RunTime) -> EditQuality:
    """The bundled judge of edits, which is loaded once a process."""
    return EditQuality(runtime=RunTime(runtime.batch_size, runtime.device, runtime.dtype, cache=runtime.cache))


def valid_edits(
    settings: Any, runtime: RunTime, sources: Sequence[str], edits: Sequence[Sequence[Edit]]
) -> list[set[Edit]]:
    """The edits of each row that are right whatever references say: none, unless the settings ask the judge."""
    if settings.valid_edits == "references":
        return [set()] * len(edits)
    rows = [in_order(distinct(row)) for row in edits]
    chances = edit_judge(runtime).judge(sources, rows)
    return [
        {edit for edit, chance in zip(row, values, strict=True) if chance >= settings.judge_threshold}
        for row, values in zip(rows, chances, strict=True)
    ]


def judge_facts(settings: Any, runtime: RunTime) -> dict[str, Any]:
    """Facts of the judge for the signature."""
    if settings.valid_edits == "references":
        return {}
    return {"judge": edit_judge(runtime).judge_name, **network_facts(runtime)}
