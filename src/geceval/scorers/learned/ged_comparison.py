"""Labels of predictions compared with labels of references, in whatever form either is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.errors import InputError
from geceval.core.f_score import Counts
from geceval.core.inputs import Columns, check_columns
from geceval.core.options import RunTime
from geceval.core.signature import number_range, package_version
from geceval.edits.ged_labels import token_labels
from geceval.scorers.learned.detection import detector_facts, in_scheme, scheme
from geceval.scorers.learned.detection_counts import count
from geceval.scorers.learned.ged_settings import Settings
from geceval.scorers.learned.label_sequences import kind_of, parse_labels
from geceval.scorers.references.annotator_choice import best_annotator, m2_order
from geceval.scorers.references.gold import Gold, errant_annotator, errant_edits, gold_facts

if TYPE_CHECKING:
    from geceval.edits.edit import Edit
    from geceval.edits.errant.annotator import Annotator
    from geceval.models.detector import Detector


class LabelComparison:
    """The predictions of one system compared with the references."""

    def __init__(
        self,
        metric: str,
        settings: Settings,
        runtime: RunTime,
        columns: Columns,
        detector: Detector | None,
        gold: Sequence[Gold] | None,
    ) -> None:
        self.metric, self.settings, self.runtime = metric, settings, runtime
        self.columns, self.detector, self.edits = columns, detector, gold
        self.classes: int = settings.classes or (scheme(detector) if detector else 2)
        self.annotators: list[int] = []
        self._annotator: Annotator | None = None
        references = [text for row in columns.references or [] for text in row]
        self.predicted_as = "model" if detector else _kind(settings.prediction_kind, columns.predictions)
        self.gold_as = "m2" if gold is not None else _kind(settings.reference_kind, references)

    def statistics(self) -> np.ndarray:
        """The rows of `geceval.scorers.learned.detection_counts`, [sentences][3 + 3 · classes]."""
        # Each sentence is compared with the reference that gives it the best F by itself; on ties, the one with more
        # true positives, then the one that marks less.
        gold, predicted = self._gold(), self._predicted()
        order = m2_order(self.settings.beta)
        rows = []
        for labels, options in zip(predicted, gold, strict=True):
            counted = np.stack([count(labels, others, self.classes) for others in options.values()])
            best = int(best_annotator(order(Counts(), Counts.of(counted))))
            self.annotators.append(list(options)[best])
            rows.append(counted[best])
        self._references = number_range(map(len, gold))
        return np.stack(rows)

    def facts(self) -> dict[str, Any]:
        """What the signature contains besides the settings; call `statistics` first."""
        facts = {
            **detector_facts(self.detector, self.runtime),
            **gold_facts(self.settings.gold_m2),
            "classes": self.classes,
            "prediction_kind": self.predicted_as,
            "reference_kind": self.gold_as,
            "nlp": self._annotator.pipeline if self._annotator else "unused",
            "refs": self._references,
        }
        return facts | ({"errant": package_version("errant")} if self._annotator else {})

    def _gold(self) -> list[dict[int, list[int]]]:
        """Annotator to ids of labels, one dict per sentence."""
        if self.edits is not None:
            return [
                {annotator: self._of_edits(row, edits) for annotator, edits in options.items()}
                for row, options in enumerate(self.edits)
            ]
        references = self.columns.references or []
        if self.gold_as == "corrections":
            sources = self.columns.sources
            check_columns(self.metric, sources, sources, references, needs_references=True)  # warns if transposed
            return [dict(enumerate(row)) for row in self._of_corrections(references)]
        return [
            {index: self._of_labels(f"references[{row}][{index}]", row, text) for index, text in enumerate(texts)}
            for row, texts in enumerate(references)
        ]

    def _predicted(self) -> list[list[int]]:
        """Ids of labels, one list per sentence."""
        predictions = self.columns.predictions
        if self.detector is not None:
            ids = in_scheme(self.detector, self.classes)
            rows = self.detector.label_ids(self.columns.sources, self.settings.threshold, self.runtime)
            return [[ids[label] for label in row] for row in rows]
        if self.predicted_as == "corrections":
            check_columns(self.metric, self.columns.sources, predictions)  # warns of files that are not aligned
            return [row[0] for row in self._of_corrections([[text] for text in predictions])]
        return [self._of_labels(f"predictions[{row}]", row, text) for row, text in enumerate(predictions)]

    def _of_labels(self, cell: str, row: int, text: str) -> list[int]:
        return parse_labels(self.metric, cell, text, self.columns.sources[row], self.classes)

    def _of_corrections(self, texts: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        self._annotator = errant_annotator(self.settings.nlp)
        rows = errant_edits(self._annotator, self.runtime, self.columns.sources, texts)
        return [[self._of_edits(number, edits) for edits in row] for number, row in enumerate(rows)]

    def _of_edits(self, row: int, edits: Sequence[Edit]) -> list[int]:
        settings = self.settings
        try:
            return token_labels(
                self.columns.sources[row], edits, self.classes, settings.final_insertion, settings.uncorrected
            )
        except ValueError as error:
            raise InputError(f"{self.metric}: sources[{row}]: {error}") from error


def _kind(setting: str, column: Sequence[str]) -> str:
    return kind_of(column) if setting == "auto" else setting
