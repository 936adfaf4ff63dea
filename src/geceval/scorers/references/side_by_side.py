"""The columns of analyses that set a correction beside its references: what is not given is in M2 files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from geceval.core.errors import InputError
from geceval.edits.edit import apply, distinct
from geceval.scorers.references.gold import gold_sentences


def sources_and_predictions(
    name: str,
    sources: Sequence[str] | None,
    predictions: Sequence[str] | None,
    gold_m2: str | Path | None,
    predictions_m2: str | Path | None,
) -> tuple[Sequence[str], Sequence[str]]:
    """Both columns."""
    if sources is None:
        path = predictions_m2 or gold_m2
        if path is None:
            raise InputError(f"{name} needs the sources")
        sources = [sentence.source for sentence in gold_sentences(path, alternatives=False)]
    if predictions is None:
        if predictions_m2 is None:
            raise InputError(f"{name} needs the predictions, or predictions_m2")
        predictions = _made(name, predictions_m2)
    return sources, predictions


def _made(name: str, path: str | Path) -> list[str]:
    """What the only annotator makes of each source; `proposed_from_m2` then checks that there is only one."""
    made = []
    for sentence in gold_sentences(path, alternatives=False):
        try:
            made.append(apply(sentence.source, distinct(next(iter(sentence.edits.values())))))
        except InputError as error:
            raise InputError(f"{name}: {path}, line {sentence.line}: {error}") from error
    return made


def wanted_rows(name: str, lines: Collection[int] | None, count: int) -> list[int]:
    """Indices of the sentences that are wanted, by their numbers from 1; all for `None`."""
    if lines is None:
        return list(range(count))
    for line in lines:
        if not 1 <= line <= count:
            raise InputError(f"{name}: line must be one of the {count} sentences, counted from 1, got {line}")
    return [line - 1 for line in sorted(set(lines))]


def reference_names(row: str | Sequence[str | None]) -> dict[int, str]:
    """What to call the references of a sentence, by their position among those that are there."""
    texts = [row] if isinstance(row, str) else row
    present = [number for number, text in enumerate(texts, start=1) if text is not None]
    return {index: f"reference {number}" for index, number in enumerate(present)}
