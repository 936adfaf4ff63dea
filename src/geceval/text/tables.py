"""Rows of files that hold more than lines: JSON Lines, CSV, TSV, Parquet, data sets, essays in Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError, did_you_mean
from geceval.core.files import json_value, read_csv, read_text, split_lines
from geceval.text.essays import markdown_essays

HUB = "hf:"
_DELIMITERS = {".csv": ",;", ".tsv": "\t"}  # spreadsheets write a semicolon where numbers have a comma
_JSON = (".jsonl", ".ndjson", ".json")
ESSAY = "essay"
_FORM = 'expected one object a line, such as {"id": 1, "prediction": "..."}, or one list of such objects'
_SAVED = ("dataset_dict.json", "dataset_info.json")  # in a folder that `datasets` saved


Cells = list[tuple[str, Any]]
"""Values with their places in a file."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, each by column and with its place, and the column that was named after its path, if any."""

    name: str
    rows: list[tuple[str, Mapping[str, Any]]]
    column: str

    def cells(self, names: Sequence[str], what: str = "") -> Cells:
        """The column with one of these names, the first before all others, or the one named if it holds `what`."""
        header = list(dict.fromkeys(name for _, values in self.rows for name in values))
        named = [self.column] if what and self.column else names
        columns = [each for name in named for each in header if name in (each, each.lower())]
        if what and (not columns or (len(columns) > 1 and columns[0].lower() != names[0])):
            state = f"{' and '.join(map(repr, columns))} may be" if columns else f"no column {named[0]!r} with"
            hint = did_you_mean(self.column, header) or f"; name another as {self.name}:COLUMN"
            raise InputError(f"{self.name}: {state} the {what}, of {', '.join(map(repr, header))}{hint}")
        for where, values in self.rows if columns else ():
            if columns[0] not in values:
                raise InputError(f"{where}: no {columns[0]!r}, which other rows have; all need the same names")
        return [(where, values[columns[0]]) for where, values in self.rows] if columns else []


def is_table(path: str) -> bool:
    """Whether a path, or what stands before `:COLUMN`, names a file of rows rather than one of lines."""
    return _split(path) is not None


def _split(path: str) -> tuple[str, str] | None:
    """A file of rows, and the name of a column that may follow it; `None` for others."""
    before, _, column = path.rpartition(":")
    for file, name in [(path, "")] if Path(path).exists() else [(before, column), (path, "")]:
        saved = file and any((Path(file) / each).is_file() for each in _SAVED)
        by_name = file.startswith(HUB) or _ending(file) in (*_JSON, *_DELIMITERS, ".parquet")
        if saved or by_name or markdown_essays(file):
            return file, name
    return None


def _ending(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix


def read_table(path: str) -> Table:
    """Read the rows of a path for which `is_table` holds."""
    file, column = _split(path) or (path, "")
    if _ending(file) == ".md":
        essays = markdown_essays(file)
        rows = [(f"{file}, essay {name}", {"id": name, ESSAY: " ".join(text.split())}) for name, text in essays]
        return Table(file, rows, ESSAY)
    if _ending(file) in _DELIMITERS:
        _, rows = read_csv(file, _DELIMITERS[_ending(file)])
    else:
        rows = _json_rows(file) if _ending(file) in _JSON else _numbered(file, _stored(file))
    if not rows:
        raise InputError(f"{file} has no rows")
    return Table(file, rows, column)


def _numbered(path: str, values: Sequence[Any]) -> Cells:
    return [(f"{path}, row {number}", value) for number, value in enumerate(values, start=1)]


def _json_rows(path: str) -> Cells:
    text = read_text(path)
    if text.lstrip().startswith("["):
        rows = _numbered(path, json_value(text, path, f"; {_FORM}"))
    else:
        lines = [(f"{path}, line {number}", line) for number, line in enumerate(split_lines(text), start=1)]
        rows = [(where, json_value(line, where, f"; {_FORM}")) for where, line in lines if line.strip()]
    for where, row in rows:
        if not isinstance(row, dict):
            raise InputError(f"{where}: {_FORM}")
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
