"""Label sequences of error detection, given as a column instead of corrected sentences."""

from __future__ import annotations

from collections.abc import Sequence

from geceval.core.errors import InputError
from geceval.edits.ged_labels import CORRECT, INCORRECT, LABELS, label_ids

KINDS = ("auto", "labels", "corrections")

_SHORT = {"c": CORRECT, "C": CORRECT, "i": INCORRECT, "I": INCORRECT}
_NAMES = frozenset(label for labels in LABELS.values() for label in labels)


def label_id(text: str, classes: int) -> int | None:
    """The id of a label in the label scheme with that many classes."""
    if text.isascii() and text.isdigit():
        return int(text) if len(text) < 4 and int(text) < classes else None
    name = _SHORT.get(text, text)
    if name == CORRECT:
        return 0
    if classes == 2:
        return 1 if name in _NAMES else None
    ids = label_ids(classes)
    if name in LABELS[55]:
        operation, _, main = name.partition(":")
        name = {4: operation, 25: main, 55: name}[classes]
    return ids.get(name)


def kind_of(column: Sequence[str]) -> str:
    """`"labels"` if more than half of the texts of a column hold nothing else, else `"corrections"`."""
    # Empty texts do not count. Hardly any sentence consists only of words like `C`, `I` or `2`; so one wrong label is
    # reported as such and does not turn the column into corrected sentences.
    known = _NAMES | _SHORT.keys() | {str(number) for number in range(len(LABELS[55]))}
    texts = [text.split() for text in column if text.strip()]
    return "labels" if 2 * sum(known.issuperset(words) for words in texts) > len(texts) else "corrections"


def parse_labels(metric: str, cell: str, text: str, source: str, classes: int) -> list[int]:
    """The ids of a label sequence."""
    labels, tokens = text.split(), source.split()
    if len(labels) != len(tokens):
        raise InputError(
            f"{metric}: {cell} has {len(labels)} labels but its source has {len(tokens)} tokens; pass one label for "
            "each token of source.split()"
        )
    ids = [label_id(label, classes) for label in labels]
    if None in ids:
        first = ids.index(None)
        raise InputError(
            f"{metric}: {cell} has the label {labels[first][:60]!r} for token {first} ({tokens[first]!r}); with "
            f"{classes} classes the labels are {', '.join(LABELS[classes][:4])}{', ...' if classes > 4 else ''}, their "
            "ids, or those of a finer scheme"
        )
    return ids  # type: ignore[return-value]
