"""What metrics ask of an error detector: how probable it finds it that a sentence has no error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.options import RunTime

if TYPE_CHECKING:
    from geceval.models.detector import Detector

REDUCTIONS = ("mean", "sum")


def load_detector(model: str, runtime: RunTime, max_length: int | None = None, classes: int | None = None) -> Detector:
    """The detector of that name, or the bundled one with that many classes (two by default).

    Raises:
        CheckpointError: If there is none or it cannot be used (a ValueError).
        ValueError: If the device or the maximum length is impossible.
    """
    from geceval.models.checkpoints import resolve
    from geceval.models.detector import get_detector

    bundled = "ged" if classes in (None, 2) else f"ged_{classes}"
    return get_detector(resolve(model, bundled=bundled), runtime, max_length=max_length)


def log_correct(detector: Detector, sentences: Sequence[str], reduction: str, runtime: RunTime) -> np.ndarray:
    """Mean or sum of log P(correct) over the words of each sentence, natural logarithms.

    Args:
        detector: From `load_detector`.
        sentences: Texts whose words are `split()`.
        reduction: `"mean"` or `"sum"`. Words that the detector does not see (beyond its length limit, or without a
            sub-token) are left out of both.
        runtime: Batch size and progress.

    Returns:
        float64 [sentences], at most 0; 0 for a sentence without words.
    """
    from geceval.models.detector import is_seen

    found = []
    for row in detector.log_probabilities(sentences, runtime.batch_size, runtime.progress):
        words = row[is_seen(row), detector.correct].astype(np.float64)
        found.append(words.sum() / (max(len(words), 1) if reduction == "mean" else 1))
    return np.array(found)
