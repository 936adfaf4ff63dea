"""Columns of sentences, checked before any model loads."""

import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, InputTypeError, counted

logger = logging.getLogger("geceval")

References: TypeAlias = Sequence[str | Sequence[str | None]]
"""References as callers pass them: a list per sentence, `None` where there is none, or one string per sentence."""

# A line is missing or doubled where so many texts in a row (of those compared) fit the source beside theirs better, by
# such a share of their tokens. Honest corrections, however free, seldom do so more than once in a row.
_SHIFTED, _BETTER = 4, 0.2


@dataclass(frozen=True, slots=True)
class Columns:
    """Checked input of a metric: columns of the same, positive length; each sentence has a reference, if any has."""

    sources: list[str]
    predictions: list[str]
    references: list[list[str]] | None = None


def check_columns(
    metric: str,
    sources: Sequence[str],
    predictions: Sequence[str],
    references: References | None = None,
    *,
    needs_references: bool = False,
    warn: bool = True,
) -> Columns:
    """Check the columns of a metric and bring references into one shape."""
    if sources is None:
        raise InputTypeError(f"{metric}: needs sources, the learners' sentences: pass sources=[...], one a prediction")
    sources = _check_texts(metric, "sources", sources)
    predictions = _check_texts(metric, "predictions", predictions)
    if not sources and not predictions:
        raise InputError(f"{metric}: sources and predictions are empty; pass at least one sentence")
    if len(sources) != len(predictions):
        raise InputError(
            f"{metric}: {counted(len(sources), 'source')} but {counted(len(predictions), 'prediction')}; row "
            f"{min(len(sources), len(predictions))} has no partner. Pass one prediction per source, in the same order"
        )
    if warn:
        _warn_if_misaligned(metric, "predictions", sources, predictions)
    if not needs_references:
        return Columns(sources, predictions)
    return Columns(sources, predictions, check_references(metric, references, sources, warn=warn))


def check_references(
    metric: str, references: References | None, sources: Sequence[str], *, warn: bool = True
) -> list[list[str]]:
    """Bring references into the shape [sentences][references of that sentence]."""
    if references is None:
        raise InputError(f"{metric}: needs references; pass one list of references per sentence")
    references = listed(references)
    if isinstance(references, (str, bytes)) or not isinstance(references, Sequence):
        kind, fix = _kind(references), _fix(references, "references")
        raise InputTypeError(f"{metric}: references must be a list, one entry per sentence, got {kind}{fix}")
    if len(references) != len(sources):
        advice = _shape_advice(references, sources)
        raise InputError(
            f"{metric}: {counted(len(references), 'reference')} but {counted(len(sources), 'source')}. {advice}"
        )
    rows = [_reference_row(metric, listed(row), number) for number, row in enumerate(references)]
    if warn:
        _warn_if_transposed(metric, rows, sources)
        _warn_if_misaligned(metric, "references", list(sources), [row[0] for row in rows])
    return rows


def references_by_sentence(
    sources: Sequence[str], columns: Sequence[Sequence[str]], names: Sequence[str]
) -> list[list[str | None]] | None:
    """The references of each sentence from the annotators' files."""
    if not columns:
        return None
    rows = [
        [line or (None if text else "") for line in row]
        for text, row in zip(sources, zip(*columns, strict=True), strict=True)
    ]
    for number, row in enumerate(rows, start=1):
        if all(reference is None for reference in row):
            raise InputError(f"line {number} has no reference: it is blank in {', '.join(names)}")
    return rows


def listed(column: Any) -> Any:
    """The list behind an array of numpy, a column of pandas, polars or pyarrow."""
    method = next((name for name in ("tolist", "to_list", "to_pylist") if hasattr(column, name)), None)
    return getattr(column, method)() if method and not hasattr(column, "column_names") else column


def _check_texts(metric: str, name: str, column: Any) -> list[str]:
    column = listed(column)
    if isinstance(column, (str, bytes)) or not isinstance(column, Sequence):
        raise InputTypeError(f"{metric}: {name} must be a list of strings, got {_kind(column)}{_fix(column, name)}")
    for number, text in enumerate(column):
        _check_text(metric, f"{name}[{number}]", text)
    return list(column)


def _check_text(metric: str, where: str, text: Any) -> None:
    if not isinstance(text, str):
        raise InputTypeError(f"{metric}: {where} must be a string, got {_kind(text)}")
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{metric}: {where} has {text[error.start]!r} at position {error.start}, half a surrogate pair and no "
            "character; was the text decoded wrongly?"
        ) from error


