"""Scores of several systems under a metric: the matrix that all statistics use, and the files that hold it."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from geceval.core.errors import InputError
from geceval.core.files import read_json, read_text, split_lines, write_bytes, write_text
from geceval.meta.aggregation import Aggregation, aggregate

READ, WRITTEN = (".tsv", ".json", ".parquet"), (".tsv", ".parquet")
_SIGNATURE = "_signature"

OfSystem = Literal["corpus", Aggregation]
"""Where a system's score comes from: the metric's own corpus score, or an aggregation of its sentence scores."""


@dataclass(frozen=True, slots=True)
class MetricScores:
    """Scores of several systems on the same sentences under one metric."""

    metric: str
    systems: tuple[str, ...]
    sentences: np.ndarray  # [systems, sentences]
    corpus: np.ndarray  # [systems], the metric's own score of each whole output
    signature: str = ""

    def select(self, systems: Sequence[str]) -> MetricScores:
        """The scores of the given systems, in that order."""
        missing = [system for system in systems if system not in self.systems]
        if missing:
            raise InputError(f"{self.metric}: no scores of {', '.join(missing)}")
        rows = [self.systems.index(system) for system in systems]
        return replace(self, systems=tuple(systems), sentences=self.sentences[rows], corpus=self.corpus[rows])

    def of_systems(self, aggregation: OfSystem, sentences: Sequence[int] | None = None) -> dict[str, float]:
        """One score per system: `"corpus"`, or an aggregation (`aggregate`) of all sentences or of those given."""
        chosen = self.sentences if sentences is None else self.sentences[:, sentences]
        values = self.corpus if aggregation == "corpus" else aggregate(chosen, aggregation)
        return dict(zip(self.systems, values.tolist(), strict=True))


def read_scores(path: str | Path, systems: Iterable[str], sentences: int) -> list[MetricScores]:
    """Read a file of scores and check that it belongs to the data.

    Args:
        path: The file. `.tsv` and `.parquet`: columns `system`, `line` (from 1) and one per metric, and perhaps
            `METRIC_signature`; line 0 holds the score of the corpus, which else is the mean of the sentences. `.json`:
            `{"SYSTEM": [score, ...]}` for a metric named after the file, or what `geceval score --sentence` writes.
        systems: The systems of the data; the file may lack some of them.
        sentences: How many sentences the data has.

    Returns:
        One entry per metric, systems in the order of the data.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the format is unknown, or the file is malformed, names a system that is not in the data, has a
            different number of lines, a line twice, or a score that is not a finite number; the message names the row.
    """
    readers = {".tsv": _read_tsv, ".json": _read_json, ".parquet": _read_parquet}
    suffix = Path(path).suffix
    if suffix not in readers:
        raise InputError(f"{path}: scores are read from {', '.join(READ)}, not from {suffix or 'no suffix'!r}")
    known = list(systems)
    tables = []
    for metric, (rows, signature) in readers[suffix](path).items():
        where = f"{path}: {metric}"
        if not rows:
            raise InputError(f"{where}: no scores of any system")
        unknown = [system for system in rows if system not in known]
        if unknown:
            raise InputError(f"{where}: unknown system {unknown[0]!r}; the systems are {', '.join(known)}")
        names = tuple(system for system in known if system in rows)
        matrix = np.array([_line_scores(f"{where}, {name}", rows[name], sentences) for name in names])
        line_0 = [rows[name].get(0, math.nan) for name in names]  # finite where there is one, see _line_scores
        corpus = np.where(np.isnan(line_0), matrix.mean(axis=1), line_0)
        tables.append(MetricScores(metric, names, matrix, corpus, signature))
    if not tables:
        raise InputError(f"{path}: holds no metric")
    return tables


def write_scores(path: str | Path, tables: Sequence[MetricScores]) -> None:
    """Write scores that `read_scores` reads; all tables must be of the same systems and sentences."""
    suffix = Path(path).suffix
    check_suffix(path)
    systems, lines = tables[0].systems, tables[0].sentences.shape[1] + 1
    columns: dict[str, list[Any]] = {
        "system": [system for system in systems for _ in range(lines)],
        "line": list(range(lines)) * len(systems),
    }
    for table in tables:
        columns[table.metric] = np.column_stack([table.corpus, table.sentences]).ravel().tolist()
    if suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        columns |= {table.metric + _SIGNATURE: [table.signature] * len(columns["system"]) for table in tables}
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
        write_bytes(path, buffer.getvalue())
        return
    rows = zip(*([str(cell).replace("\t", " ") for cell in column] for column in columns.values()), strict=True)
    comments = "".join(f"# {table.signature}\n" for table in tables if table.signature)
    write_text(path, "".join("\t".join(row) + "\n" for row in [tuple(columns), *rows]) + comments)


def check_suffix(path: str | Path) -> None:
    """Raise a `ValueError` unless scores can be written to a file of that name."""
    if Path(path).suffix not in WRITTEN:
        raise InputError(f"{path}: scores are written to {', '.join(WRITTEN)}; end the name in one of them")


# What the readers return: metric to its lines and signature; lines are system to line (0 the corpus) to score.
_Lines = dict[str, dict[int, float]]


def _line_scores(where: str, lines: Mapping[int, float], sentences: int) -> list[float]:
    count = len(lines) - (0 in lines)
    if count != sentences:
        hint = "; sentences count from 1, line 0 is the whole corpus" if 0 in lines else ""
        raise InputError(f"{where}: scores of {count} lines, but the data has {sentences} sentences{hint}")
    for line in range(1, sentences + 1):
        if line not in lines:
            raise InputError(f"{where}: no score of line {line}; lines are 1 to {sentences}")
    for line, score in lines.items():
        if not math.isfinite(score):
            raise InputError(f"{where}, line {line}: the score is {score}, expected a finite number")
    return [lines[line] for line in range(1, sentences + 1)]


def _read_tsv(path: str | Path) -> dict[str, tuple[_Lines, str]]:
    lines = split_lines(read_text(path)) or [""]
    header = lines[0].split("\t")
    _check_header(path, header)
    cells, comments = [], []
    for number, line in enumerate(lines[1:], start=2):
        row = line.split("\t")
        if len(row) == len(header) and line:
            cells.append(row)
        elif line.startswith("# "):
            comments.append(line.removeprefix("# "))
        elif line:
            raise InputError(f"{path}, line {number}: {len(row)} columns, but the header has {len(header)}")
    columns = {name: list(column) for name, *column in zip(header, *cells, strict=True)}
    for comment in comments:  # a signature begins with the name of its metric
        columns.setdefault(comment.partition("|")[0] + _SIGNATURE, [comment])
    return _from_columns(path, columns)


def _read_parquet(path: str | Path) -> dict[str, tuple[_Lines, str]]:
    import pyarrow
    import pyarrow.parquet

    content = io.BytesIO(Path(path).read_bytes())  # pyarrow would take a folder for a table in parts
    try:
        table = pyarrow.parquet.read_table(content)
    except pyarrow.ArrowException as error:
        raise InputError(f"{path}: not a parquet file ({error})") from error
    _check_header(path, table.column_names)
    return _from_columns(path, table.to_pydict())


def _check_header(path: str | Path, header: Sequence[str]) -> None:
    for name in header:
        if header.count(name) > 1:
            raise InputError(f"{path}: two columns are called {name!r}; rename one of them")


def _from_columns(path: str | Path, columns: Mapping[str, list[Any]]) -> dict[str, tuple[_Lines, str]]:
    missing = [name for name in ("system", "line") if name not in columns]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}; expected system, line and one column per metric")
    lines = [_integer(f"{path}, row {row}", value) for row, value in enumerate(columns["line"], start=1)]
    if not all(isinstance(system, str) for system in columns["system"]):
        raise InputError(f"{path}: the column 'system' must hold names")
    tables = {}
    for metric, values in columns.items():
        if metric in ("system", "line") or metric.endswith(_SIGNATURE):
            continue
        rows: _Lines = {}
        for row, (system, line, value) in enumerate(zip(columns["system"], lines, values, strict=True), start=1):
            of_system = rows.setdefault(system, {})
            if line in of_system:
                raise InputError(f"{path}, row {row}: {metric} has two scores of {system}, line {line}")
            of_system[line] = _number(f"{path}, row {row}: {metric}", value)
        tables[metric] = (rows, next(iter(columns.get(metric + _SIGNATURE, [])), None) or "")
    return tables


def _read_json(path: str | Path) -> dict[str, tuple[_Lines, str]]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected an object of systems and their lists of scores")
    if not isinstance(content.get("systems"), list):
        rows = {system: _from_list(f"{path}: {system}", scores, None) for system, scores in content.items()}
        return {Path(path).stem: (rows, "")} if rows else {}
    tables: dict[str, tuple[_Lines, str]] = {}
    for number, entry in enumerate(content["systems"], start=1):
        try:
            system, metrics = entry["system"], dict(entry["metrics"])
            for metric, values in metrics.items():
                rows, _ = tables.setdefault(metric, ({}, values.get("signature", "")))
                if system in rows:
                    raise InputError(f"{path}: {metric} has scores of {system} twice")
                rows[system] = _from_list(f"{path}: {metric}, {system}", values.get("scores"), values.get("score"))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: entry {number} of systems has no system or metrics ({error!r})") from error
    return tables


def _from_list(where: str, scores: Any, corpus: Any) -> dict[int, float]:
    if not isinstance(scores, list):
        raise InputError(f"{where}: expected a list, one score per sentence (as geceval score --sentence writes)")
    lines = {line: _number(f"{where}, line {line}", score) for line, score in enumerate(scores, start=1)}
    return lines if corpus is None else {0: _number(where, corpus), **lines}


def _number(where: str, value: Any) -> float:
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: {value!r} is no number") from None


def _integer(where: str, value: Any) -> int:
    try:
        if (number := int(value)) == value or isinstance(value, str):
            return number
        raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: line {value!r} is no whole number") from None
