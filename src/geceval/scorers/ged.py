"""Grammatical error detection: how well errors are found, and how error-free a sentence is according to a detector."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError, counted, named
from geceval.core.f_score import Counts
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import RunTime
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.edits.ged_labels import LABELS
from geceval.scorers.base import Scorer
from geceval.scorers.learned.detection import detector_facts, load_detector, log_correct
from geceval.scorers.learned.detection_counts import details, macro_scores
from geceval.scorers.learned.ged_comparison import LabelComparison
from geceval.scorers.learned.ged_settings import Settings
from geceval.scorers.references.gold import gold_from_m2

if TYPE_CHECKING:
    from geceval.models.detector import Detector

logger = logging.getLogger("geceval")


class Ged(Scorer):
    """Token-level precision, recall and F of error detection; or the mean log P(correct) of corrected sentences.

    For detection, `predictions` and `references` are label sequences or corrected sentences; with a `model`, the
    predictions are the sources again. Each sentence is compared with the reference that gives it the best F. The
    details are precision, recall, f, tp, fp, fn of errors against correct tokens, macro_precision, macro_recall,
    macro_f, `by_class`, and `annotators`, the reference chosen for each sentence. For the sentence score, each of the
    scores is at most 0.
    """

    name = "ged"
    description = (
        "Error detection: precision, recall and F over tokens, or how free of errors a detector finds a sentence."
    )
    extra = "edits,neural"
    Settings = Settings
    correction_settings = {"task": "sentence"}

    _detector: Detector | None = None

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        super().__init__(settings, runtime)
        if self.settings.task == "sentence":
            self.bounds = (None, 0.0)

    def needs_references(self) -> bool:
        """True for detection, unless an M2 file has the gold edits."""
        return self.settings.task == "detection" and super().needs_references()

    @named("ged")
    def load(self) -> None:
        """Load the detector, if there is one; the spaCy pipeline is loaded when corrected sentences are first met."""
        settings = self.settings
        model = settings.model or ("bundled" if settings.task == "sentence" else None)
        if model is not None and self._detector is None:
            self._detector = load_detector(model, self.runtime, settings.max_length, settings.classes)

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        needs, warn = self.needs_references(), self.settings.task == "sentence"  # label sequences are no such texts
        return check_columns(self.name, sources, predictions, references, needs_references=needs, warn=warn)

    def _score(self, columns: Columns) -> Result:
        if self.settings.task == "sentence":
            return self._score_sentences(columns)
        if self.settings.model is not None:
            self._check_predictions(columns)
        gold_edits = gold_from_m2(self.name, columns, self.settings.gold_m2)
        self.load()
        compared = LabelComparison(self.name, self.settings, self.runtime, columns, self._detector, gold_edits)
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
        return Counts.of(sums).f(self.settings.beta)

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
                "%s: empty though the source is not: %s; a sentence without words scores 0, the best there is",
                self.name,
                counted(empty, "prediction"),
            )
        facts = {**detector_facts(self._detector, self.runtime), "classes": len(self._detector.labels)}
        return Result(float(scores.mean()), scores.tolist(), signature(self.name, self.settings, **facts))
