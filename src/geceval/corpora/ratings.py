"""Build TMU-GFM: outputs of systems with human ratings of grammaticality, fluency and meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from geceval.core.errors import InputError
from geceval.corpora.folder import Config, check_count, find
from geceval.meta.judgments.ratings import read_rows

SYSTEMS = ("smt", "lstm", "copy-net", "transformer", "cnn")
ASPECTS = {"grammaticality": ("grammer", "ave_g"), "fluency": ("fluency", "ave_f"), "meaning": ("meaning", "ave_m")}
_COLUMNS = ["source", "output", "grammer", "fluency", "meaning", "system", "ave_g", "ave_f", "ave_m"]
_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("output", pa.string()),
        ("systems", pa.list_(pa.string())),
        *((aspect, pa.list_(pa.int8())) for aspect in ASPECTS),
        *((mean, pa.float32()) for _, mean in ASPECTS.values()),
    ]
)
_ROWS = 4221


def build_tmu_gfm(folder: Path) -> list[Config]:
    """The table of TMU-GFM, split `train`."""
    path = find(folder, "tmu-gfm-dataset.csv")
    rows = [_to_row(where, row) for where, row in read_rows(path, _COLUMNS)]
    check_count(path, "rows", len(rows), _ROWS)
    return [Config("default", _SCHEMA, {"train": rows})]


def _to_row(where: str, line: dict[str, str]) -> dict[str, Any]:
    systems = line["system"].split(",")
    for system in systems:
        if system not in SYSTEMS:
            raise InputError(f"{where}: unknown system {system!r}; the systems are {', '.join(SYSTEMS)}")
    row: dict[str, Any] = {"source": line["source"], "output": line["output"], "systems": systems}
    for aspect, (column, mean) in ASPECTS.items():
        row[aspect], row[mean] = _ratings(f"{where}, {column}", line[column], line[mean])
    return row


def _ratings(where: str, ratings: str, average: str) -> tuple[list[int], float]:
    """Five ratings from 1 to 4, or 0 for "other", and the mean of those that are not 0."""
    try:
        values, mean = [int(rating) for rating in ratings.split(",")], float(average)
    except ValueError as error:
        raise InputError(f"{where}: a rating or an average is not a number ({error})") from error
    if len(values) != 5 or not all(0 <= value <= 4 for value in values):
        raise InputError(f"{where}: expected five ratings from 0 to 4, got {ratings!r}")
    rated = [value for value in values if value]
    if not rated or abs(sum(rated) / len(rated) - mean) > 1e-3:
        raise InputError(f"{where}: the average of {ratings} without zeros is not {average}")
    return values, mean
