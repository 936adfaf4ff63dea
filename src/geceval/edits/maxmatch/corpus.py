"""MaxMatch over a corpus: each distinct sentence is done once for all systems, in several processes, cached on disk."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import DiskCache, cached
from geceval.core.signature import package_version
from geceval.edits.edit import Edit
from geceval.edits.maxmatch.extraction import Extraction, Lattice, Rules
from geceval.edits.workers import Pool

KEPT_SENTENCES = 50_000
VERSION = 1  # change it when any extraction changes: those that are kept on disk are then made anew

Key = tuple[Any, ...]
"""Source, prediction, the fields of the rules, and (annotator, fields of each gold edit) of each annotator."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a system did to one sentence."""

    by_annotator: Mapping[int, Extraction]
    single_path: bool


_extracted: LRUCache[Key, Extracted] = LRUCache(KEPT_SENTENCES)
_pool = Pool()


def extract_all(
    sources: Sequence[str],
    predictions: Sequence[str],
    gold: Sequence[Mapping[int, Sequence[Edit]]],
    rules: Rules,
    workers: int = 1,
    cache: str | Path | None = None,
) -> list[Extracted]:
    """The edits of the predictions, cut to suit each annotator; see `geceval.edits.maxmatch.extraction`."""
    fields = dataclasses.astuple(rules)
    keys = [
        (" ".join(source.split()), " ".join(prediction.split()), fields, _plain(options))
        for source, prediction, options in zip(sources, predictions, gold, strict=True)
    ]

    def compute(missing: list[Key]) -> Iterator[tuple[Key, Extracted]]:
        return ((missing[index], found) for index, found in _pool.run(_extract, missing, workers))

    facts = ["maxmatch", VERSION, package_version("rapidfuzz")]  # which chooses the one path of very long texts
    found = cached(keys, compute, _extracted, DiskCache(cache, facts, _pack, _unpack))
    return [found[key] for key in keys]


def close() -> None:
    """End the worker processes, if there are any; a later call may start new ones."""
    _pool.close()


def _extract(keys: Sequence[Key]) -> Iterator[Extracted]:
    for source, prediction, fields, gold in keys:
        lattice = Lattice(source, prediction, Rules(*fields))
        by_annotator = {annotator: lattice.extract(_edit(row) for row in rows) for annotator, rows in gold}
        yield Extracted(by_annotator, lattice.single_path)


def _plain(options: Mapping[int, Sequence[Edit]]) -> Key:
    return tuple((annotator, tuple(map(_fields, edits))) for annotator, edits in options.items())


def _fields(edit: Edit) -> Key:
    return edit.start, edit.end, edit.correction, edit.type, edit.annotator, edit.alternatives


def _edit(fields: Sequence[Any]) -> Edit:
    return Edit(*fields[:-1], tuple(fields[-1]))


def _pack(extracted: Extracted) -> bytes:
    rows = [
        (annotator, list(map(_fields, found.edits)), found.matches, list(map(_fields, found.gold)))
        for annotator, found in extracted.by_annotator.items()
    ]
    return json.dumps([extracted.single_path, rows]).encode()


def _unpack(data: bytes) -> Extracted:
    single_path, rows = json.loads(data)
    by_annotator = {
        annotator: Extraction(list(map(_edit, edits)), [tuple(match) for match in matches], list(map(_edit, gold)))
        for annotator, edits, matches, gold in rows
    }
    return Extracted(by_annotator, single_path)
