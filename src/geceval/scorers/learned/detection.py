"""What metrics need from an error detector: its labels in a label scheme, and log P(correct) of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.edits.ged_labels import LABELS
from geceval.models.devices import network_facts
from geceval.scorers.learned.label_sequences import label_id

if TYPE_CHECKING:
    from geceval.models.detector import Detector

REDUCTIONS = ("mean", "sum")
BUNDLED_CLASSES = (2, 25)


def load_detector(model: str, runtime: RunTime, max_length: int | None = None, classes: int | None = None) -> Detector:
    """The detector of that name, or the bundled one with that many classes (two by default)."""
    from geceval.models.checkpoints import BUNDLED, CheckpointError, resolve
    from geceval.models.detector import Detector

    if model == BUNDLED and classes not in (None, *BUNDLED_CLASSES):
        known = " or ".join(map(str, BUNDLED_CLASSES))
        raise CheckpointError(
            f"the bundled detectors have {known} classes, not {classes}; pass model=FOLDER or a Hub id"
        )
    bundled = "ged" if classes in (None, 2) else f"ged_{classes}"
    return Detector.load(resolve(model, bundled=bundled), runtime, max_length)


def log_correct(detector: Detector, sentences: Sequence[str], reduction: str, runtime: RunTime) -> np.ndarray:
    """Mean or sum of log P(correct) over the words of each sentence, natural logarithms."""
    from geceval.models.detector import is_seen

    found = []
    for row in detector.log_probabilities(sentences, runtime):
        words = row[is_seen(row), detector.correct].astype(np.float64)
        found.append(words.sum() / (max(len(words), 1) if reduction == "mean" else 1))
    return np.array(found)


def scheme(detector: Detector) -> int:
    """How many classes the label scheme of a detector has: 2 if its labels fit none of the larger schemes."""
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


def detector_facts(detector: Detector | None, runtime: RunTime) -> dict[str, Any]:
    """What the signature says about a detector."""
    if detector is None:
        return {}
    return {
        "model": detector.name,
        "max_length": detector.max_length,
        **network_facts(runtime),
    }
