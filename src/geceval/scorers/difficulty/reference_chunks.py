"""Chunks of references and of texts, for GoToScorer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import References, check_columns
from geceval.core.options import RunTime
from geceval.edits.edit import Edit
from geceval.edits.gotoscorer_chunks import Chunk, cut, cut_annotations
from geceval.scorers.difficulty.chunk_weights import Difficulty, count_correct
from geceval.scorers.references.gold import errant_edits, m2_sentences

if TYPE_CHECKING:
    from geceval.edits.errant.annotator import Annotator


def cut_texts(
    annotator: Annotator, runtime: RunTime, sources: Sequence[str], texts: Sequence[Sequence[str]]
) -> list[list[list[Chunk]]]:
    """The chunks that ERRANT's edits from each source to each of its texts make: [sentences][texts][chunks]."""
    rows = errant_edits(annotator, runtime, sources, texts)
    return [[cut(source, edits) for edits in row] for source, row in zip(sources, rows, strict=True)]


def cut_predictions(
    annotator: Annotator, runtime: RunTime, sources: Sequence[str], predictions: Sequence[str]
) -> list[list[Chunk]]:
    """Like `cut_texts`, for one text per sentence: [sentences][chunks]."""
    return [row[0] for row in cut_texts(annotator, runtime, sources, [[text] for text in predictions])]


def count_systems(
    metric: str,
    annotator: Annotator,
    runtime: RunTime,
    sources: Sequence[str],
    gold: Sequence[Sequence[Sequence[Chunk]]],
    systems: Sequence[Sequence[str]],
    covered_insertion: str,
) -> Difficulty:
    """`count_correct` for the predictions of systems, one row per reference: those of the first sentence come first."""
    if isinstance(systems, (str, bytes)) or any(isinstance(predictions, str) for predictions in systems):
        raise InputTypeError(f"{metric}: systems must be a list with one list of predictions per system")
    for predictions in systems:
        check_columns(metric, sources, predictions, warn=False)
    owners = [number for number, rivals in enumerate(gold) for _ in rivals]
    rows = tuple(tuple(chunks) for rivals in gold for chunks in rivals)
    texts = tuple(sources[owner] for owner in owners)
    repeated = tuple(tuple(predictions[owner] for owner in owners) for predictions in systems)
    return _count_texts(annotator, runtime, texts, repeated, rows, covered_insertion)


@lru_cache(maxsize=4)
def _count_texts(
    annotator: Annotator,
    runtime: RunTime,
    sources: tuple[str, ...],
    systems: tuple[tuple[str, ...], ...],
    references: tuple[tuple[Chunk, ...], ...],
    covered_insertion: str,
) -> Difficulty:
    """`count_correct` for texts; cached, because scoring each of K systems needs the counts of all K."""
    chunks = (cut_predictions(annotator, runtime, sources, predictions) for predictions in systems)
    return count_correct(references, chunks, covered_insertion)


def chunks_of_m2(metric: str, path: str | Path, sources: Sequence[str], ref_id: int | None) -> list[list[list[Chunk]]]:
    """The chunks of the annotators of an M2 file: [sentences][annotators][chunks]; see `cut_annotations`."""
    sentences = m2_sentences(metric, path, sources)
    try:
        return cut_annotations(sentences, ref_id)
    except LookupError as error:
        raise InputError(f"{metric}: {path} has no annotator {ref_id} (ref_id); {error.args[0]}") from error


def choose_reference(metric: str, references: References, ref_id: int) -> list[list[str]]:
    """Reference number `ref_id` of each sentence, alone in its list."""
    rows = []
    for number, row in enumerate(references):
        texts = [row] if isinstance(row, str) else row
        if ref_id >= len(texts) or texts[ref_id] is None:
            raise InputError(f"{metric}: references[{number}] has no reference {ref_id} (ref_id counts from 0)")
        rows.append([texts[ref_id]])
    return rows


def only_references(metric: str, gold: Sequence[Sequence[list[Chunk]]]) -> list[list[Chunk]]:
    """The one reference of each sentence."""
    crowded = next((number for number, rivals in enumerate(gold) if len(rivals) > 1), None)
    if crowded is not None:
        raise InputError(
            f"{metric}: weights belong to one reference, but sentence {crowded + 1} has {len(gold[crowded])}; "
            "say which one is meant, e.g. ref_id=0"
        )
    return [rivals[0] for rivals in gold]


def classify(annotator: Annotator, sources: Sequence[str], sentences: Sequence[list[Chunk]]) -> list[list[Chunk]]:
    """The same chunks with ERRANT's types on the edits, whatever types they had."""
    rows = []
    for source, chunks in zip(sources, sentences, strict=True):
        edits = [Edit(chunk.start, chunk.end, chunk.correction) for chunk in chunks if chunk.is_edit]
        rows.append((source, edits))
    typed = (iter(edits) for edits in annotator.classify(rows))
    return [
        [dataclasses.replace(chunk, type=next(edits).type) if chunk.is_edit else chunk for chunk in chunks]
        for chunks, edits in zip(sentences, typed, strict=True)
    ]
