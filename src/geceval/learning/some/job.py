"""What a training run of SOME depends on."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.options import check_count, check_types
from geceval.learning.recipe import Recipe

RECIPE = Recipe(learning_rate=2e-5, schedule="linear", warmup=0.1, batch_size=16, epochs=10)
"""Usual values for BERT; the paper tuned its values on the dev fold."""

RIDGE = (300.0, 1000.0, 3000.0, 10000.0)


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a training run depends on."""

    ratings: Path
    recipe: Recipe = RECIPE
    meaning_base: str | None = None
    head_layer: int | None = None
    ridge: tuple[float, ...] = RIDGE
    seeds: tuple[int, ...] = (1,)
    dev: int = 422
    test: int = 423
    fold_seed: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        if self.head_layer is not None:
            check_count("head_layer", self.head_layer)
            if self.recipe.lora_rank:
                raise InputError("head_layer leaves the base as it is; leave out lora_rank, or head_layer")
        if not self.ridge or not all(0 < penalty < math.inf for penalty in self.ridge):
            raise InputError(f"ridge must be positive, finite numbers, got {self.ridge}")

    def recipe_of(self, part: str) -> Recipe:
        """How one of the three is fine-tuned."""
        base = self.meaning_base if part == "meaning" else None
        return dataclasses.replace(self.recipe, base=base or self.recipe.base)
