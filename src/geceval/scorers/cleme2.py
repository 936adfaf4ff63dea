"""CLEME2.0 (Ye et al., 2025): hits, wrong corrections, under- and over-corrections of chunks."""

from dataclasses import dataclass

import numpy as np

from geceval.core.f_score import ratio
from geceval.scorers.edit_based.chunk_scorer import ChunkSettings, ChunkWeights, JointChunkScorer

COEFFICIENTS = {"corpus": (0.45, 0.35, 0.15, 0.05), "sentence": (0.35, 0.25, 0.20, 0.20)}
"""Of Hit, 1 - Wrong, 1 - Under and 1 - Over, as the authors' program has them for each level."""


@dataclass(frozen=True, slots=True)
class Settings(ChunkSettings):
    """Settings of CLEME2.0: those of `geceval.scorers.edit_based.chunk_scorer.ChunkSettings`."""

    weights: ChunkWeights = "similarity"


class Cleme2(JointChunkScorer):
    """COM, a weighted sum of Hit, 1 - Wrong, 1 - Under and 1 - Over."""

    name = "cleme2"
    description = "CLEME2.0: what share is corrected rightly, wrongly, not at all, and without need."
    extra = "edits,neural"
    Settings = Settings
    figures = ("com", "hit", "wrong", "under", "over")
    details = ("hit", "wrong", "under", "over", "tp", "fp_ne", "fp_un", "fn", "tn")

    def of_counts(self, counts: np.ndarray) -> np.ndarray:
        """COM, Hit, Wrong, Under and Over, `[...][5]`; a share of nothing is 0."""
        tp, _, fn, _, fp_ne, fp_un = np.moveaxis(counts, -1, 0)
        needed = tp + fp_ne + fn
        hit, wrong, under = (ratio(part, needed, 0.0) for part in (tp, fp_ne, fn))
        over = ratio(fp_un, tp + fp_ne + fp_un, 0.0)
        c = COEFFICIENTS[self.settings.average]
        com = c[0] * hit + c[1] * (1 - wrong) + c[2] * (1 - under) + c[3] * (1 - over)
        return np.stack([com, hit, wrong, under, over], axis=-1)

    def sentence_keys(self, figures: np.ndarray) -> tuple[np.ndarray, ...]:
        """COM, then more Hit, less Wrong, less Under, less Over."""
        com, hit, *bad = np.moveaxis(figures, -1, 0)
        return com, hit, *(-share for share in bad)
