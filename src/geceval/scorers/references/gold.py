"""Gold edits, from references or an M2 file."""

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, InputTypeError, counted
from geceval.core.files import read_text
from geceval.core.inputs import Columns
from geceval.core.options import Language, RunTime
from geceval.edits.edit import Edit, apply, distinct
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.errant.base import Annotator
from geceval.edits.m2 import M2Sentence, parse_m2, references
from geceval.text.columns import sources_of_file

Gold: TypeAlias = Mapping[int, Sequence[Edit]]
"""The gold edits of one sentence: annotator to edits; an empty list says that nothing is to be corrected."""


def m2_sentences(
    metric: str, path: str | Path, sources: Sequence[str], option: str = "gold_m2", alternatives: bool = True
) -> list[M2Sentence]:
    """Read the sentences of an M2 file and check that they are those of the sources, token by token."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"{metric}: {option} must be the path of an M2 file, got {type(path).__name__}")
    sentences = gold_sentences(path, alternatives)
    if len(sentences) != len(sources):
        raise InputError(
            f"{metric}: {path} has {counted(len(sentences), 'sentence')} for {counted(len(sources), 'source')}; pass "
            "the M2 file of these sources, in their order"
        )
    for row, (sentence, source) in enumerate(zip(sentences, sources, strict=True)):
        if sentence.source != source and sentence.source.split() != source.split():
            raise InputError(
                f"{metric}: sources[{row}] is not the sentence of {path}, line {sentence.line}: "
                f"{source!r} and {sentence.source!r}"
            )
    return sentences


def m2_references(metric: str, path: str | Path, sources: Sequence[str]) -> list[list[str]]:
    """The text of each annotator, one list per sentence; see `m2_sentences`."""
    # An annotator who has no line in a block has not annotated that sentence; a block without any edit is its own
    # reference.
    return [list(references(sentence).values()) for sentence in m2_sentences(metric, path, sources)]


def gold_from_m2(
    metric: str, columns: Columns, path: str | Path | None, alternatives: bool = True
) -> list[Gold] | None:
    """The gold edits of an M2 file, one mapping per sentence; `None` without a file. See `m2_sentences`."""
    if path is None:
        return None
    return [sentence.edits for sentence in m2_sentences(metric, path, columns.sources, alternatives=alternatives)]


def annotator_of(settings: Any) -> Annotator:
    """The annotator of the settings `nlp` and `language`."""
    return get_annotator(settings.nlp, settings.language)


def errant_edits(
    annotator: Annotator,
    runtime: RunTime,
    sources: Sequence[str],
    texts: Sequence[Sequence[str]],
    pooled: bool = False,
) -> list[list[list[Edit]]]:
    """ERRANT's edits from each source to each of its texts, extracted in one call."""
    pairs = [(source, text) for source, row in zip(sources, texts, strict=True) for text in row]
    edits = iter(annotator.edits(pairs, runtime.workers, runtime.progress, runtime.cache, pooled))
    return [[next(edits) for _ in row] for row in texts]


def proposed_from_m2(metric: str, columns: Columns, path: str | Path | None) -> list[Sequence[Edit]] | None:
    """A system's own edits from an M2 file, one list per sentence; `None` without a file."""
    if path is None:
        return None
    proposed = []
    sentences = m2_sentences(metric, path, columns.sources, "predictions_m2", alternatives=False)
    for row, sentence in enumerate(sentences):
        if len(sentence.edits) > 1:
            raise InputError(f"{metric}: {path}, line {sentence.line}: one annotator is expected, the system itself")
        (edits,) = sentence.edits.values()
        try:
            text = apply(sentence.source, distinct(edits))
        except InputError as error:
            raise InputError(f"{metric}: {path}, line {sentence.line}: {error}") from error
        if text != columns.predictions[row] and text.split() != columns.predictions[row].split():
            raise InputError(
                f"{metric}: the edits of {path}, line {sentence.line}, do not make predictions[{row}]: "
                f"{text!r} and {columns.predictions[row]!r}"
            )
        proposed.append(edits)
    return proposed


def sources_and_predictions(
    name: str,
    sources: Sequence[str] | None,
    predictions: Sequence[str] | None,
    gold_m2: str | Path | None,
    predictions_m2: str | Path | None,
) -> tuple[Sequence[str], Sequence[str]]:
    """The columns of an analysis; one that is not given is that of an M2 file."""
    if sources is None:
        path = predictions_m2 or gold_m2
        if path is None:
            raise InputError(f"{name} needs the sources")
        sources = gold_sources(path)
    elif predictions_m2 or gold_m2:
        sources = sources_of_file(sources, gold_sources(predictions_m2 or gold_m2))
    if predictions is None:
        if predictions_m2 is None:
            raise InputError(f"{name} needs the predictions, or predictions_m2")
        rows = (references(sentence) for sentence in gold_sentences(predictions_m2, alternatives=False))
        predictions = [next(iter(texts.values())) for texts in rows]  # `proposed_from_m2` checks that there is only one
    return sources, predictions


