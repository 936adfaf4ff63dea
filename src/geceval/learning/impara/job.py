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
    """What every training run on ranked pairs depends on."""

    m2: tuple[Path, ...] = ()
    train_m2: tuple[Path, ...] = ()
    parallel: tuple[tuple[Path, Path], ...] = ()
    recipe: Recipe = dataclasses.field(default_factory=Recipe)
    seeds: tuple[int, ...] = (1,)
    pairs: int = PAIRS
    attempts: int = ATTEMPTS
    ratings: Path | None = None
    nlp: str = "bundled"

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
    """Everything that a training run of IMPARA depends on."""

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
    """The recipe for a base, and whether to scale the finished logit to log-odds."""
    if is_bundled(base) and resolve(base).base is None:
        return dataclasses.replace(ADAPTER_RECIPE, base=base), True
    resolve(base)
    return Recipe(base=base), False