def _reference_row(metric: str, row: Any, number: int) -> list[str]:
    if isinstance(row, str):
        _check_text(metric, f"references[{number}]", row)
        return [row]
    if isinstance(row, bytes) or not isinstance(row, Sequence):
        raise InputTypeError(f"{metric}: references[{number}] must be a list of strings or a string, got {_kind(row)}")
    for index, text in enumerate(row):
        if text is not None:
            _check_text(metric, f"references[{number}][{index}]", text)
    texts = [text for text in row if text is not None]
    if not texts:
        raise InputError(f"{metric}: references[{number}] is empty; every sentence needs at least one reference")
    return texts


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _fix(column: Any, name: str) -> str:
    """What to pass in place of something that is no list."""
    if hasattr(column, "columns") or hasattr(column, "column_names"):
        return "; pass one of its columns"
    ordered = isinstance(column, Iterable) and not isinstance(column, (str, bytes, Mapping, Set))
    return f"; pass list({name})" if ordered else ""


def _shape_advice(references: Sequence[Any], sources: Sequence[str]) -> str:
    lists = all(isinstance(row, Sequence) and not isinstance(row, (str, bytes)) for row in references)
    if lists and references and all(len(row) == len(sources) for row in references):
        return (
            "They look transposed: geceval takes one list of references per sentence, not one list per annotator; "
            "pass list(zip(*references))"
        )
    return "Pass one list of references per sentence"


def _overlap(left: str, right: str) -> float:
    """Share of the longer sentence's tokens that both sentences have, as a multiset; 1 if both are empty."""
    if left == right:
        return 1.0
    a, b = left.split(), right.split()
    if len(a) <= 1 + len(left) // 20 or len(b) <= 1 + len(right) // 20:  # a script without spaces between words
        a, b = list("".join(a)), list("".join(b))
    counts: dict[str, int] = {}  # two Counters take three times as long, and every row of every metric passes here
    for token in a:
        counts[token] = counts.get(token, 0) + 1
    common = 0
    for token in b:
        if left_over := counts.get(token):
            counts[token] = left_over - 1
            common += 1
    return common / max(len(a), len(b)) if a or b else 1.0


def _warn_if_transposed(metric: str, rows: list[list[str]], sources: Sequence[str]) -> None:
    size = len(rows)
    if size < 2 or any(len(row) != size for row in rows):
        return
    by_row = sum(_overlap(sources[i], rows[i][j]) for i in range(size) for j in range(size))
    by_column = sum(_overlap(sources[i], rows[j][i]) for i in range(size) for j in range(size))
    if by_column > by_row:
        logger.warning("%s: references fit the sources better transposed; pass one list of them per sentence", metric)


def _warn_if_misaligned(metric: str, name: str, sources: list[str], texts: list[str]) -> None:
    if warning := _misalignment(name, tuple(sources), tuple(texts)):
        logger.warning("%s: %s", metric, warning)


@lru_cache(maxsize=2)  # the systems of a table share their sources and references
def _misalignment(name: str, sources: tuple[str, ...], texts: tuple[str, ...]) -> str:
    """The sign that texts are not in the order of their sources, or `""`."""
    if len(sources) < 5:
        return ""
    rows = range(0, len(sources), max(1, len(sources) // 1000))  # a shift moves far more rows than a thousandth
    kept = {row: _overlap(sources[row], texts[row]) for row in rows}
    for offset, side in ((-1, "before"), (1, "after")):
        shifted = _shifted(sources, texts, kept, offset)
        if len(shifted) >= _SHIFTED:
            where = f"from {name}[{shifted[0]}] on, {len(shifted)} of the {name} compared fit the source {side} theirs"
            return f"{where}; is a line missing or doubled there?"
    share = sum(kept.values()) / len(rows)
    if share >= 0.1:
        return ""
    return f"{name} keep only {100 * share:.0f} % of the sources' tokens; are they in the order of the sources?"


def _shifted(sources: Sequence[str], texts: Sequence[str], kept: dict[int, float], offset: int) -> list[int]:
    """The most rows in succession whose texts fit the source beside theirs better, and none its own."""
    longest: list[int] = []
    run: list[int] = []
    for row, own in kept.items():
        beside = row + offset
        other = _overlap(sources[beside], texts[row]) if own < 1 - _BETTER and 0 <= beside < len(sources) else 0.0
        if other > own + _BETTER:
            run.append(row)
        elif own > other:
            run = []
        longest = max(longest, run, key=len)
    return longest
