"""The hyperparameters of fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.core.options import check_types
from geceval.models.heads import POOLINGS

SCHEDULES = ("constant", "linear")
DTYPES = ("float32", "bfloat16")
POOLERS = ("base", "identity")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to fine-tune; the defaults are IMPARA's (Maeda et al. 2022, section 3.1.1 and its published code).

    Attributes:
        base: The network to start from: `"bundled"`, a folder, or a Hub id: an encoder, e.g. an error detector, or a
            causal model.
        pooling: `"first"`, `"mean"` or `"last"`, see `geceval.models.heads`; written into the checkpoint. For a causal
            model `"first"` means `"last"`. A token classifier has none.
        pooler: How BERT's pooler, which reads the first token, is initialised: from the `"base"`, or as the
            `"identity"` for a base whose pooler was never trained (sentence encoders); then q(Y) starts as the paper's
            w · y, Eq. 2.
        head_deviation: Standard deviation of the new output layer; `None` leaves it to transformers (0.02 for BERT).
            Versions of one sentence have similar states, so with a small head all margins are about 0 and the first
            steps are wasted.
        layers: The lowest layers of the base, so many, stay, and the rest is left out; all by default.
        lora_rank: Rank of the adapter on every linear layer; 0 tunes all weights.
        freeze_embeddings: Keep the embeddings of the base, which saves a fifth of the time on a CPU.
        dropout: Rate of every dropout layer in training; `None` keeps that of the base.
        learning_rate: Learning rate of AdamW without weight decay; gradients are clipped to norm 1.
        schedule: `"constant"`, or `"linear"` from the full rate to 0.
        warmup: Share of the steps in which the rate rises from 0.
        batch_size: Pairs, or sentences, per step and process.
        epochs: Largest number of epochs; the best one is kept.
        evaluations: How often an epoch is evaluated and saved; more for long epochs, so that a kill costs less.
        max_length: Tokens, special ones included, beyond which a text is cut.
        dtype: `"float32"`, or `"bfloat16"` for mixed precision.
        seed: Seed of the new head, the dropout and the order of the data.
    """

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
