"""Published results of metrics on SEEDA and GJG15, to show beside what is measured here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from geceval.core.files import ASSETS, read_json


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a table of a paper."""

    data: str
    paper: str
    label: str
    metric: str
    values: Mapping[str, float]


_CONTENT = read_json(ASSETS / "published.json")
COLUMNS: dict[str, dict[str, list[str]]] = _CONTENT["columns"]
"""Groups of columns of a report and their keys: a human ranking and r or ρ, or judgments and acc, τ or ties."""


def _published() -> Iterator[Published]:
    for table in _CONTENT["tables"]:
        for label, metric, *values in table["rows"]:  # a row may lack the last columns
            of_columns = dict(zip(table["columns"], values, strict=False))
            yield Published(table["data"], table["paper"], label, metric, of_columns)


PUBLISHED = tuple(_published())
