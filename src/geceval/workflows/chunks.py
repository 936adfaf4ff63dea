"""Sentences as tables of chunks, each with what CLEME makes of it: hit, wrong, under- or over-corrected."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from geceval.core.errors import InputError
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import RunTime, check_choice, runtime_or_default
from geceval.edits.cleme_chunks import JointChunks, Span
from geceval.scorers.edit_based.chunk_classes import Assumption, ChunkClass, Level, classify
from geceval.scorers.edit_based.chunk_scorer import divide_beside
from geceval.scorers.references.gold import (
    edits_and_gold,
    gold_from_m2,
    proposed_from_m2,
    reference_names,
    rows_of_lines,
    sources_and_predictions,
)
from geceval.text.columns import as_tokens

_LABELS = {
    ChunkClass.HIT: "hit",
    ChunkClass.WRONG: "wrong",
    ChunkClass.MISS: "under",
    ChunkClass.UNNECESSARY: "over",
    ChunkClass.KEPT: "",
}
_NAME = "chunks"


@dataclass(frozen=True, slots=True)
class ChunkCell:
    """The text of one target in one chunk, and its label."""

    text: str
    changed: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """One sentence: a column per chunk, a row per target."""

    line: int
    spans: tuple[Span, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[ChunkCell, ...], ...]

    def corrected(self) -> list[bool]:
        """Of each chunk, whether a target has an edit there."""
        return [any(cell.changed for cell in column) for column in zip(*self.rows, strict=True)]

    def labels(self) -> list[str]:
        """The labels of all cells that have one."""
        return [cell.label for row in self.rows for cell in row if cell.label]


def chunk_tables(
    sources: Sequence[str] | None = None,
    predictions: Sequence[str] | None = None,
    references: References | None = None,
    *,
    gold_m2: str | Path | None = None,
    predictions_m2: str | Path | None = None,
    assumption: Assumption = "dependent",
    level: Level = "correction",
    lines: Collection[int] | None = None,
    nlp: str = "bundled",
    runtime: RunTime | None = None,
) -> list[ChunkTable]:
    """Lay source, correction and references of each sentence side by side, divided as CLEME divides them.

    With the assumption `"dependent"` each reference's cells say what the correction did beside that reference, and the
    correction's say so where all references agree. With `"independent"` there is one answer for all references, and it
    stands in the correction's cells. References without any text are left out unless there is no other, as in `cleme`.

    Args:
        sources: One string per sentence; by default those of an M2 file.
        predictions: One string per sentence; by default what the edits of `predictions_m2` make of the sources.
        references: One list per sentence, in which `None` is no reference; not needed with `gold_m2`.
        gold_m2: M2 file with the edits of the references.
        predictions_m2: M2 file with the edits of the predictions.
        assumption: `"dependent"` or `"independent"`.
        level: `"correction"`, or `"detection"`, which only asks where something is changed.
        lines: Numbers of the sentences that are wanted, from 1; all by default.
        nlp: spaCy pipeline for ERRANT, which extracts edits where no file gives them.
        runtime: Worker processes, progress, cache.

    Raises:
        OSError: If a file cannot be read.
        TypeError: If a column or a row has the wrong type.
        ValueError: If there is nothing to compare, columns and files do not fit each other, an option is out of range,
            or the edits of a target overlap.
    """
    runtime = runtime_or_default(_NAME, runtime)
    check_choice("assumption", assumption, get_args(Assumption))
    check_choice("level", level, get_args(Level))
    sources, predictions = sources_and_predictions(_NAME, sources, predictions, gold_m2, predictions_m2)
    columns = check_columns(_NAME, sources, predictions, references, needs_references=gold_m2 is None)
    columns = as_tokens(columns)
    gold = gold_from_m2(_NAME, columns, gold_m2, alternatives=False)
    proposed = proposed_from_m2(_NAME, columns, predictions_m2)
    chosen = rows_of_lines(_NAME, lines, len(columns.sources))

    def pick(rows: Sequence[Any] | None) -> Any:
        return rows and [rows[row] for row in chosen]

    columns = Columns(pick(columns.sources), pick(columns.predictions), pick(columns.references))
    gold, proposed = pick(gold), pick(proposed)
    edits, gold_edits = edits_and_gold(nlp, runtime, columns, gold, proposed)
    names = [reference_names(references[row]) for row in chosen] if gold_m2 is None and references is not None else None
    tables = []
    for number, row in enumerate(chosen):
        source, annotations = columns.sources[number], gold_edits[number]
        names_of = names[number] if names is not None else {each: f"annotator {each}" for each in annotations}
        try:
            chunks, used = divide_beside(source, edits[number], annotations)
        except InputError as error:
            raise InputError(f"{_NAME}: sources[{row}]: {error}") from error
        kinds = classify(chunks, assumption, level)
        tables.append(_table(row + 1, chunks, [names_of[each] for each in used], kinds, assumption))
    return tables


def _table(
    line: int,
    chunks: JointChunks,
    references: Sequence[str],
    classes: Sequence[Sequence[ChunkClass]],
    assumption: Assumption,
) -> ChunkTable:
    """The corrected chunks with their labels, and those between them."""
    labels = [[_LABELS[kind] for kind in kinds] for kinds in classes]
    shared = [column[0] if len(set(column)) == 1 else "varies" for column in zip(*labels, strict=True)]
    if assumption == "independent":
        labels = [[""] * len(chunks.spans) for _ in classes]
    corrected = {span: index for index, span in enumerate(chunks.spans)}
    spans = sorted([*chunks.spans, *chunks.unchanged()])
    rows = [tuple(ChunkCell(" ".join(chunks.source[start:end])) for start, end in spans)]
    for target, row_labels in enumerate([shared, *labels]):
        cells = []
        for span, cell in zip(spans, rows[0], strict=True):
            index = corrected.get(span)
            if index is not None:
                changed = chunks.texts[target][index] is not None
                label = row_labels[index] or ("changed" if changed else "")
                cell = ChunkCell(" ".join(chunks.text(target, index)), changed, label)
            cells.append(cell)
        rows.append(tuple(cells))
    return ChunkTable(line, tuple(spans), ("source", "correction", *references), tuple(rows))
