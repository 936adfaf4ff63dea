"""Grammatical error detection: how well errors are found, and how error-free a sentence is according to a detector."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from geceval.core.errors import InputError, counted
from geceval.core.f_score import Counts
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import FilePath, ModelName, PipelineName, Positive, Range, RunTime, Share
from geceval.core.result import Result
from geceval.core.signature import number_range, package_version, signature
from geceval.edits.edit import Edit
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.errant.base import Annotator
from geceval.edits.ged_labels import LABELS, token_labels
from geceval.models.detector import Detector
from geceval.models.devices import network_facts
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.learned import detection
from geceval.scorers.references.annotator_choice import best_annotator, m2_order
from geceval.scorers.references.gold import Gold, errant_edits, gold_facts, gold_from_m2
from geceval.text.columns import Reading

logger = logging.getLogger("geceval")


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of error detection; each can change the score.

    Attributes:
        task: `"detection"`: the tokens of the sources that the predictions mark as errors are compared with those that
            the references mark. `"sentence"`: no references; the score of a prediction, a corrected sentence, is the
            mean of the detector's log P(correct) over its words.
        model: A detector: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a token classifier.
            For detection, it marks the errors, and the predictions are the sources themselves; `None` takes the errors
            that the predictions mark. For the sentence score, `None` is the bundled one.
        classes: The label scheme: 2, 4, 25 or 55 classes, see `geceval.edits.ged_labels`; it also chooses the bundled
            detector. `None` takes the scheme of the detector, else 2. Labels of a finer scheme count as the coarser
            class that they belong to.
        average: What `score` is for detection: `"binary"`, F of errors against correct tokens, whatever their class;
            `"macro"`, F of the means of precision and recall over all classes that occur, CORRECT included. A sentence
            without tokens scores 1 in the former and, as no class occurs, 0 in the latter.
        threshold: The detector marks a word if its probability of an error is at least this; `None` takes the most
            probable label.
    """

    task: Literal["detection", "sentence"] = "detection"
    model: ModelName | None = None
    classes: Literal[2, 4, 25, 55] | None = None
    average: Literal["binary", "macro"] = "binary"
    beta: Positive = 0.5
    threshold: Share | None = None
    gold_m2: FilePath | None = None
    max_length: Annotated[int, Range(3)] | None = None  # [CLS], [SEP] and a token
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        if self.threshold is not None and self.model is None:
            raise InputError("threshold is for a detector; name one, e.g. model='bundled'")


