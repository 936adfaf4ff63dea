"""Grammatical error detection: how well errors are found, and how free of errors a detector finds a sentence."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.checks import check_choice, check_count, check_number, check_positive
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import RunTime
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.edits.ged_labels import FINAL_INSERTIONS, LABELS, UNCORRECTED_RULES, label_ids
from geceval.scorers.base import Scorer
from geceval.scorers.learned.detection import (
    REDUCTIONS,
    detector_facts,
    load_detector,
    log_correct,
)
from geceval.scorers.learned.detection_counts import details, macro_scores
from geceval.scorers.learned.ged_comparison import Comparison
from geceval.scorers.learned.label_sequences import KINDS
from geceval.scorers.references.annotators import f_scores
from geceval.scorers.references.gold import gold_from_m2

if TYPE_CHECKING:
    from geceval.models.detector import Detector

logger = logging.getLogger("geceval")

TASKS = ("detection", "sentence")
AVERAGES = ("binary", "macro")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a score of error detection.

    Attributes:
        task: `"detection"`: the tokens of the sources that the predictions mark as errors are compared with those that
            the references mark. `"sentence"`: no references; the score of a prediction, a corrected sentence, is how
            probable the detector finds it that its words are correct.
        model: A detector: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a token classifier.
            For detection, it marks the errors, and the predictions are the sources themselves; `None` takes what the
            predictions say. For the sentence score, `None` is the bundled one.
        classes: The label scheme: 2, 4, 25 or 55 classes, see `geceval.edits.ged_labels`; it also chooses the bundled
            detector. `None` takes the scheme of the detector, else 2. Labels of a finer scheme are taken for the
            coarser class that they belong to.
        average: What `score` is for detection: `"binary"`, F of errors against correct tokens, whatever their class;
            `"macro"`, F of the means of precision and recall over all classes that occur, CORRECT included. A sentence
            without tokens scores 1 in the former and, as no class occurs, 0 in the latter.
        beta: Weight of recall in F.
        threshold: Probability of an error from which the detector marks a word, in [0, 1]; `None` takes the most
            probable label.
        reduction: The sentence score is the `"mean"` or the `"sum"` of log P(correct) over the words.
        prediction_kind: What the predictions are: `"labels"`, one a token of the source; `"corrections"`, corrected
            sentences, whose ERRANT edits are turned into labels; `"auto"`, labels if they look like labels.
        reference_kind: Likewise for the references.
        final_insertion: What an insertion behind the last token marks: the `"last"` token, or nothing (`"lost"`, as in
            the published code); see `geceval.edits.ged_labels.token_labels`.
        uncorrected: Whether to `"drop"` or to `"label"` errors of `gold_m2` that were seen and not corrected (UNK).
        gold_m2: M2 file whose edits are the gold; `references` are then not needed.
        max_length: Tokens, special ones included, beyond which the detector's input is cut; `None` takes
            `geceval_max_length` of its `config.json`, else 128.
        nlp: The spaCy pipeline behind ERRANT: its name or folder, or `"bundled"`; `None` takes `en_core_web_sm` where
            it is installed, else the bundled one.
    """

    task: str = "detection"
    model: str | None = None
    classes: int | None = None
    average: str = "binary"
    beta: float = 0.5
    threshold: float | None = None
    reduction: str = "mean"
    prediction_kind: str = "auto"
    reference_kind: str = "auto"
    final_insertion: str = "last"
    uncorrected: str = "drop"
    gold_m2: str | Path | None = None
    max_length: int | None = None
    nlp: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (
            ("task", TASKS),
            ("average", AVERAGES),
            ("reduction", REDUCTIONS),
            ("prediction_kind", KINDS),
            ("reference_kind", KINDS),
            ("final_insertion", FINAL_INSERTIONS),
            ("uncorrected", UNCORRECTED_RULES),
        ):
            check_choice(f"ged: {name}", getattr(self, name), choices)
        check_positive("ged: beta", self.beta)
        if self.classes is not None:
            check_count("ged: classes", self.classes)
            label_ids(self.classes)
        if self.threshold is not None:
            check_number("ged: threshold", self.threshold)
            if not 0 <= self.threshold <= 1:
                raise InputError(f"ged: threshold must be a probability in [0, 1], got {self.threshold!r}")
            if self.model is None:
                raise InputError("ged: threshold is for a detector; name one, e.g. model='bundled'")
        if self.max_length is not None:
            check_count("ged: max_length", self.max_length, least=3)
        if not isinstance(self.model, (str, type(None))):
            raise InputTypeError("ged: model must be a string: 'bundled', a folder or a Hub id")


