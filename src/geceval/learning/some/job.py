"""What a training run of SOME depends on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from geceval.core.options import check_types
from geceval.learning.recipe import Recipe

RECIPE = Recipe(learning_rate=2e-5, schedule="linear", warmup=0.1, batch_size=16, epochs=10)
"""Usual values for BERT; the paper tuned its values on the dev fold."""


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a training run depends on.

    Attributes:
        ratings: TMU-GFM-Dataset.
        recipe: How to fine-tune each of the three; its seed is replaced by each of `seeds`.
        meaning_base: The network that the meaning regressor starts from; `None` for the recipe's base, as for the
            others.
        seeds: One run each; for each of the three, the network that is best on the dev fold is kept.
        dev: Number of outputs in the dev fold, as in section 5.1 of the paper.
        test: Number of outputs in the test fold, likewise; 3,376 of TMU-GFM-Dataset are left to learn from.
        fold_seed: Seed of the division of sources into folds.
    """

    ratings: Path
    recipe: Recipe = RECIPE
    meaning_base: str | None = None
    seeds: tuple[int, ...] = (1,)
    dev: int = 422
    test: int = 423
    fold_seed: int = 1

    def __post_init__(self) -> None:
        check_types(self)

    def recipe_of(self, part: str) -> Recipe:
        """How one of the three is fine-tuned."""
        base = self.meaning_base if part == "meaning" else None
        return dataclasses.replace(self.recipe, base=base or self.recipe.base)
