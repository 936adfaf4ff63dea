"""What a distillation depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.options import check_count, check_types
from geceval.learning.recipe import Recipe

RECIPE = Recipe(
    base="smollm2-impara",
    learning_rate=1e-4,
    schedule="linear",
    warmup=0.03,
    batch_size=8,
    epochs=1,
    evaluations=4,
    max_length=96,
    dtype="bfloat16",
)
"""How a student learns; `base` is the teacher."""


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a distillation depends on."""

    m2: tuple[Path, ...] = ()
    sentences: tuple[Path, ...] = ()
    recipe: Recipe = RECIPE
    seeds: tuple[int, ...] = (1,)
    texts: int = 150_000
    errors: int = 3
    top: int = 16
    held: int = 256
    layers: int = 12
    vocabulary: int = 20_480
    bits: int = 4
    weights: tuple[float, float, float] = (0.0, 1.0, 1.0)
    ratings: Path | None = None
    gap: float = 0.2
    ridge: float = 2.0

    def __post_init__(self) -> None:
        check_types(self)
        if not self.m2:
            raise InputError("nothing to learn from: give an M2 file")
        if self.recipe.lora_rank or self.recipe.dropout:
            raise InputError("a student learns with all its weights: no lora_rank and no dropout")
        for name in ("texts", "top", "held", "layers", "vocabulary"):
            check_count(name, getattr(self, name))
        check_count("errors", self.errors, least=0)
        for name in ("gap", "ridge"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}")
        if self.bits not in (4, 8):
            raise InputError(f"bits must be 8 or 4, got {self.bits}")
        if min(self.weights) < 0 or not 0 < sum(self.weights) < math.inf:
            raise InputError(f"weights must be at least 0, and not all 0, got {self.weights}")