class Ged(Scorer):
    """Token-level precision, recall and F of error detection; or the mean log P(correct) of corrected sentences."""

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

    def _load(self) -> None:  # the spaCy pipeline is loaded when corrected sentences are first met
        settings = self.settings
        model = settings.model or ("bundled" if settings.task == "sentence" else None)
        if model is not None and self._detector is None:
            self._detector = detection.load_detector(model, self.runtime, settings.max_length, settings.classes)

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        needs, warn = self.needs_references(), self.settings.task == "sentence"  # label sequences are no such texts
        return check_columns(self.name, sources, predictions, references, needs_references=needs, warn=warn)

    def _read_texts(self, columns: Columns, sources_are_tokens: bool = False) -> tuple[Columns, Reading]:
        texts = [columns.predictions, [text for row in columns.references or [] for text in row]]
        if "labels" in map(detection.kind_of, texts):
            return columns, Reading()  # labels are those of words between spaces
        return super()._read_texts(columns, sources_are_tokens)

    def _score(self, columns: Columns) -> Result:
        if self.settings.task == "sentence":
            return self._score_sentences(columns)
        if self.settings.model is not None:
            self._check_predictions(columns)
        edits = gold_from_m2(self.name, columns, self.settings.gold_m2)
        self.load()
        labels = _Labels(self.settings, self.runtime, columns, self._detector, edits)
        gold, predicted = labels.gold(), labels.predicted()
        statistics, annotators = _compare(predicted, gold, labels.classes, self.settings.beta)
        facts = {**self._detector_facts(), **labels.facts(), "refs": number_range(map(len, gold))}
        return Result(
            score=float(self.aggregate(statistics[None])[0]),
            scores=self.aggregate(statistics[:, None]).tolist(),
            signature=signature(self.name, self.settings, **facts),
            details={
                **detection.details(statistics.sum(axis=0), self.settings.beta, LABELS[labels.classes]),
                "annotators": annotators,
            },
            statistics=statistics,
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The score of each sample, `[samples]`, from rows of counts or, for the sentence score, of scores."""
        if self.settings.task == "sentence":
            return super().aggregate(rows)
        sums = rows.sum(axis=-2)
        if self.settings.average == "macro":
            return detection.macro_scores(sums, self.settings.beta)[..., 2]
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
        scores = detection.log_correct(self._detector, columns.predictions, self.runtime)
        empty = sum(
            bool(s.split()) and not p.split() for s, p in zip(columns.sources, columns.predictions, strict=True)
        )
        if empty:
            logger.warning(
                "%s: empty though the source is not: %s; a sentence without words scores 0, the best there is",
                self.name,
                counted(empty, "prediction"),
            )
        facts = {**self._detector_facts(), "classes": len(self._detector.labels)}
        return Result(float(scores.mean()), scores.tolist(), signature(self.name, self.settings, **facts))

    def _detector_facts(self) -> dict[str, Any]:
        """Facts of the detector for the signature, if there is one."""
        if self._detector is None:
            return {}
        network = network_facts(self.runtime)
        return {"model": self._detector.name, "max_length": self._detector.max_length, **network}


class _Labels:
    """The columns as ids of labels, whether a column holds labels or corrections."""

    def __init__(
        self,
        settings: Settings,
        runtime: RunTime,
        columns: Columns,
        detector: Detector | None,
        edits: Sequence[Gold] | None,
    ) -> None:
        self.settings, self.runtime, self.columns = settings, runtime, columns
        self.detector, self.edits = detector, edits
        self.classes: int = settings.classes or (detection.scheme(detector) if detector else 2)
        self.annotator: Annotator | None = None
        references = [text for row in columns.references or [] for text in row]
        self.predicted_as = "model" if detector else detection.kind_of(columns.predictions)
        self.gold_as = "m2" if edits is not None else detection.kind_of(references)

    def gold(self) -> list[dict[int, list[int]]]:
        """Annotator to ids of labels, one dict per sentence."""
        if self.edits is not None:
            return [
                {annotator: self._of_edits(row, edits) for annotator, edits in options.items()}
                for row, options in enumerate(self.edits)
            ]
        sources, references = self.columns.sources, self.columns.references or []
        if self.gold_as == "corrections":
            check_columns(Ged.name, sources, sources, references, needs_references=True)  # warns if transposed
        return [dict(enumerate(row)) for row in self._of_texts(self.gold_as, "references[{}][{}]", references)]

    def predicted(self) -> list[list[int]]:
        """Ids of labels, one list per sentence."""
        predictions = self.columns.predictions
        if self.detector is not None:
            ids = detection.in_scheme(self.detector, self.classes)
            rows = self.detector.label_ids(self.columns.sources, self.settings.threshold, self.runtime)
            return [[ids[label] for label in row] for row in rows]
        if self.predicted_as == "corrections":
            check_columns(Ged.name, self.columns.sources, predictions)  # warns of files that are not aligned
        texts = [[text] for text in predictions]
        return [row[0] for row in self._of_texts(self.predicted_as, "predictions[{}]", texts)]

    def facts(self) -> dict[str, Any]:
        """Facts of the labels for the signature, once they have been made."""
        return {
            **gold_facts(self.settings.gold_m2),
            "classes": self.classes,
            "prediction_kind": self.predicted_as,
            "reference_kind": self.gold_as,
            "nlp": self.annotator.pipeline if self.annotator else "unused",
            **({"errant": package_version("errant")} if self.annotator else {}),
        }

    def _of_texts(self, kind: str, cell: str, texts: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """The ids of each text of each sentence; `cell` names a text by the numbers of its sentence and itself."""
        sources = self.columns.sources
        if kind == "corrections":
            self.annotator = get_annotator(self.settings.nlp)
            rows = errant_edits(self.annotator, self.runtime, sources, texts)
            return [[self._of_edits(number, edits) for edits in row] for number, row in enumerate(rows)]
        return [
            [
                detection.parse_labels(Ged.name, cell.format(number, index), text, sources[number], self.classes)
                for index, text in enumerate(row)
            ]
            for number, row in enumerate(texts)
        ]

    def _of_edits(self, row: int, edits: Sequence[Edit]) -> list[int]:
        try:
            return token_labels(self.columns.sources[row], edits, self.classes)
        except ValueError as error:
            raise InputError(f"{Ged.name}: sources[{row}]: {error}") from error


def _compare(
    predicted: list[list[int]], gold: list[dict[int, list[int]]], classes: int, beta: float
) -> tuple[np.ndarray, list[int]]:
    """Counts of each sentence, `[sentences][3 + 3 * classes]`, against the reference with the best F; which that is."""
    # On ties it is the reference with more true positives, then the one that marks less.
    order, rows, annotators = m2_order(beta), [], []
    for labels, options in zip(predicted, gold, strict=True):
        counts = np.stack([detection.count(labels, gold_labels, classes) for gold_labels in options.values()])
        best = int(best_annotator(order(Counts(), Counts.of(counts))))
        annotators.append(list(options)[best])
        rows.append(counts[best])
    return np.stack(rows), annotators
