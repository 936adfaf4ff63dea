"""The hyperparameters of fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.core.options import check_types
from geceval.models.pooling import POOLINGS

SCHEDULES = ("constant", "linear")
DTYPES = ("float32", "bfloat16")
POOLERS = ("base", "identity")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to fine-tune; the defaults are IMPARA's (Maeda et al. 2022, section 3.1.1 and its published code)."""

    base: str = "bundled"
    pooling: str = "first"
    pooler: str = "base"
    head_deviation: float | None = None
    layers: int | None = None
    lora_rank: int = 0
    freeze_embeddings: bool = False
    dropout: float | None = None
    learning_rate: float = 1e-5
    schedule: str = "constant"
    warmup: float = 0.0
    batch_size: int = 32
    epochs: int = 10
    evaluations: int = 1
    max_length: int = 128
    dtype: str = "float32"
    seed: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        for name, known in (("pooling", POOLINGS), ("pooler", POOLERS), ("schedule", SCHEDULES), ("dtype", DTYPES)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name, least in (("lora_rank", 0), ("batch_size", 1), ("epochs", 1), ("evaluations", 1), ("max_length", 3)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.layers is not None and self.layers < 1:
            raise InputError(f"layers must be at least 1, got {self.layers}")
        if self.head_deviation is not None and not self.head_deviation > 0:
            raise InputError("head_deviation must be positive")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be in [0, 1), got {self.dropout}")
        if not 0 < self.learning_rate < float("inf") or not 0 <= self.warmup < 1:
            raise InputError("learning_rate must be positive and finite, and warmup in [0, 1)")
