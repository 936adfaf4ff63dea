"""Metrics without references, which have a guard."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from geceval.core.errors import counted, named
from geceval.core.inputs import Columns
from geceval.core.result import Result
from geceval.models.checkpoints import Checkpoint, is_bundled
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.learned import guard
from geceval.scorers.learned.estimators import ReadAheadScorer
from geceval.scorers.learned.guard import GUARDS, Effect

logger = logging.getLogger("geceval")


@dataclass(frozen=True, slots=True)
class GuardedOptions(TextOptions):
    """The setting of every metric without references.

    Attributes:
        guard: The penalty of a correction that does not say what its source says: `"surface"`, by the characters
            that both share, their lengths and the cosine of the bundled encoder; `"faithful"`, by a network that
            reads both; `"strict"`, for rewards, harder on rewrites; `"off"`, the published number. `"auto"` guards
            geceval's own formulas and checkpoints, and leaves published ones off, with a warning where it would strike.
    """

    guard: GUARDS = field(default="auto", kw_only=True)


class GuardedScorer(Scorer):
    """A metric with the setting `guard`, see `geceval.scorers.learned.guard`."""

    effect: ClassVar[Effect]
    guards_by_default = False  # whether `"auto"` guards; known once the models are loaded
    reads_references = False
    form = "sources"

    def guard(self) -> GUARDS:
        """The guard asked for; for `"auto"`, the guard that suits the loaded models."""
        if self.settings.guard != "auto":
            return self.settings.guard
        return guard.DEFAULT if self.guards_by_default else "off"

    def _as_read(self, columns: Columns) -> Columns:
        """What the models, which are loaded, read: under a guard, the texts as people see them."""
        self.load()
        if self.guard() == "off":
            return columns
        return Columns(*([guard.visible(text) for text in side] for side in (columns.sources, columns.predictions)))

    def _guard_facts(self) -> list[str]:
        """The guard and the models that it reads, for the signature."""
        return [self.guard(), *guard.models(self.guard(), self.runtime)]

    def _penalties(self, sources: Sequence[str], predictions: Sequence[str]) -> np.ndarray:
        with named(self.name):
            return guard.penalties(sources, predictions, self.guard(), self.runtime)

    def _result(
        self, columns: Columns, scores: np.ndarray, line: str, details: Mapping[str, Any] | None = None
    ) -> Result:
        """The result of these scores, guarded."""
        details = dict(details or {})
        if self.guard() != "off":
            penalties = self._penalties(columns.sources, columns.predictions)
            rows = zip(columns.sources, columns.predictions, penalties, strict=True)
            reasons = [guard.reasons(source, text) if penalty else "" for source, text, penalty in rows]
            details |= {
                "guarded": int(np.count_nonzero(penalties)),
                "unguarded_scores": scores.tolist(),
                "penalties": penalties.tolist(),
                "guard_reasons": reasons,
            }
            scores = self.effect.on(scores, penalties)
        self._warn(columns)
        return Result(float(self.aggregate(scores)), scores.tolist(), line, details)

    def _warn(self, columns: Columns) -> None:
        """Warn of predictions that would be penalised, unless guard is "off"."""
        if self.settings.guard == "off" or self.guard() != "off":
            return
        rows = list(zip(columns.sources, columns.predictions, strict=True))
        penalised = [row for row, pair in enumerate(rows) if guard.certain(*pair)]
        if penalised:
            logger.warning(
                "%s: %d of %s would be penalised by guard='surface', first on line %d, which %s",
                *(self.name, len(penalised), counted(len(rows), "prediction")),
                *(penalised[0] + 1, guard.reasons(*rows[penalised[0]])),
            )


def is_ours(checkpoint: Checkpoint) -> bool:
    """Whether a checkpoint is bundled or was trained with geceval, so that no paper printed its numbers."""
    return is_bundled(checkpoint.model) or any(name.startswith("geceval_") for name in checkpoint.config)


class GuardedReader(GuardedScorer, ReadAheadScorer):
    """A metric with a guard whose first call of `score` reads ahead, for the guard too."""

    def _prepare(self, sources: Sequence[str], predictions: Sequence[str]) -> None:
        super()._prepare(sources, predictions)
        self._penalties(sources, predictions)
