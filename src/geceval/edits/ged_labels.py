"""Labels of grammatical error detection: what each token of a source is, correct or in an error of some type."""

from collections.abc import Mapping, Sequence

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError
from geceval.edits.edit import Edit

CORRECT = "CORRECT"
INCORRECT = "INCORRECT"
UNCORRECTED = "UNK"
"""The type of an error that an annotator saw and did not correct."""

_OF_ALL_OPERATIONS = (
    *("ADJ", "ADV", "CONJ", "CONTR", "DET", "NOUN", "NOUN:POSS", "OTHER", "PART", "PREP", "PRON", "PUNCT"),
    *("VERB", "VERB:FORM", "VERB:TENSE"),
)
_OF_REPLACEMENTS = ("ADJ:FORM", "MORPH", "NOUN:INFL", "NOUN:NUM", "ORTH", "SPELL", "VERB:INFL", "VERB:SVA", "WO")

LABELS: dict[int, tuple[str, ...]] = {
    2: (CORRECT, INCORRECT),
    4: (CORRECT, "M", "R", "U"),
    25: (CORRECT, *_OF_ALL_OPERATIONS, *_OF_REPLACEMENTS),
    55: (
        CORRECT,
        *(f"M:{name}" for name in _OF_ALL_OPERATIONS),
        *(f"R:{name}" for name in (*_OF_ALL_OPERATIONS, *_OF_REPLACEMENTS)),
        *(f"U:{name}" for name in _OF_ALL_OPERATIONS),
    ),
}
"""Number of classes to the labels, in the order of their ids; id 0 is always `CORRECT`: correct or not, ERRANT's
operations, its main types, or operation and main type (Yuan et al., 2021, section 4.2)."""


def token_labels(source: str, edits: Sequence[Edit], classes: int = 2) -> list[int]:
    """The label of each token of a source."""
    # A replaced or deleted token gets the label of its edit; an insertion labels the token to its right, one at the end
    # the last token (in the published code: none). If several edits concern one token, the later one in the list
    # counts, as in the published code. Errors that were seen but not corrected label nothing.
    ids = label_ids(classes)
    length = len(source.split())
    labels = [0] * length
    last = 0
    for edit in edits:
        if edit.is_noop or edit.type == UNCORRECTED:
            continue
        if edit.end > length:
            raise InputError(f"edit {edit} lies beyond the {length} tokens of {source!r}")
        label = _label(edit, classes, ids)
        if edit.start == length:
            last = label
        for index in range(edit.start, min(max(edit.end, edit.start + 1), length)):
            labels[index] = label
    if labels and not labels[-1]:
        labels[-1] = last
    return labels


@lru_cache()
def label_ids(classes: int) -> Mapping[str, int]:
    """The id of each label of a scheme."""
    if classes not in LABELS:
        raise InputError(f"classes must be one of {', '.join(map(str, LABELS))}, got {classes!r}")
    return {label: number for number, label in enumerate(LABELS[classes])}


def _label(edit: Edit, classes: int, ids: Mapping[str, int]) -> int:
    if classes == 2:
        return 1
    operation, _, name = edit.type.partition(":")
    label = {4: operation, 25: name, 55: edit.type}[classes]
    if operation not in LABELS[4][1:] or name not in LABELS[25][1:] or label not in ids:
        raise InputError(
            f"edit {edit} has the type {edit.type!r}, not one of ERRANT's: {classes} classes need ERRANT edits. Give "
            "these edits ERRANT's types (Annotator.classify), extract them anew (Annotator.edits), or use 2 classes"
        )
    return ids[label]
