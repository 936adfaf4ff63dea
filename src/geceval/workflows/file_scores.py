"""Scores of parquet files, a part at a time, whole or not there at all, so that a run goes on where it stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from geceval.core.errors import InputError, UserError
from geceval.core.files import expanded, file_sha256, write_text
from geceval.core.options import MODEL, PIPELINE, path_options
from geceval.core.result import Result, stacked
from geceval.models.checkpoints import is_bundled, is_folder, resolve
from geceval.scorers.base import Scorer
from geceval.version import __version__
from geceval.workflows.batches import column_names, needed, part_scorer

# The manifest says what the scores are made from and how; each file of scores carries its hash, so those of another run
# are never mistaken for finished ones. A row holds the score, and what a corpus score that is not the mean is made of.
MANIFEST = "manifest.json"
ROWS = 8192  # of a part, at most
_MARK = b"geceval"
_SCORES = ("score", "statistics", "shape")


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a file of the input, from `start`, and the file of their scores."""

    path: str
    start: int
    rows: int
    scores: Path


@dataclass(frozen=True, slots=True)
class Run:
    """A run: input, metric, options and the folder of the scores; `hash` is that of the manifest."""

    folder: Path
    metric: str
    options: dict[str, Any]
    columns: dict[str, str]
    keep: tuple[str, ...]
    parts: tuple[Part, ...]
    hash: str

    @property
    def rows(self) -> int:
        """Number of rows of the input."""
        return sum(part.rows for part in self.parts)

    @property
    def signatures(self) -> list[str]:
        """The signatures of the scores, which differ by what batches differ in, such as the number of references."""
        return list(dict.fromkeys(filter(None, map(self.signature, self.parts))))

    def pending(self) -> list[int]:
        """The indices of the parts that have no scores yet."""
        return [number for number, part in enumerate(self.parts) if self.signature(part) is None]

    def signature(self, part: Part) -> str | None:
        """The signature under which a part was scored; `None` if it is not finished."""
        try:
            metadata = parquet.read_metadata(part.scores)
        except (OSError, pyarrow.ArrowInvalid):
            return None
        mark = json.loads((metadata.metadata or {}).get(_MARK, b"{}"))
        whole = mark.get("run") == self.hash and metadata.num_rows == part.rows
        return mark.get("signature") if whole else None

    def corpus_score(self) -> float:
        """The metric's score of all rows, in the order of the input, as in one call; pending parts are an error."""
        # It holds a number per sentence in memory, or what a corpus score that is not the mean is made of.
        pending = self.pending()
        if pending:
            raise InputError(f"{len(pending)} of {len(self.parts)} parts are not finished; run the same call again")
        if not self.parts:
            raise InputError("the input has no rows, so there is no corpus score")
        scorer = part_scorer(self.metric, self.options)
        rows: list[np.ndarray] = []
        for part in self.parts:
            with parquet.ParquetFile(part.scores) as scores:
                columns = [name for name in scores.schema_arrow.names if name in _SCORES]
                for batch in scores.iter_batches(ROWS, columns=columns):
                    rows += _rows(batch)
        return float(scorer.aggregate(stacked(rows, scorer.missing_reference)[None])[0])


def make_run(
    inputs: str | Path | Sequence[str | Path],
    metric: str,
    output: str | Path,
    options: Mapping[str, Any],
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
) -> Run:
    """Check what is to be scored, and write the manifest, or check it against an existing one."""
    scorer = part_scorer(metric, options)
    names = column_names(columns)
    if taken := [name for name in keep if name in _SCORES]:
        raise InputError(f"keep: the scores have a column {taken[0]!r} of their own; rename that of the files")
    folder = Path(output).absolute()
    parts, described = [], []
    for path in _files(inputs):
        try:
            metadata = parquet.read_metadata(path)
        except pyarrow.ArrowInvalid as error:
            raise InputError(f"{path}: not a parquet file ({error})") from error
        header = metadata.schema.to_arrow_schema().names
        for name in [*(names[column] for column in needed(scorer, names, header)), *keep]:
            if header.count(name) != 1:
                raise InputError(f"{path} has {'two columns' if name in header else 'no column'} {name!r}")
        for start in range(0, metadata.num_rows, ROWS):
            rows = min(ROWS, metadata.num_rows - start)
            parts.append(Part(str(path), start, rows, folder / f"part-{len(parts):06d}.parquet"))
        described.append({"file": path.name, "rows": metadata.num_rows, "sha256": file_sha256(path)})
    manifest = {
        "geceval": __version__,
        "metric": metric,
        "settings": dataclasses.asdict(scorer.settings),
        "loads": _identities(scorer.settings),
        "dtype": scorer.runtime.dtype,
        "columns": names,
        "keep": list(keep),
        "rows": ROWS,
        "inputs": described,
    }
    text = json.dumps(manifest, indent=2, default=str) + "\n"
    _write_manifest(folder, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Run(folder, metric, dict(options), names, tuple(keep), tuple(parts), digest)


def _files(inputs: str | Path | Sequence[str | Path]) -> list[Path]:
    files = []
    for path in map(Path, [inputs] if isinstance(inputs, (str, Path)) else inputs):
        inside = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path}: no *.parquet in this folder")
        files += [each.absolute() for each in inside]
    return files


