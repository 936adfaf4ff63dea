"""Published results of metrics on SEEDA and GJG15, to show beside what is measured here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from geceval.core.files import ASSETS


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a table of a paper."""

    data: str
    paper: str
    label: str
    metric: str
    values: Mapping[str, float]


COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "seeda": {
        "systems, SEEDA-S": ("ts_sent r", "ts_sent ρ"),
        "systems, SEEDA-E": ("ts_edit r", "ts_edit ρ"),
        "sentences, SEEDA-S": ("sent acc", "sent τ", "sent ties"),
        "sentences, SEEDA-E": ("edit acc", "edit τ", "edit ties"),
    },
    "gjg15": {
        "corpus scores, EW": ("corpus ew r", "corpus ew ρ"),
        "corpus scores, TS": ("corpus ts r", "corpus ts ρ"),
        "mean of sentences, EW": ("average ew r", "average ew ρ"),
        "mean of sentences, TS": ("average ts r", "average ts ρ"),
        "sentences": ("all acc", "all τ", "all ties"),
    },
    "gmeg": {
        "systems, FCE": ("fce r", "fce ρ"),
        "systems, Wikipedia": ("wiki r", "wiki ρ"),
        "sentences, FCE": ("fce acc", "fce τ", "fce ties"),
        "sentences, Wikipedia": ("wiki acc", "wiki τ", "wiki ties"),
    },
}
"""Groups of columns of a report and their keys: a human ranking and r or ρ, or judgments and acc, τ or ties."""


def _published() -> Iterator[Published]:
    for table in json.loads((ASSETS / "published.json").read_text(encoding="utf-8")):
        for label, metric, *values in table["rows"]:  # a row may lack the last columns
            of_columns = dict(zip(table["columns"], values, strict=False))
            yield Published(table["data"], table["paper"], label, metric, of_columns)


PUBLISHED = tuple(_published())
