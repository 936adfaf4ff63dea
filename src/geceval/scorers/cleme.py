"""CLEME (Ye et al., 2023): precision, recall and F of chunks that all references and the hypothesis share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geceval.core.f_score import f_beta, ratio, rounded
from geceval.core.options import check_positive
from geceval.scorers.edit_based.chunk_classes import Weigh
from geceval.scorers.edit_based.chunk_scorer import ChunkSettings, JointChunkScorer


@dataclass(frozen=True, slots=True)
class Settings(ChunkSettings):
    """See `geceval.scorers.edit_based.chunk_scorer.ChunkSettings`; and

    Attributes:
        beta: Weight of recall in F.
    """

    beta: float = 0.5

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        check_positive("beta", self.beta)


class Cleme(JointChunkScorer):
    """CLEME: F of chunks, in [0, 1]; higher is better. All figures are rounded to four decimal places, as published.

    With several references each sentence takes the one that gives the best F of all sentences up to it, then the most
    true positives, then the fewest false positives, then the fewest false negatives, then the first.
    """

    name = "cleme"
    description = "CLEME: precision, recall and F of chunks on which the system and all references are aligned."
    Settings = Settings
    figures = ("f", "precision", "recall", "accuracy")
    details = ("precision", "recall", "f", "accuracy", "tp", "fp", "fn", "tn")

    def of_counts(self, counts: np.ndarray) -> np.ndarray:
        """F, precision, recall and accuracy, `[...][4]`; the first three of nothing to do and nothing done are 1."""
        settings = self.settings
        ignores_beta = settings.behaviour == "head" and settings.average == "sentence"
        beta = 0.5 if ignores_beta else settings.beta
        tp, fp, fn, tn = np.moveaxis(counts[..., :4], -1, 0)
        precision, recall = ratio(tp, tp + fp, 1.0), ratio(tp, tp + fn, 1.0)
        accuracy = ratio(tp + tn, tp + fp + fn + tn, 0.0)
        return rounded(np.stack([f_beta(precision, recall, beta), precision, recall, accuracy], axis=-1))

    def corpus_keys(self, counts: np.ndarray) -> tuple[np.ndarray, ...]:
        """F, then more hits, fewer false alarms, fewer misses, more unchanged chunks."""
        tp, fp, fn, tn = np.moveaxis(counts[..., :4], -1, 0)
        return self.of_counts(counts)[..., 0], tp, -fp, -fn, tn

    def sentence_keys(self, figures: np.ndarray) -> tuple[np.ndarray, ...]:
        """F, precision, recall, then accuracy, of which the program of 2023 takes the lowest."""
        f, precision, recall, accuracy = np.moveaxis(figures, -1, 0)
        return f, precision, recall, -accuracy if self.settings.behaviour == "v1" else accuracy

    def _weigh(self, *arguments: Any) -> Weigh:
        weigh = super()._weigh(*arguments)
        if self.settings.behaviour == "head":  # it reads a weight of 0 as none
            return lambda *chunk: weigh(*chunk) or 1.0
        return weigh