def rows_of_lines(name: str, lines: Collection[int] | None, count: int) -> list[int]:
    """Indices of sentences by their line numbers, which count from 1; all for `None`."""
    if lines is None:
        return list(range(count))
    for line in lines:
        if not 1 <= line <= count:
            raise InputError(f"{name}: line must be one of the {count} sentences, counted from 1, got {line}")
    return [line - 1 for line in sorted(set(lines))]


def reference_names(row: str | Sequence[str | None]) -> dict[int, str]:
    """Names of the references of a sentence, by their position among those that are there."""
    texts = [row] if isinstance(row, str) else row
    present = [number for number, text in enumerate(texts, start=1) if text is not None]
    return {index: f"reference {number}" for index, number in enumerate(present)}


def compared_edits(
    metric: str, settings: Any, runtime: RunTime, columns: Columns, alternatives: bool = True, pooled: bool = False
) -> tuple[list[Sequence[Edit]], list[Gold]]:
    """Edits of the predictions and gold edits, from the M2 files that settings name, else extracted by ERRANT."""
    gold = gold_from_m2(metric, columns, settings.gold_m2, alternatives)
    proposed = proposed_from_m2(metric, columns, getattr(settings, "predictions_m2", None))
    return edits_and_gold(settings.nlp, runtime, columns, gold, proposed, settings.language, pooled)


def edits_and_gold(
    nlp: Any,
    runtime: RunTime,
    columns: Columns,
    gold: list[Gold] | None,
    proposed: list[Sequence[Edit]] | None = None,
    language: Language = "en",
    pooled: bool = False,
) -> tuple[list[Sequence[Edit]], list[Gold]]:
    """Edits of the predictions and gold edits; those that are not given are extracted by ERRANT, all in one call."""
    if gold is not None and proposed is not None:
        return proposed, gold
    rows = zip(columns.predictions, columns.references or [()] * len(columns.sources), strict=True)
    texts = [[*([text] if proposed is None else []), *(row if gold is None else [])] for text, row in rows]
    extracted = errant_edits(get_annotator(nlp, language), runtime, columns.sources, texts, pooled)
    first = 1 if proposed is None else 0
    if language == "zh" and gold is None:
        return _annotated(columns, extracted, proposed)
    return (
        [row[0] for row in extracted] if proposed is None else proposed,
        [dict(enumerate(row[first:])) for row in extracted] if gold is None else gold,
    )


def _annotated(
    columns: Columns, extracted: list[list[list[Edit]]], proposed: list[Sequence[Edit]] | None
) -> tuple[list[Sequence[Edit]], list[Gold]]:
    """Edits and gold without those of sentences that no annotator could correct, as ChERRANT counts."""
    from geceval.edits.errant.languages.chinese import UNANNOTATED

    edits, gold = [], []
    for number, (texts, row) in enumerate(zip(columns.references or [], extracted, strict=True)):
        references = row[len(row) - len(texts) :]
        kept = [each for each, text in zip(references, texts, strict=True) if "".join(text.split()) != UNANNOTATED]
        own = row[0] if proposed is None else proposed[number]
        edits.append(own if kept else [])
        gold.append(dict(enumerate(kept or [[]])))
    return edits, gold


def extracts(settings: Any) -> bool:
    """Whether edits are extracted by ERRANT: not with M2 files for both predictions and references."""
    return settings.gold_m2 is None or settings.predictions_m2 is None


def extraction_facts(settings: Any) -> dict[str, str | None]:
    """Facts of the edits for the signature: M2 files and, where edits are extracted, pipeline and ERRANT's version."""
    files = gold_facts(settings.gold_m2) | gold_facts(settings.predictions_m2, "predictions_m2")
    if not extracts(settings):
        return {**files, "nlp": None}
    return {**files, **annotator_of(settings).facts()}


def gold_sentences(path: str | Path, alternatives: bool = True) -> list[M2Sentence]:
    """The sentences of an M2 file, which may be `"-"` or a pipe: they are read once, also for `gold_facts`."""
    return _parse(path, _read(path), alternatives)


def gold_sources(path: str | Path) -> list[str]:
    """The sources of an M2 file."""
    return [sentence.source for sentence in gold_sentences(path, alternatives=False)]


def gold_facts(path: str | Path | None, option: str = "gold_m2") -> dict[str, str]:
    """Facts of an M2 file for the signature: its name and the start of the SHA-256 of its text, never its folder."""
    if path is None:
        return {}
    digest = hashlib.sha256(_read(path).encode()).hexdigest()
    return {option: f"{Path(path).name}@{digest[:8]}"}


def _read(path: str | Path) -> str:
    """The text of the file; it is read for each system and for the signature, which a pipe allows only once."""
    return _read_once(path) if str(path) == "-" or Path(path).is_fifo() else read_text(path)


@lru_cache(maxsize=1)
def _read_once(path: str | Path) -> str:
    return read_text(path)


@lru_cache(maxsize=4)
def _parse(path: str | Path, text: str, alternatives: bool) -> list[M2Sentence]:
    return parse_m2(text, name=str(path), alternatives=alternatives)
