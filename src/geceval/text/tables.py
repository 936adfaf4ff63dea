"""Rows of files that hold more than lines: JSON Lines, CSV, TSV, Parquet, data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError, did_you_mean
from geceval.core.files import json_value, read_csv, read_text, split_lines

HUB = "hf:"
_DELIMITERS = {".csv": ",;", ".tsv": "\t"}  # spreadsheets write a semicolon where numbers have a comma
_ENDINGS = (".jsonl", ".ndjson", ".json", ".parquet", *_DELIMITERS)
_SAVED = ("dataset_dict.json", "dataset_info.json")  # in a folder that `datasets` saved


@dataclass(frozen=True, slots=True)
class Row:
    """The values of a row by column, and its place in the file."""

    where: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A file of rows, and the column that was named after its path, if any."""

    name: str
    rows: list[Row]
    column: str

    def find(self, names: Sequence[str], what: str = "") -> str | None:
        """The column with one of these names, the first of them before others; or the one named, if it holds `what`."""
        header = list(dict.fromkeys(name for row in self.rows for name in row.values))
        named = [self.column] if what and self.column else names
        columns = [each for name in named for each in header if name in (each, each.lower())]
        if what and (not columns or (len(columns) > 1 and columns[0].lower() != names[0])):
            state = f"{' and '.join(map(repr, columns))} may be" if columns else f"no column {named[0]!r} with"
            hint = did_you_mean(self.column, header) or f"; name another as {self.name}:COLUMN"
            raise InputError(f"{self.name}: {state} the {what}, of {', '.join(map(repr, header))}{hint}")
        for row in self.rows if columns else ():
            if columns[0] not in row.values:
                raise InputError(f"{row.where}: no {columns[0]!r}, which other rows have; all need the same names")
        return columns[0] if columns else None


def is_table(path: str) -> bool:
    """Whether a path, or what stands before `:COLUMN`, names a file of rows rather than one of lines."""
    return _split(path) is not None


def _split(path: str) -> tuple[str, str] | None:
    """A file of rows, and the name of a column that may follow it; `None` for others."""
    before, _, column = path.rpartition(":")
    for file, name in [(path, "")] if Path(path).exists() else [(before, column), (path, "")]:
        saved = any((Path(file) / each).is_file() for each in _SAVED)
        if saved or file.startswith(HUB) or _ending(file) in _ENDINGS:
            return file, name
    return None


def _ending(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix


def read_table(path: str) -> Table:
    """Read the rows of a path for which `is_table` holds."""
    file, column = _split(path) or (path, "")
    if _ending(file) in _DELIMITERS:
        rows = [Row(*row) for row in read_csv(file, _DELIMITERS[_ending(file)])[1]]
    elif _ending(file).startswith((".json", ".nd")):
        rows = _json_rows(file)
    else:
        rows = _numbered(file, _stored(file))
    if not rows:
        raise InputError(f"{file} has no rows")
    return Table(file, rows, column)


def _numbered(path: str, values: Sequence[Any], noun: str = "row") -> list[Row]:
    return [Row(f"{path}, {noun} {number}", value) for number, value in enumerate(values, start=1)]


def _json_rows(path: str) -> list[Row]:
    text = read_text(path)
    if text.lstrip().startswith("["):
        rows = _numbered(path, json_value(text, path))
    else:
        lines = [line for line in _numbered(path, split_lines(text), "line") if line.values.strip()]
        rows = [Row(line.where, json_value(line.values, line.where)) for line in lines]
    for row in rows:
        if not isinstance(row.values, dict):
            raise InputError(f'{row.where}: expected one object a line, such as {{"id": 1, "prediction": "..."}}')
    return rows


def _stored(path: str) -> list[dict[str, Any]]:
    """The rows of a Parquet file, of a folder that `datasets` saved, or of `hf:ORG/NAME[/CONFIGURATION]/SPLIT`."""
    import datasets
    import pyarrow.parquet

    *parts, split = path.removeprefix(HUB).split("/")
    if path.startswith(HUB) and len(parts) < 2:
        raise InputError(f"{path}: expected {HUB}ORG/NAME/SPLIT, or {HUB}ORG/NAME/CONFIGURATION/SPLIT")
    try:
        if path.startswith(HUB):
            data = datasets.load_dataset("/".join(parts[:2]), *parts[2:], split=split, trust_remote_code=False)
        else:
            data = datasets.load_from_disk(path) if Path(path).is_dir() else pyarrow.parquet.read_table(path)
    except (ValueError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: {error}") from error
    if isinstance(data, dict):
        raise InputError(f"{path} holds several data sets; pass one: {', '.join(f'{path}/{name}' for name in data)}")
    return data.to_pylist() if hasattr(data, "to_pylist") else data.to_list()
