"""What a training run of IMPARA-LM depends on."""

from __future__ import annotations

from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.learning.impara.job import PairJob
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import BUNDLED

ATTEMPTS = 4  # more corrections teach more than more attempts at one
RECIPE = Recipe(
    base="smollm2",
    lora_rank=16,
    learning_rate=5e-4,
    schedule="linear",
    warmup=0.06,
    batch_size=32,
    epochs=1,
    evaluations=2,
)
"""The recipe of `smollm2-impara`; the settings of heads do not apply."""


@dataclass(frozen=True, slots=True)
class Job(PairJob):
    """Everything that a training run of IMPARA-LM depends on."""

    recipe: Recipe = RECIPE
    attempts: int = ATTEMPTS
    impacts_by: str = BUNDLED
    corrections: float = 0.0
    keep_rank: int = 0
    gap: float = 0.2
    head_layer: int | None = None
    ridge: float = 0.5

    def __post_init__(self) -> None:
        PairJob.__post_init__(self)
        if not 0 <= self.corrections <= 1:
            raise InputError(f"corrections must lie in [0, 1], got {self.corrections}")
        for name in ("gap", "ridge"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not 0 <= self.keep_rank <= self.recipe.lora_rank:
            raise InputError(f"keep_rank must be at most lora_rank, {self.recipe.lora_rank}, got {self.keep_rank}")
        if self.head_layer is not None and self.head_layer < 0:
            raise InputError(f"head_layer must be at least 0, got {self.head_layer}")

    @property
    def impact_model(self) -> str:
        """The encoder whose token states give the impact of an edit."""
        return self.impacts_by

    @property
    def share_of_corrections(self) -> float:
        """Share of the pairs that are source and full correction."""
        return self.corrections
