"""Error detection: labels as text, detectors and their labels in a label scheme, counts of tokens and their figures."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from geceval.core.errors import InputError
from geceval.core.f_score import Counts, f_beta
from geceval.core.options import RunTime
from geceval.edits.ged_labels import CORRECT, INCORRECT, LABELS, label_ids
from geceval.models.checkpoints import BUNDLED, CheckpointError, resolve
from geceval.models.detector import Detector, is_seen

MACRO = ("macro_precision", "macro_recall", "macro_f")
BUNDLED_CLASSES = (2, 25)

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


def load_detector(model: str, runtime: RunTime, max_length: int | None = None, classes: int | None = None) -> Detector:
    """The detector of that name, or the bundled one with that many classes (two by default)."""
    if model == BUNDLED and classes not in (None, *BUNDLED_CLASSES):
        known = " or ".join(map(str, BUNDLED_CLASSES))
        raise CheckpointError(
            f"the bundled detectors have {known} classes, not {classes}; pass model=FOLDER or a Hub id"
        )
    bundled = "ged" if classes in (None, 2) else f"ged_{classes}"
    return Detector.load(resolve(model, bundled=bundled), runtime, max_length)


def log_correct(detector: Detector, sentences: Sequence[str], runtime: RunTime) -> np.ndarray:
    """Mean of log P(correct) over the words of each sentence, natural logarithms."""
    means = []
    for row in detector.log_probabilities(sentences, runtime):
        words = row[is_seen(row), detector.correct].astype(np.float64)
        means.append(words.sum() / max(len(words), 1))
    return np.array(means)


def scheme(detector: Detector) -> int:
    """The number of classes in the label scheme of a detector: 2 if its labels fit none of the larger schemes."""
    classes = len(detector.labels)
    return classes if classes in LABELS and set(_ids(detector, classes)) == set(range(classes)) else 2


def in_scheme(detector: Detector, classes: int) -> list[int]:
    """The id that each of the detector's labels has in a label scheme."""
    ids = _ids(detector, classes)
    if None in ids:
        raise InputError(
            f"{detector.name}: its label {detector.labels[ids.index(None)]!r} belongs to none of {classes} classes; "
            "use classes=2"
        )
    return ids  # type: ignore[return-value]


def _ids(detector: Detector, classes: int) -> list[int | None]:
    named = [label.lower() != f"label_{number}" for number, label in enumerate(detector.labels)]
    names = detector.labels if all(named) else LABELS.get(len(detector.labels), detector.labels)
    ids = [1 if classes == 2 else label_id(name, classes) for name in names]
    ids[detector.correct] = 0
    return ids


def count(predicted: Sequence[int], gold: Sequence[int], classes: int) -> np.ndarray:
    """True and false positives and false negatives of errors of any class, then tokens by class, for one sentence."""
    # The classes three times over: tokens that have a class in both labellings, in the predicted one, in the gold one.
    left, right = np.array(predicted, int), np.array(gold, int)
    binary = [((left > 0) & (right > 0)).sum(), ((left > 0) & (right == 0)).sum(), ((left == 0) & (right > 0)).sum()]
    by_class = [np.bincount(ids, minlength=classes) for ids in (left[left == right], left, right)]
    return np.concatenate([binary, *by_class]).astype(float)


def macro_scores(sums: np.ndarray, beta: float) -> np.ndarray:
    """Macro precision, recall and F: F of the means of P and R over classes (Yuan et al. 2021's public scorer)."""
    hits, proposed, present = np.moveaxis(sums[..., 3:].reshape(*sums.shape[:-1], 3, -1), -2, 0)
    seen = (proposed + present) > 0
    classes = np.maximum(seen.sum(axis=-1), 1)
    precision = (hits / np.maximum(proposed, 1)).sum(axis=-1) / classes
    recall = (hits / np.maximum(present, 1)).sum(axis=-1) / classes
    return np.stack([precision, recall, f_beta(precision, recall, beta)], axis=-1)


def details(sums: np.ndarray, beta: float, labels: Sequence[str]) -> dict[str, Any]:
    """The contents of `Result.details`: the binary and the macro figures, and those of each class that occurs."""
    by_class = {
        name: {**figures, "tp": hits, "fp": proposed - hits, "fn": present - hits}
        for name, figures, (hits, proposed, present) in figures_by_class(sums, beta, labels)
    }
    macro = dict(zip(MACRO, macro_scores(sums, beta).tolist(), strict=True))
    return {**Counts(*sums[:3].tolist()).to_details(beta), **macro, "by_class": by_class}


def figures_by_class(
    sums: np.ndarray, beta: float, labels: Sequence[str]
) -> Iterator[tuple[str, dict[str, float], tuple[float, ...]]]:
    """Each class that occurs: its name, precision, recall and F, and its tokens in both, predicted and gold."""
    for name, hits, proposed, present in zip(labels, *sums[3:].reshape(3, -1).tolist(), strict=True):
        if proposed or present:
            precision, recall = hits / max(proposed, 1), hits / max(present, 1)
            figures = {"precision": precision, "recall": recall, "f": f_beta(precision, recall, beta)}
            yield name, figures, (hits, proposed, present)
