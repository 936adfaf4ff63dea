"""ERRANT's types for the edits of whole M2 files."""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Sequence
from typing import TYPE_CHECKING

from geceval.edits.m2 import M2Sentence

if TYPE_CHECKING:
    from geceval.edits.edit import Edit
    from geceval.edits.errant.annotator import Annotator

Row = tuple[str, list["Edit"]]

_CHUNK = 256
_here: list[Annotator] = []  # the annotator of a worker process


def with_types(sentences: Sequence[M2Sentence], annotator: Annotator, workers: int = 1) -> list[M2Sentence]:
    """The sentences with the types of ERRANT; the spans and corrections of their edits stay the same."""
    keys = [(index, number) for index, sentence in enumerate(sentences) for number in sentence.edits]
    rows = [(sentences[index].source, sentences[index].edits[number]) for index, number in keys]
    chunks = [rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK)]
    if workers == 1 or len(chunks) < 2:
        typed = [annotator.classify(chunk) for chunk in chunks]
    else:
        with multiprocessing.Pool(workers, initializer=_here.append, initargs=(annotator,)) as pool:
            typed = pool.map(_classify, chunks, chunksize=1)
    outcome = [M2Sentence(sentence.source, {}, sentence.line) for sentence in sentences]
    for (index, number), edits in zip(keys, (edits for chunk in typed for edits in chunk), strict=True):
        outcome[index].edits[number] = [dataclasses.replace(edit, annotator=number) for edit in edits]
    return outcome


def _classify(rows: list[Row]) -> list[list[Edit]]:
    return _here[0].classify(rows)
