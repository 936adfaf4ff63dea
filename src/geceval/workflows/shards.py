"""Scoring of parquet files shard by shard: each is written at once, so that a run that was broken off goes on.

A shard is a range of rows of one input file and becomes one file of the output folder, with one row a sentence in the
same order: the score, what the corpus score is made of where that is not the mean (`statistics` and their `shape`),
and any columns that are to be kept. `manifest.json` says what the shards are made from and how; each shard file
carries the hash of it, so files of another run, or of other settings, are never taken for finished ones.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from geceval.core.errors import InputError
from geceval.core.files import write_text
from geceval.core.result import Result
from geceval.scorers.base import Scorer
from geceval.version import __version__
from geceval.workflows.batches import column_names, needed, part_scorer

MANIFEST = "manifest.json"
ROWS_AT_ONCE = 8192

_MARK = b"geceval"
_FOOTER = 1 << 16


@dataclass(frozen=True, slots=True)
class Shard:
    """Rows `start` to `stop` of a file, and the name of the file of their scores."""

    number: int
    file: str
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Of the output file."""
        return f"part-{self.number:06d}.parquet"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be scored, how, and where the scores go.

    Attributes:
        folder: Of the output.
        metric: Its name.
        options: Its settings and run-time options.
        columns: Names of `sources`, `predictions`, `references` in the files.
        keep: Further columns to copy.
        shards: All of them.
        hash: Of the manifest: of input, metric, settings, columns and the borders of the shards.
    """

    folder: Path
    metric: str
    options: dict[str, Any]
    columns: dict[str, str]
    keep: tuple[str, ...]
    shards: tuple[Shard, ...]
    hash: str

    def pending(self) -> list[Shard]:
        """The shards that are not finished."""
        return [shard for shard in self.shards if self.signature(shard) is None]

    def signature(self, shard: Shard) -> str | None:
        """The signature under which a shard was scored; `None` if it is not finished."""
        try:
            found = pyarrow.parquet.read_metadata(self.folder / shard.name)
        except (OSError, pyarrow.ArrowInvalid):
            return None
        mark = json.loads((found.metadata or {}).get(_MARK, b"{}"))
        whole = mark.get("plan") == self.hash and found.num_rows == shard.stop - shard.start
        return mark.get("signature") if whole else None


def make_plan(
    inputs: str | Path | Sequence[str | Path],
    metric: str,
    output: str | Path,
    options: Mapping[str, Any],
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    rows_per_shard: int = 100_000,
) -> Plan:
    """Divide parquet files into shards and write the manifest, or find that it says the same already.

    Args:
        inputs: Parquet files, or folders of `*.parquet`.
        metric: One of `geceval.list_metrics()`.
        output: Folder of the scores; made if need be.
        options: Settings and run-time options of the metric.
        columns: See `geceval.workflows.batches.BatchScorer`.
        keep: Columns to copy.
        rows_per_shard: How many at most.

    Raises:
        ValueError: If an argument is wrong, an input is no parquet file or lacks a column, or `output` holds the scores
            of other input or settings.
        OSError: If a file cannot be read or written.
    """
    if rows_per_shard < 1:
        raise InputError(f"rows_per_shard must be at least 1, got {rows_per_shard}")
    scorer = part_scorer(metric, options)
    names = column_names(columns)
    described, shards = [], []
    for path in _files(inputs):
        facts = _describe(path)
        there = pyarrow.parquet.read_schema(path).names
        needed(scorer, names, there)
        absent = [name for name in keep if name not in there]
        if absent:
            raise InputError(f"{path} has no column {absent[0]!r}")
        described.append(facts)
        for start in range(0, facts["rows"], rows_per_shard):
            shards.append(Shard(len(shards), str(path), start, min(start + rows_per_shard, facts["rows"])))
    manifest = {
        "geceval": __version__,
        "metric": metric,
        "settings": dataclasses.asdict(scorer.settings),
        "dtype": scorer.runtime.dtype,
        "columns": names,
        "keep": list(keep),
        "rows_per_shard": rows_per_shard,
        "inputs": described,
    }
    text = json.dumps(manifest, indent=2, default=str) + "\n"
    folder = Path(output).absolute()
    _write_manifest(folder, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Plan(folder, metric, dict(options), names, tuple(keep), tuple(shards), digest)


def _files(inputs: str | Path | Sequence[str | Path]) -> list[Path]:
    given = [inputs] if isinstance(inputs, (str, Path)) else list(inputs)
    files = []
    for path in map(Path, given):
        found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not found:
            raise InputError(f"{path}: no *.parquet in this folder")
        files += [each.absolute() for each in found]
    return files


def _describe(path: Path) -> dict[str, Any]:
    """A file by its name, its size and its footer, which holds statistics of all columns."""
    try:
        rows = pyarrow.parquet.read_metadata(path).num_rows
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"{path}: not a parquet file ({error})") from error
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _FOOTER))
        footer = hashlib.sha256(file.read()).hexdigest()
    return {"file": path.name, "rows": rows, "size": size, "footer": footer}


def _write_manifest(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    if not path.exists():
        write_text(path, text)
    elif path.read_text(encoding="utf-8") != text:
        raise InputError(f"{folder} holds scores of other input or settings ({MANIFEST} says which); pass a new folder")


def score_shard(plan: Plan, shard: Shard, scorer: Scorer) -> int:
    """Score one shard and write its file, which appears whole or not at all.

    Args:
        plan: The plan.
        shard: One of its shards.
        scorer: From `part_scorer`.

    Returns:
        Rows written.

    Raises:
        ValueError: If a row cannot be scored; the message says where it stands.
        OSError: If a file cannot be read or written.
    """
    temporary = plan.folder / f".{shard.name}.{uuid.uuid4().hex}"
    writer, signatures, rows = None, [], 0
    try:
        wanted = needed(scorer, plan.columns, plan.columns.values())
        for table in _read(plan, shard, wanted):
            try:
                result = scorer.score(**{name: table[plan.columns[name]].to_pylist() for name in wanted})
            except (TypeError, ValueError) as error:
                place = f"{shard.file}, in the {table.num_rows} rows from {shard.start + rows}"
                raise type(error)(f"{place}: {error}") from error
            scored = _table(table.select(list(plan.keep)), result)
            writer = writer or pyarrow.parquet.ParquetWriter(temporary, scored.schema)
            writer.write_table(scored)
            signatures.append(result.signature)
            rows += table.num_rows
        mark = {"plan": plan.hash, "signature": " ".join(dict.fromkeys(signatures))}
        writer.add_key_value_metadata({_MARK: json.dumps(mark).encode()})
        writer.close()
        temporary.replace(plan.folder / shard.name)
    except BaseException:
        if writer is not None:
            writer.close()
        temporary.unlink(missing_ok=True)
        raise
    return rows


def _read(plan: Plan, shard: Shard, wanted: Sequence[str]) -> Iterator[pyarrow.Table]:
    """The rows of a shard, some at a time; row groups that have none of them are not read."""
    names = list(dict.fromkeys([*(plan.columns[name] for name in wanted), *plan.keep]))
    with pyarrow.parquet.ParquetFile(shard.file) as file:
        groups, first, start = [], 0, None
        for number in range(file.num_row_groups):
            size = file.metadata.row_group(number).num_rows
            if first < shard.stop and first + size > shard.start:
                groups.append(number)
                start = first if start is None else start
            first += size
        place = start or 0
        for batch in file.iter_batches(ROWS_AT_ONCE, row_groups=groups, columns=names):
            low, high = max(shard.start - place, 0), min(shard.stop - place, batch.num_rows)
            place += batch.num_rows
            if low < high:
                yield pyarrow.Table.from_batches([batch.slice(low, high - low)])


def _table(kept: pyarrow.Table, result: Result) -> pyarrow.Table:
    columns: dict[str, Any] = {name: kept[name] for name in kept.column_names}
    columns["score"] = pyarrow.array(result.scores, pyarrow.float64())
    if result.statistics is not None:
        rows = np.asarray(result.statistics, float)
        columns["statistics"] = pyarrow.array(list(rows.reshape(len(rows), -1)), pyarrow.list_(pyarrow.float64()))
        shape = pyarrow.array([list(rows.shape[1:])], pyarrow.list_(pyarrow.int32()))
        columns["shape"] = pyarrow.concat_arrays([shape] * len(rows))
    return pyarrow.table(columns)


def corpus_score(plan: Plan) -> float:
    """The corpus score of all rows, in the order of the input: what `Scorer.score` gives for them in one call.

    It holds one number a sentence in memory, or, for metrics with statistics, those.

    Raises:
        ValueError: If a shard is not finished.
    """
    pending = plan.pending()
    if pending:
        raise InputError(f"{len(pending)} of {len(plan.shards)} shards are not finished; run the same call again")
    scorer = part_scorer(plan.metric, plan.options)
    rows: list[np.ndarray] = []
    for shard in plan.shards:
        with pyarrow.parquet.ParquetFile(plan.folder / shard.name) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=[n for n in file.schema_arrow.names if n in _OURS]):
                rows += _rows(batch)
    return float(scorer.aggregate(_padded(rows, scorer.missing_reference)[None])[0])


_OURS = ("score", "statistics", "shape")


def _rows(batch: pyarrow.RecordBatch) -> list[np.ndarray]:
    if "statistics" not in batch.schema.names:
        return [batch["score"].to_numpy()]
    shapes = batch["shape"].to_pylist()
    return [
        np.array(values).reshape(1, *shape)
        for values, shape in zip(batch["statistics"].to_pylist(), shapes, strict=True)
    ]


def _padded(rows: list[np.ndarray], missing_reference: float) -> np.ndarray:
    """One array; where a row has fewer references than another, `missing_reference` stands for them."""
    shape = np.max([row.shape[1:] for row in rows], axis=0).astype(int)
    whole = np.full((sum(map(len, rows)), *shape), missing_reference)
    place = 0
    for row in rows:
        whole[(slice(place, place + len(row)), *map(slice, row.shape[1:]))] = row
        place += len(row)
    return whole
