"""Which edits of a correction are right, judged without references by a small network over a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from geceval.core.f_score import Counts
from geceval.core.inputs import Columns
from geceval.core.options import ModelName, PipelineName, Positive, Range
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.edits.edit import Edit, in_order, leave_one_out
from geceval.edits.errant.annotator import get_annotator
from geceval.models.checkpoints import resolve
from geceval.models.devices import network_facts
from geceval.models.edit_judge import EditJudge, TextPair
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.learned.detection import load_detector
from geceval.scorers.learned.estimators import sigmoid


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of the metric; each can change the score.

    Attributes:
        model: The judge: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; a head over the language
            model of `impara_lm`, as `training/train_edit_quality.py` writes it.
        max_length: Tokens, including the one that starts the text, beyond which a text is cut; an edit beyond is judged
            by its words alone. `None` takes as many as the model reads.
    """

    model: ModelName = "bundled"
    beta: Positive = 0.5
    max_length: Annotated[int, Range(2)] | None = None  # the start and a token
    nlp: PipelineName = "bundled"


class EditQuality(Scorer):
    """The share of a system's edits that are expected to be right; 1 for a system without edits."""

    name = "edit_quality"
    description = "Share of a correction's edits that are right, with the probability of each, reference-free."
    extra = "edits,neural"
    Settings = Settings
    reads_references = False

    _judge: EditJudge | None = None

    def _load(self) -> None:
        if self._judge is None:
            checkpoint = resolve(self.settings.model, bundled=self.name)
            self._judge = EditJudge.load(checkpoint, self.runtime, self.settings.max_length)
            self._detector = load_detector("bundled", self.runtime)
            self._annotator = get_annotator(self.settings.nlp)

    @property
    def judge_name(self) -> str:
        """The judge's checkpoint with its hash."""
        self.load()
        return self._judge.name

    def judge(self, sources: Sequence[str], edits: Sequence[Sequence[Edit]]) -> list[np.ndarray]:
        """The probability that each edit is right, an array per sentence in the order of its edits, noops left out."""
        rows = [contexts(source, in_order(row)) for source, row in zip(sources, edits, strict=True)]
        chances = sigmoid(self.log_odds([pair for row in rows for pair in row]))
        return np.split(chances, np.cumsum([len(row) for row in rows])[:-1]) if rows else []

    def log_odds(self, pairs: Sequence[TextPair]) -> np.ndarray:
        """The log-odds that the edit between each two texts, tokens joined by one space, is right: float64 [pairs]."""
        self.load()
        return self._judge.logits(pairs, self.runtime)

    def signature(self) -> str:
        """The settings and models that its numbers depend on."""
        self.load()
        return signature(
            self.name,
            self.settings,
            model=self._judge.name,
            detector=self._detector.name,
            pipeline=self._annotator.pipeline,
            max_length=self._judge.model.max_length,
            **network_facts(self.runtime),
        )

    def _score(self, columns: Columns) -> Result:
        self.load()
        pairs = list(zip(columns.sources, columns.predictions, strict=True))
        edits = self._annotator.edits(pairs, self.runtime.workers, self.runtime.progress, self.runtime.cache)
        chances = self.judge(columns.sources, edits)
        counts = np.array([[row.sum(), len(row) - row.sum(), 0.0] for row in chances])
        counts[:, 2] = self._missed(columns.predictions)
        total = Counts.of(counts.sum(axis=0)).to_details(self.settings.beta)
        details: dict[str, Any] = {name: float(value) for name, value in total.items()}
        details["edits"] = [
            [_shown(edit, p) for edit, p in zip(in_order(row), chance.tolist(), strict=True)]
            for row, chance in zip(edits, chances, strict=True)
        ]
        scores = Counts.of(counts).precision.tolist()
        return Result(details["precision"], scores, self.signature(), details, statistics=counts)

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The share of right edits of samples; see `Scorer.aggregate`."""
        return Counts.of(rows.sum(axis=-2)).precision

    def _missed(self, predictions: Sequence[str]) -> np.ndarray:
        """The number of runs of words in error that are left in each prediction."""
        ids = self._detector.label_ids(predictions, runtime=self.runtime)
        wrong = [np.array([0, *(label != self._detector.correct for label in row)]) for row in ids]
        return np.array([(np.diff(row) == 1).sum() for row in wrong], float)


def contexts(source: str, edits: Sequence[Edit]) -> list[TextPair]:
    """For each edit, the texts before and after it where it is made last."""
    corrected, *befores = leave_one_out(source, edits)
    return [(before, corrected) for before in befores]


def _shown(edit: Edit, probability: float) -> dict[str, Any]:
    place = {"start": edit.start, "end": edit.end, "correction": edit.correction, "type": edit.type}
    return {**place, "probability": probability}
