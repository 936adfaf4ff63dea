"""How parquet files are divided into shards, and the manifest that distinguishes one run from another.

A shard is a range of rows of one input file and becomes one file of the output folder. `manifest.json` says what the
shards are made from and how, with hashes of models and pipelines; each shard file carries its hash, so files of another
run, or with other settings, are never mistaken for finished ones.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from geceval.core.errors import InputError
from geceval.core.files import expanded, write_text
from geceval.core.options import MODEL, PIPELINE, path_options
from geceval.models.checkpoints import is_bundled, resolve
from geceval.version import __version__
from geceval.workflows.batches import column_names, needed, part_scorer

MANIFEST = "manifest.json"
MARK = b"geceval"

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
        """Name of the output file."""
        return f"part-{self.number:06d}.parquet"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be scored, how, and where the scores go."""

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
        mark = json.loads((found.metadata or {}).get(MARK, b"{}"))
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
    """Divide parquet files into shards and write the manifest, or check it against an existing one."""
    if rows_per_shard < 1:
        raise InputError(f"rows_per_shard must be at least 1, got {rows_per_shard}")
    scorer = part_scorer(metric, options)
    names = column_names(columns)
    described, shards = [], []
    for path in _files(inputs):
        facts = _describe(path)
        there = pyarrow.parquet.read_schema(path).names
        needed(scorer, names, there)
        missing = [name for name in keep if name not in there]
        if missing:
            raise InputError(f"{path} has no column {missing[0]!r}")
        described.append(facts)
        for start in range(0, facts["rows"], rows_per_shard):
            shards.append(Shard(len(shards), str(path), start, min(start + rows_per_shard, facts["rows"])))
    manifest = {
        "geceval": __version__,
        "metric": metric,
        "settings": dataclasses.asdict(scorer.settings),
        "loads": _identities(scorer.settings),
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


def _identities(settings: Any) -> dict[str, str]:
    """Hashes of the models and pipelines in the settings, whose files may be replaced under the same path."""
    found = {}
    for name, kind in path_options(type(settings)).items():
        value = getattr(settings, name)
        if kind == MODEL and value is not None:
            found[name] = _fingerprint(value)
        elif kind == PIPELINE:
            with contextlib.suppress(ModuleNotFoundError):  # then no sentence is parsed
                from geceval.edits.errant import pipeline

                found[name] = pipeline.fingerprint(value)
    return found


def _write_manifest(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    if not path.exists():
        write_text(path, text)
    elif path.read_text(encoding="utf-8") != text:
        what = f"other input, settings or weights ({MANIFEST} says which)"
        raise InputError(f"{folder} holds scores of {what}; pass a new folder")


def _fingerprint(model: str) -> str:
    """SHA-256 of a checkpoint's files, or its commit on the Hub; empty if it is bundled with geceval."""
    if is_bundled(model):
        return ""
    folder = expanded(model)
    # A checkpoint that is made of several networks has a folder each.
    parts = [] if (folder / "config.json").is_file() else [each.parent.name for each in folder.glob("*/config.json")]
    return " ".join(resolve(model, part=part).digest for part in sorted(parts) or [""])
