"""CLEME (Ye et al., 2023): precision, recall and F of chunks that all references and the hypothesis share."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from geceval.core.f_score import f_beta, ratio, rounded
from geceval.core.options import Positive
from geceval.scorers.edit_based.chunk_scorer import ChunkSettings, JointChunkScorer


@dataclass(frozen=True, slots=True)
class Settings(ChunkSettings):
    """Settings of CLEME: those of `geceval.scorers.edit_based.chunk_scorer.ChunkSettings`, and two more.

    Attributes:
        behaviour: `"paper"`, or `"head"`: the authors' program of 2025, which weighs sentences by the length weights
            that belong to corpora.
    """

    beta: Positive = 0.5
    behaviour: Literal["paper", "head"] = "paper"


class Cleme(JointChunkScorer):
    """F of chunks; all figures are rounded to four decimal places, as published.

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
        tp, fp, fn, tn = np.moveaxis(counts[..., :4], -1, 0)
        precision, recall = ratio(tp, tp + fp, 1.0), ratio(tp, tp + fn, 1.0)
        accuracy = ratio(tp + tn, tp + fp + fn + tn, 0.0)
        return rounded(np.stack([f_beta(precision, recall, self.settings.beta), precision, recall, accuracy], axis=-1))

    def sentence_keys(self, figures: np.ndarray) -> tuple[np.ndarray, ...]:
        """F, precision, recall, then accuracy."""
        return tuple(np.moveaxis(figures, -1, 0))

    def preset(self) -> str:
        """The level whose length weights are taken."""
        return "corpus" if self.settings.behaviour == "head" else super().preset()
