"""Folders of plain parquet files that every version of `datasets` reads, written completely or not at all."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from geceval.core.errors import InputError
from geceval.core.files import unused_name


@dataclass(frozen=True, slots=True)
class Config:
    """A table of a data set, in one or several splits."""

    name: str
    schema: pa.Schema
    splits: dict[str, list[dict[str, Any]]]
    note: str = ""


def check_target(target: Path) -> None:
    """Fail before any work is done if the folder cannot be written."""
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(2, os.strerror(2), str(target.absolute().parent))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target} exists and is no empty folder; remove it or choose another one")


def write_folder(target: Path, configs: Sequence[Config], card: str) -> None:
    """Write `<config>/<split>.parquet` and `README.md` to a temporary folder, which then takes the target's name."""
    check_target(target)
    temporary = unused_name(target.absolute())
    try:
        temporary.mkdir()
        for config in configs:
            (temporary / config.name).mkdir()
            for split, rows in config.splits.items():
                table = pa.Table.from_pylist(rows, schema=config.schema)
                parquet.write_table(table, temporary / config.name / f"{split}.parquet")
        (temporary / "README.md").write_text(card, encoding="utf-8")
        if target.is_dir():
            target.rmdir()
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def find(folder: Path, *candidates: str) -> Path:
    """The first of several candidate paths that is a file."""
    path = find_if_any(folder, *candidates)
    if path is None:
        raise FileNotFoundError(2, os.strerror(2), str(folder / candidates[0]))
    return path


def find_if_any(folder: Path, *candidates: str) -> Path | None:
    """The first of several candidate paths that is a file, or `None`."""
    return next((folder / candidate for candidate in candidates if (folder / candidate).is_file()), None)


def check_count(where: object, unit: str, count: int, expected: int) -> None:
    """Raise a `ValueError` unless a file has as many rows as the published one."""
    if count != expected:
        raise InputError(f"{where}: {count:,} {unit}, but the published file has {expected:,}")
