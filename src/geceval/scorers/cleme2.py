"""CLEME2.0 (Ye et al., 2025): hits, wrong corrections, under- and over-corrections of chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.errors import InputError
from geceval.core.f_score import ratio
from geceval.scorers.edit_based.chunk_scorer import ChunkSettings, JointChunkScorer

COEFFICIENTS = {"corpus": (0.45, 0.35, 0.15, 0.05), "sentence": (0.35, 0.25, 0.20, 0.20)}
"""Of Hit, 1 - Wrong, 1 - Under and 1 - Over, as the authors' program has them for each level."""


@dataclass(frozen=True, slots=True)
class Settings(ChunkSettings):
    """See `geceval.scorers.edit_based.chunk_scorer.ChunkSettings`; and

    Attributes:
        coefficients: Of Hit, 1 - Wrong, 1 - Under and 1 - Over; they add up to 1. `None` takes those of `average`.
        reward_untouched: Where nothing needs correction and nothing is changed, Hit and score are 1.
    """

    weights: str = "similarity"
    coefficients: Sequence[float] | None = None
    reward_untouched: bool = False

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        if self.behaviour == "v1":
            raise InputError("behaviour 'v1' is older than CLEME2.0; take 'paper' or 'head'")
        if self.coefficients is None:
            return
        object.__setattr__(self, "coefficients", tuple(self.coefficients))
        shares = len(self.coefficients) == 4 and all(0 <= value <= 1 for value in self.coefficients)
        if not shares or abs(math.fsum(self.coefficients) - 1) > 1e-5:
            raise InputError(f"coefficients must be four shares that add up to 1, got {self.coefficients!r}")


class Cleme2(JointChunkScorer):
    """CLEME2.0: COM, a weighted sum of Hit, 1 - Wrong, 1 - Under and 1 - Over, in [0, 1]; higher is better.

    Hit, Wrong and Under are shares of the chunks that needed correction (they add up to 1 if there are any), Over is
    the share of unnecessary changes among all changes. A sentence that needs no correction and gets none has Hit 0, so
    its COM is 1 less the coefficient of Hit, unless `reward_untouched`.
    """

    name = "cleme2"
    description = "CLEME2.0: what share is corrected rightly, wrongly, not at all, and without need."
    extra = "edits,neural"
    Settings = Settings
    figures = ("com", "hit", "wrong", "under", "over")
    details = ("hit", "wrong", "under", "over", "tp", "fp_ne", "fp_un", "fn", "tn")

    def of_counts(self, counts: np.ndarray) -> np.ndarray:
        """COM, Hit, Wrong, Under and Over, `[...][5]`; a share of nothing is 0."""
        tp, _, fn, _, wrong, unnecessary = np.moveaxis(counts, -1, 0)
        needed = tp + wrong + fn
        hit, err, under = (ratio(part, needed, 0.0) for part in (tp, wrong, fn))
        over = ratio(unnecessary, tp + wrong + unnecessary, 0.0)
        c = self.settings.coefficients or COEFFICIENTS[self.settings.preset or self.settings.average]
        if self.settings.reward_untouched:
            hit = hit + (needed + unnecessary == 0)
        com = c[0] * hit + c[1] * (1 - err) + c[2] * (1 - under) + c[3] * (1 - over)
        return np.stack([com, hit, err, under, over], axis=-1)

    def corpus_keys(self, counts: np.ndarray) -> tuple[np.ndarray, ...]:
        """COM, then more hits, fewer false alarms, fewer misses, more unchanged chunks."""
        tp, fp, fn, tn = np.moveaxis(counts[..., :4], -1, 0)
        return self.of_counts(counts)[..., 0], tp, -fp, -fn, tn

    def sentence_keys(self, figures: np.ndarray) -> tuple[np.ndarray, ...]:
        """COM, then more Hit, less Wrong, less Under, less Over."""
        com, hit, *bad = np.moveaxis(figures, -1, 0)
        return com, hit, *(-share for share in bad)
