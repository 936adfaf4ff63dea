"""Scoring of parquet files shard by shard: each is written at once, so an interrupted run can be continued.

The file of a shard has one row per sentence in the same order: the score, the data for the corpus score if that is not
the mean (`statistics` and their `shape`), and any columns to copy.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from geceval.core.errors import InputError, UserError
from geceval.core.result import Result
from geceval.scorers.base import Scorer
from geceval.workflows.batches import needed, part_scorer
from geceval.workflows.shard_plan import MARK, Plan, Shard

ROWS_AT_ONCE = 8192


def score_shard(plan: Plan, shard: Shard, scorer: Scorer) -> int:
    """Score one shard and write its file, which appears whole or not at all."""
    temporary = plan.folder / f".{shard.name}.{uuid.uuid4().hex}"
    writer, signatures, rows = None, [], 0
    try:
        wanted = needed(scorer, plan.columns, plan.columns.values())
        for table in _read(plan, shard, wanted):
            try:
                result = scorer.score(**{name: table[plan.columns[name]].to_pylist() for name in wanted})
            except UserError as error:
                where = f"{shard.file}, in the {table.num_rows} rows from {shard.start + rows}"
                raise type(error)(f"{where}: {error}") from error
            scored = _table(table.select(list(plan.keep)), result)
            writer = writer or pyarrow.parquet.ParquetWriter(temporary, scored.schema)
            writer.write_table(scored)
            signatures.append(result.signature)
            rows += table.num_rows
        mark = {"plan": plan.hash, "signature": " ".join(dict.fromkeys(signatures))}
        writer.add_key_value_metadata({MARK: json.dumps(mark).encode()})
        writer.close()
        temporary.replace(plan.folder / shard.name)
    except BaseException:
        if writer is not None:
            writer.close()
        temporary.unlink(missing_ok=True)
        raise
    return rows


def _read(plan: Plan, shard: Shard, wanted: Sequence[str]) -> Iterator[pyarrow.Table]:
    """The rows of a shard, some at a time; row groups that contain none of them are not read."""
    names = list(dict.fromkeys([*(plan.columns[name] for name in wanted), *plan.keep]))
    with pyarrow.parquet.ParquetFile(shard.file) as file:
        groups, first, start = [], 0, None
        for number in range(file.num_row_groups):
            size = file.metadata.row_group(number).num_rows
            if first < shard.stop and first + size > shard.start:
                groups.append(number)
                start = first if start is None else start
            first += size
        first = start or 0
        for batch in file.iter_batches(ROWS_AT_ONCE, row_groups=groups, columns=names):
            low, high = max(shard.start - first, 0), min(shard.stop - first, batch.num_rows)
            first += batch.num_rows
            if low < high:
                yield pyarrow.Table.from_batches([batch.slice(low, high - low)])


def _table(copied: pyarrow.Table, result: Result) -> pyarrow.Table:
    columns: dict[str, Any] = {name: copied[name] for name in copied.column_names}
    columns["score"] = pyarrow.array(result.scores, pyarrow.float64())
    if result.statistics is not None:
        rows = np.asarray(result.statistics, float)
        columns["statistics"] = pyarrow.array(list(rows.reshape(len(rows), -1)), pyarrow.list_(pyarrow.float64()))
        shape = pyarrow.array([list(rows.shape[1:])], pyarrow.list_(pyarrow.int32()))
        columns["shape"] = pyarrow.concat_arrays([shape] * len(rows))
    return pyarrow.table(columns)


def corpus_score(plan: Plan) -> float:
    """The corpus score of all rows, in the order of the input, as `Scorer.score` gives it in one call."""
    # It holds one number per sentence in memory, or, for metrics with statistics, those.
    pending = plan.pending()
    if pending:
        raise InputError(f"{len(pending)} of {len(plan.shards)} shards are not finished; run the same call again")
    if not plan.shards:
        raise InputError("the input has no rows, so there is no corpus score")
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
    start = 0
    for row in rows:
        whole[(slice(start, start + len(row)), *map(slice, row.shape[1:]))] = row
        start += len(row)
    return whole
