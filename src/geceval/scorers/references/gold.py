"""Where the gold edits come from: references, or an M2 file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from geceval.core.cache.memory import lru_cache
from geceval.core.errors import InputError, InputTypeError
from geceval.core.files import read_text
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import RunTime
from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, parse_m2, references

if TYPE_CHECKING:
    from geceval.edits.errant.annotator import Annotator

Gold: TypeAlias = Mapping[int, Sequence[Edit]]
"""The gold edits of one sentence: annotator to edits; an empty list says that nothing is to be corrected."""


def m2_sentences(metric: str, path: str | Path, sources: Sequence[str]) -> list[M2Sentence]:
    """Read the sentences of an M2 file and check that they are those of the sources, token by token.

    Args:
        metric: Name of the metric, for the messages.
        path: The M2 file.
        sources: One string per sentence.

    Raises:
        OSError: If the file cannot be read.
        TypeError: If `path` is not a path.
        ValueError: If it is not M2, or does not hold the same sentences as `sources`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"{metric}: gold_m2 must be the path of an M2 file, got {type(path).__name__}")
    sentences = gold_sentences(path)
    if len(sentences) != len(sources):
        raise InputError(f"{metric}: {path} has {len(sentences)} sentences but there are {len(sources)} sources")
    for row, (sentence, source) in enumerate(zip(sentences, sources, strict=True)):
        if sentence.source.split() != source.split():
            raise InputError(
                f"{metric}: sources[{row}] is not the sentence of {path}, line {sentence.line}: "
                f"{source!r} and {sentence.source!r}"
            )
    return sentences


def m2_references(metric: str, path: str | Path, sources: Sequence[str]) -> list[list[str]]:
    """The text of each annotator, one list per sentence; see `m2_sentences`.

    An annotator who has no line in a block has not annotated that sentence; a block without any edit is its own
    reference.
    """
    return [list(references(sentence).values()) for sentence in m2_sentences(metric, path, sources)]


def gold_from_m2(metric: str, columns: Columns, path: str | Path | None) -> list[Gold] | None:
    """The gold edits of an M2 file, one mapping per sentence; `None` without a file. See `m2_sentences`."""
    if path is None:
        return None
    return [sentence.edits for sentence in m2_sentences(metric, path, columns.sources)]


def columns_with_references(
    metric: str,
    sources: Sequence[str],
    predictions: Sequence[str],
    given: References | None,
    gold_m2: str | Path | None,
) -> Columns:
    """Checked columns with the references of an M2 file, or, without a file, with those given.

    Raises:
        OSError: If the file cannot be read.
        TypeError: See `check_columns`.
        ValueError: See `check_columns` and `m2_sentences`.
    """
    if gold_m2 is not None:
        check_columns(metric, sources, predictions, warn=False)
        given = m2_references(metric, gold_m2, sources)
    return check_columns(metric, sources, predictions, given, needs_references=True)


def errant_edits(
    annotator: Annotator, runtime: RunTime, sources: Sequence[str], texts: Sequence[Sequence[str]]
) -> list[list[list[Edit]]]:
    """ERRANT's edits from each source to each of its texts, extracted in one call.

    Args:
        annotator: The pipeline behind ERRANT.
        runtime: Worker processes, progress, cache.
        sources: One string per sentence.
        texts: Predictions, references or both, one list per sentence.

    Returns:
        Edits in the shape [sentences][texts of that sentence][edits].
    """
    pairs = [(source, text) for source, row in zip(sources, texts, strict=True) for text in row]
    edits = iter(annotator.edits(pairs, runtime.workers, runtime.progress, runtime.cache))
    return [[next(edits) for _ in row] for row in texts]


def edits_and_gold(
    annotator: Annotator, runtime: RunTime, columns: Columns, gold: list[Gold] | None
) -> tuple[list[list[Edit]], list[Gold]]:
    """ERRANT's edits of the predictions, and gold edits: those given, or else ERRANT's edits of the references.

    Returns:
        One list of edits per sentence; and one mapping of annotator (or number of the reference) to edits per sentence.
    """
    references = columns.references if gold is None and columns.references else [[] for _ in columns.sources]
    texts = [[prediction, *row] for prediction, row in zip(columns.predictions, references, strict=True)]
    rows = errant_edits(annotator, runtime, columns.sources, texts)
    return [row[0] for row in rows], gold or [dict(enumerate(row[1:])) for row in rows]


def gold_sentences(path: str | Path) -> list[M2Sentence]:
    """The sentences of an M2 file, which may be `"-"` or a pipe: they are read only once, also for `gold_facts`.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not M2.
    """
    return _parse(path, _read(path))


def gold_facts(path: str | Path | None) -> dict[str, str]:
    """Facts for the signature: name of the M2 file and the start of the SHA-256 of its text, never its folder."""
    if path is None:
        return {}
    digest = hashlib.sha256(_read(path).encode()).hexdigest()
    return {"gold_m2": f"{Path(path).name}@{digest[:8]}"}


def _read(path: str | Path) -> str:
    """The text of the file; it is read for each system and for the signature, which a pipe allows only once."""
    return _read_once(path) if str(path) == "-" or Path(path).is_fifo() else read_text(path)


@lru_cache(maxsize=1)
def _read_once(path: str | Path) -> str:
    return read_text(path)


@lru_cache(maxsize=4)
def _parse(path: str | Path, text: str) -> list[M2Sentence]:
    return parse_m2(text, name=str(path))
