"""What a training run of an error detector depends on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.options import check_count, check_positive, check_types
from geceval.edits.ged_labels import label_ids
from geceval.learning.recipe import Recipe

RECIPE = Recipe(learning_rate=3e-5, schedule="linear", epochs=5)
"""The recipe of the published detectors (Yuan et al. 2021; IMPARA-GED, section 4.1)."""


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a training run depends on."""

    m2: tuple[Path, ...] = ()
    train_m2: tuple[Path, ...] = ()
    dev_m2: tuple[Path, ...] = ()
    test_m2: tuple[Path, ...] = ()
    classes: int = 2
    final_insertion: str = "last"
    partial: float = 0.0
    error_weight: float = 1.0
    recipe: Recipe = dataclasses.field(default=RECIPE)
    seeds: tuple[int, ...] = (1,)
    limit: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        label_ids(self.classes)
        if not self.m2 and not (self.train_m2 and self.dev_m2):
            raise InputError("nothing to learn from: give M2 files to divide, or M2 files to learn from and for dev")
        if not 0 <= self.partial <= 1:
            raise InputError(f"partial must be a share in [0, 1], got {self.partial}")
        check_positive("error_weight", self.error_weight)
        if self.limit is not None:
            check_count("limit", self.limit)
