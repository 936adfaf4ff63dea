"""Settings of the error detection metric."""

from __future__ import annotations

from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.core.options import (
    FilePath,
    ModelName,
    PipelineName,
    check_choice,
    check_count,
    check_positive,
    check_types,
)
from geceval.edits.ged_labels import FINAL_INSERTIONS, UNCORRECTED_RULES, label_ids
from geceval.scorers.learned.detection import REDUCTIONS
from geceval.scorers.learned.label_sequences import KINDS

TASKS = ("detection", "sentence")
AVERAGES = ("binary", "macro")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a score of error detection.

    Attributes:
        task: `"detection"`: the tokens of the sources that the predictions mark as errors are compared with those that
            the references mark. `"sentence"`: no references; the score of a prediction, a corrected sentence, is the
            detector's probability that its words are correct.
        model: A detector: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a token classifier.
            For detection, it marks the errors, and the predictions are the sources themselves; `None` takes the errors
            that the predictions mark. For the sentence score, `None` is the bundled one.
        classes: The label scheme: 2, 4, 25 or 55 classes, see `geceval.edits.ged_labels`; it also chooses the bundled
            detector. `None` takes the scheme of the detector, else 2. Labels of a finer scheme count as the coarser
            class that they belong to.
        average: What `score` is for detection: `"binary"`, F of errors against correct tokens, whatever their class;
            `"macro"`, F of the means of precision and recall over all classes that occur, CORRECT included. A sentence
            without tokens scores 1 in the former and, as no class occurs, 0 in the latter.
        beta: Weight of recall in F.
        threshold: The detector marks a word if its probability of an error is at least this, in [0, 1]; `None` takes
            the most probable label.
        reduction: The sentence score is the `"mean"` or the `"sum"` of log P(correct) over the words.
        prediction_kind: What the predictions are: `"labels"`, one per token of the source; `"corrections"`, corrected
            sentences, whose ERRANT edits are turned into labels; `"auto"`, labels if they look like labels.
        reference_kind: Likewise for the references.
        final_insertion: What an insertion after the last token marks: the `"last"` token, or nothing (`"lost"`, as in
            the published code); see `geceval.edits.ged_labels.token_labels`.
        uncorrected: Whether to `"drop"` or to `"label"` errors of `gold_m2` that were seen and not corrected (UNK).
        gold_m2: M2 file with the gold edits; `references` are then not needed.
        max_length: Tokens, special ones included, beyond which the detector's input is cut; `None` takes
            `geceval_max_length` of its `config.json`, else 128.
        nlp: The spaCy pipeline behind ERRANT: `"bundled"`, `"official"` (`en_core_web_sm`, if it is installed), the
            name of another installed one, or a folder.
    """

    task: str = "detection"
    model: ModelName | None = None
    classes: int | None = None
    average: str = "binary"
    beta: float = 0.5
    threshold: float | None = None
    reduction: str = "mean"
    prediction_kind: str = "auto"
    reference_kind: str = "auto"
    final_insertion: str = "last"
    uncorrected: str = "drop"
    gold_m2: FilePath | None = None
    max_length: int | None = None
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        check_types(self)
        for name, choices in (
            ("task", TASKS),
            ("average", AVERAGES),
            ("reduction", REDUCTIONS),
            ("prediction_kind", KINDS),
            ("reference_kind", KINDS),
            ("final_insertion", FINAL_INSERTIONS),
            ("uncorrected", UNCORRECTED_RULES),
        ):
            check_choice(f"{name}", getattr(self, name), choices)
        check_positive("beta", self.beta)
        if self.classes is not None:
            check_count("classes", self.classes)
            label_ids(self.classes)
        if self.threshold is not None:
            if not 0 <= self.threshold <= 1:
                raise InputError(f"threshold must be a probability in [0, 1], got {self.threshold!r}")
            if self.model is None:
                raise InputError("threshold is for a detector; name one, e.g. model='bundled'")
        if self.max_length is not None:
            check_count("max_length", self.max_length, least=3)