class Ged(Scorer):
    """Token-level precision, recall and F of error detection; or the mean log P(correct) of corrected sentences."""

    name = "ged"
    description = (
        "Error detection: precision, recall and F over tokens, or how free of errors a detector finds a sentence."
    )
    extra = "edits,neural"
    Settings = Settings
    bounds = (0.0, 1.0)
    correction_settings = {"task": "sentence"}

    _detector: Detector | None = None

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        super().__init__(settings, runtime)
        if self.settings.task == "sentence":
            self.bounds = (None, 0.0)

    def needs_references(self) -> bool:
        """For detection, unless an M2 file has the gold."""
        return self.settings.task == "detection" and super().needs_references()

    def load(self) -> None:
        """Load the detector, if there is one; the spaCy pipeline is loaded when corrected sentences are first met.

        Raises:
            CheckpointError: If the checkpoint cannot be used (a ValueError).
            ValueError: If the device or the maximum length is impossible.
        """
        settings = self.settings
        model = settings.model or ("bundled" if settings.task == "sentence" else None)
        if model is not None and self._detector is None:
            self._detector = load_detector(model, self.runtime, settings.max_length, settings.classes)

    def score(self, sources: Sequence[str], predictions: Sequence[str], references: References | None = None) -> Result:
        """Score one system.

        Args:
            sources: What the learner wrote, one tokenised string a sentence.
            predictions: Label sequences or corrected sentences, one string a sentence; for detection with a `model`,
                the sources once more.
            references: Label sequences or corrected sentences, one list a sentence; not used with `gold_m2` or for the
                sentence score. Of several, each sentence is compared with the one that gives it the best F.

        Returns:
            The result. For detection its details are precision, recall, f, tp, fp, fn of errors against correct
            tokens, macro_precision, macro_recall, macro_f, `by_class`, and `annotators`, the reference taken for each
            sentence. For the sentence score, each of the scores is at most 0.

        Raises:
            OSError: If `gold_m2` cannot be read.
            TypeError: See `check_columns`.
            ValueError: See `check_columns` and `load`; or if a label sequence does not fit its source, or `gold_m2` is
                not M2, holds other sentences, or types that are not in the label scheme.
        """
        needs = self.needs_references()
        columns = check_columns(self.name, sources, predictions, references, needs_references=needs, warn=False)
        if self.settings.task == "sentence":
            return self._score_sentences(check_columns(self.name, sources, predictions))
        if self.settings.model is not None:
            self._check_predictions(columns)
        gold_edits = gold_from_m2(self.name, columns, self.settings.gold_m2)
        self.load()
        compared = Comparison(self.name, self.settings, self.runtime, columns, self._detector, gold_edits)
        statistics = compared.statistics()
        sums = statistics.sum(axis=0)
        return Result(
            score=float(self.aggregate(statistics[None])[0]),
            scores=self.aggregate(statistics[:, None]).tolist(),
            signature=signature(self.name, self.settings, **compared.facts()),
            details={
                **details(sums, self.settings.beta, LABELS[compared.classes]),
                "annotators": compared.annotators,
            },
            statistics=statistics,
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The score of each sample, `[samples]`, from rows of counts or, for the sentence score, of scores."""
        if self.settings.task == "sentence":
            return super().aggregate(rows)
        sums = rows.sum(axis=-2)
        if self.settings.average == "macro":
            return macro_scores(sums, self.settings.beta)[..., 2]
        return f_scores(sums[..., :3], self.settings.beta)

    def _check_predictions(self, columns: Columns) -> None:
        for row, (source, prediction) in enumerate(zip(columns.sources, columns.predictions, strict=True)):
            if source.split() != prediction.split():
                raise InputError(
                    f"{self.name}: predictions[{row}] is not its source: with model={self.settings.model!r} that "
                    "detector marks the sources; pass the sources as predictions too, or leave out model"
                )

    def _score_sentences(self, columns: Columns) -> Result:
        self.load()
        scores = log_correct(self._detector, columns.predictions, self.settings.reduction, self.runtime)
        empty = sum(
            bool(s.split()) and not p.split() for s, p in zip(columns.sources, columns.predictions, strict=True)
        )
        if empty:
            logger.warning(
                "%s: %d predictions are empty though their sources are not; a sentence without words scores 0, the "
                "best there is",
                self.name,
                empty,
            )
        facts = {**detector_facts(self._detector, self.runtime), "classes": len(self._detector.labels)}
        return Result(float(scores.mean()), scores.tolist(), signature(self.name, self.settings, **facts))
