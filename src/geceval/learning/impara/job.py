"""What a training run of IMPARA depends on."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.options import check_types
from geceval.learning.impara.ranked_pairs import ATTEMPTS, PAIRS
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import is_bundled, resolve

ADAPTER_RECIPE = Recipe(
    pooler="identity", head_deviation=0.2, lora_rank=16, learning_rate=1e-3, schedule="linear", warmup=0.06, epochs=3
)
"""The recipe of the bundled IMPARA; its base, a sentence encoder, learns little at the paper's learning rate."""


@dataclass(frozen=True, slots=True)
class PairJob:
    """What every training run on ranked pairs depends on.

    Attributes:
        m2: M2 files; each annotator's edits give separate pairs.
        train_m2: M2 files whose pairs are all used for training, such as those that the detector in `recipe.base` was
            trained on.
        parallel: (source file, corrected file) with one tokenised sentence per line; ERRANT finds the edits.
        recipe: How to fine-tune; its seed is replaced by each of `seeds`.
        seeds: One run each; the network that is best on the selection sets is kept.
        pairs: Ranked pairs from each corpus, 8:1:1 for training, choosing the epoch and testing; from each of
            `train_m2` as many training pairs as from the others.
        attempts: The largest number of attempts per sentence, see `per_row` of `ranked_pairs`.
        ratings: TMU-GFM-Dataset; pairs of its outputs then help to choose epoch and seed.
        nlp: spaCy pipeline for ERRANT, see `geceval.edits.errant.annotator.get_annotator`.
    """

    m2: tuple[Path, ...] = ()
    train_m2: tuple[Path, ...] = ()
    parallel: tuple[tuple[Path, Path], ...] = ()
    recipe: Recipe = dataclasses.field(default_factory=Recipe)
    seeds: tuple[int, ...] = (1,)
    pairs: int = PAIRS
    attempts: int = ATTEMPTS
    ratings: Path | None = None
    nlp: str | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not self.m2 and not self.parallel:
            raise InputError("nothing to learn from: give an M2 file, or a source and a corrected file")
        if self.pairs < 10:
            raise InputError(f"pairs must be at least 10, so that each fold has some, got {self.pairs}")

    @property
    def impact_model(self) -> str:
        """The encoder whose token states give the impact of an edit: the base, before it is tuned."""
        return self.recipe.base

    @property
    def share_of_corrections(self) -> float:
        """Share of the pairs that are source and full correction instead of ranked partial corrections."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Job(PairJob):
    """Everything that a training run of IMPARA depends on.

    Attributes:
        parallel_only: Pairs of source and full correction instead of ranked partial corrections.
        threshold: Threshold of the similarity estimator, written into the checkpoint; `None` takes that of the
            bundled IMPARA if the base is bundled, else 0.9.
        keep_rank: If not 0, all weights are tuned and the change is kept as an adapter of this rank, see
            `geceval.learning.low_rank`.
        log_odds: Scale the finished logit so that differences are log-odds on the dev fold, see
            `geceval.learning.impara.scale.log_odds`; otherwise its scale is whatever training resulted in.
    """

    parallel_only: bool = False
    threshold: float | None = None
    keep_rank: int = 0
    log_odds: bool = False

    def __post_init__(self) -> None:
        PairJob.__post_init__(self)
        if self.keep_rank < 0 or (self.keep_rank and self.recipe.lora_rank):
            raise InputError("keep_rank must be at least 0, and 0 where lora_rank makes an adapter from the start")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"threshold must be a finite number, got {self.threshold}")

    @property
    def share_of_corrections(self) -> float:
        """All of the pairs, or none."""
        return float(self.parallel_only)


def suited_recipe(base: str) -> tuple[Recipe, bool]:
    """The recipe for a base, and whether to scale the finished logit to log-odds.

    Args:
        base: `"bundled"` or another bundled encoder: an adapter over it, like the bundled IMPARA. Any other network:
            all weights, as in Maeda et al. (2022).

    Raises:
        CheckpointError: If there is no such checkpoint.
    """
    if is_bundled(base) and resolve(base).base is None:
        return dataclasses.replace(ADAPTER_RECIPE, base=base), True
    resolve(base)
    return Recipe(base=base), False
