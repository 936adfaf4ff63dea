"""Grammatical error detection: mark the words that are in error; public as `geceval.detect`."""

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.core.errors import naming_the_extra
from geceval.core.inputs import check_columns
from geceval.core.options import RunTime, runtime_or_default
from geceval.edits.ged_labels import CORRECT, LABELS
from geceval.scorers.ged import Settings
from geceval.scorers.learned.detection import in_scheme, load_detector, scheme
from geceval.text.columns import as_tokens


@dataclass(frozen=True, slots=True)
class Word:
    """A detector's result for one word.

    Attributes:
        text: The word.
        label: Its label in the label scheme.
        error: The probability that it is in error, in [0, 1].
    """

    text: str
    label: str
    error: float

    @property
    def is_error(self) -> bool:
        """Whether the label is an error's, not CORRECT."""
        return self.label != CORRECT


@naming_the_extra("detect")
def detect(
    sentences: Sequence[str],
    *,
    model: str = "bundled",
    classes: int | None = None,
    threshold: float | None = None,
    max_length: int | None = None,
    runtime: RunTime | None = None,
) -> list[list[Word]]:
    """Mark the words of sentences that are in error.

    Args:
        sentences: Texts whose words are `split()`; prose is tokenised first.
        model: A detector: `"bundled"`, a folder, or a Hub id, optionally with `@revision`.
        classes: The label scheme; `None` takes that of the detector.
        threshold: See `Settings`.
        max_length: See `Settings`.
        runtime: Batch size, device, dtype, progress.

    Returns:
        One list per sentence with one entry per word.

    Raises:
        TypeError: If a sentence is not a string.
        ValueError: If there are no sentences, an option has a bad value, or the checkpoint cannot be used.
    """
    from geceval.models.detector import decide, error_probabilities

    runtime = runtime_or_default("detect", runtime)
    settings = Settings(model=model, classes=classes, threshold=threshold, max_length=max_length)
    texts = as_tokens(check_columns("detect", sentences, sentences, warn=False)).sources
    detector = load_detector(model, runtime, settings.max_length, classes)
    size = classes or scheme(detector)
    names = [LABELS[size][number] for number in in_scheme(detector, size)]
    marked = []
    rows = detector.log_probabilities(texts, runtime)
    for text, row in zip(texts, rows, strict=True):
        labels = [names[number] for number in decide(row, detector.correct, settings.threshold)]
        errors = error_probabilities(row, detector.correct).tolist()
        marked.append([Word(*word) for word in zip(text.split(), labels, errors, strict=True)])
    return marked
