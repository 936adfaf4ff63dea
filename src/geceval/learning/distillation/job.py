"""What a distillation depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from geceval.core.checks import check_count
from geceval.core.errors import InputError
from geceval.core.options import check_types
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
    """Everything that a distillation depends on.

    Attributes:
        m2: M2 files, whose sources, corrections and partial corrections are learnt from.
        sentences: Files with a tokenised sentence a line, which are learnt from with errors of the M2 files.
        recipe: How to learn; its base is the teacher, an IMPARA-LM checkpoint, a batch is so many groups of texts, and
            texts of more than `max_length` tokens are left out. There is no adapter and no dropout.
        seeds: One run each; the student that is best on the set that selects is kept.
        texts: Distinct texts that the teacher scores, and the student learns from; as many more as fill 256 groups.
        errors: Texts with errors of other sentences in a group.
        top: How many of the teacher's likeliest next tokens are kept.
        held: Groups that are kept apart to measure agreement with the teacher.
        layers: How many of the teacher's layers the student has, the first ones.
        vocabulary: How many of the teacher's tokens it has.
        bits: Of a weight in the student's file, 8 or 4.
        weights: Of the losses of tokens, of differences within groups, and of their order.
        ratings: TMU-GFM-Dataset; pairs of its outputs and of the groups that are kept apart then choose evaluation and
            seed together, in place of the loss of the latter, and the head learns from them at last.
        gap: Difference of ratings that makes a pair for that head.
        ridge: Penalty of that head, see `geceval.learning.impara_lm.head`.
    """

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