def _identities(settings: Any) -> dict[str, str]:
    """Hashes of the models and pipelines in the settings, whose files may be replaced under the same path."""
    identities = {}
    for name, kind in path_options(type(settings)).items():
        value = getattr(settings, name)
        if kind == MODEL and value is not None:
            identities[name] = _fingerprint(value)
        elif kind == PIPELINE:
            with contextlib.suppress(ModuleNotFoundError):  # then no sentence is parsed
                from geceval.edits.errant import pipeline

                identities[name] = pipeline.fingerprint(value)
    return identities


def _fingerprint(model: str) -> str:
    """SHA-256 of a checkpoint's files, or its commit on the Hub; empty if it is bundled with geceval."""
    if is_bundled(model):
        return ""
    parts = [""]
    if is_folder(model) and not (expanded(model) / "config.json").is_file():  # several networks have a folder each
        parts = sorted(path.parent.name for path in expanded(model).glob("*/config.json")) or parts
    return " ".join(resolve(model, part=part).digest for part in parts)


def _write_manifest(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    if not path.exists():
        write_text(path, text)
    elif path.read_text(encoding="utf-8") != text:
        what = f"other input, settings or weights ({MANIFEST} says which)"
        raise InputError(f"{folder} holds scores of {what}; pass a new folder")


def score_part(run: Run, part: Part, scorer: Scorer) -> None:
    """Score a part and write its scores."""
    names = {name: run.columns[name] for name in needed(scorer, run.columns, run.columns.values())}
    rows = _read(part, list({*names.values(), *run.keep}))
    try:
        result = scorer.score(**{name: rows[column].to_pylist() for name, column in names.items()})
    except UserError as error:
        raise type(error)(f"{part.path}, in the {part.rows} rows from {part.start}: {error}") from error
    mark = json.dumps({"run": run.hash, "signature": result.signature}).encode()
    table = _table({name: rows[name] for name in run.keep}, result).replace_schema_metadata({_MARK: mark})
    temporary = part.scores.with_name(f".{part.scores.name}.{uuid.uuid4().hex}")
    try:
        parquet.write_table(table, temporary)
        temporary.replace(part.scores)
    finally:
        temporary.unlink(missing_ok=True)


def _read(part: Part, columns: list[str]) -> pyarrow.Table:
    """The rows of a part; row groups before them are passed over, and reading stops behind them."""
    with parquet.ParquetFile(part.path) as file:
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        ends = np.cumsum(sizes)
        first = int(np.searchsorted(ends, part.start, side="right"))
        before, missing = part.start - int(ends[first] - sizes[first]), part.rows
        batches = []
        for batch in file.iter_batches(ROWS, row_groups=list(range(first, len(sizes))), columns=columns):
            rows = batch.slice(min(before, batch.num_rows), missing)
            before, missing = max(before - batch.num_rows, 0), missing - rows.num_rows
            batches.append(rows)
            if not missing:
                break
    return pyarrow.Table.from_batches(batches)


def _table(copied: dict[str, Any], result: Result) -> pyarrow.Table:
    columns = {**copied, "score": pyarrow.array(result.scores, pyarrow.float64())}
    if result.statistics is not None:
        rows = np.asarray(result.statistics, float)
        columns["statistics"] = pyarrow.array(list(rows.reshape(len(rows), -1)), pyarrow.list_(pyarrow.float64()))
        columns["shape"] = pyarrow.array([rows.shape[1:]] * len(rows), pyarrow.list_(pyarrow.int32()))
    return pyarrow.table(columns)


def _rows(batch: pyarrow.RecordBatch) -> list[np.ndarray]:
    if "statistics" not in batch.schema.names:
        return [batch["score"].to_numpy()]
    pairs = zip(batch["statistics"].to_pylist(), batch["shape"].to_pylist(), strict=True)
    return [np.array(values).reshape(1, *shape) for values, shape in pairs]
