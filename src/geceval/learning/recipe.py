"""The hyperparameters of fine-tuning."""

from dataclasses import dataclass
from typing import Annotated, Literal

from geceval.core.options import Count, Options, Positive, Range, Seed


@dataclass(frozen=True, slots=True)
class Recipe(Options):
    """Hyperparameters; the defaults are IMPARA's (Maeda et al. 2022, section 3.1.1 and its published code)."""

    base: str = "bundled"
    pooling: Literal["first", "mean"] = "first"
    pooler: Literal["base", "identity"] = "base"
    head_deviation: Positive | None = None
    lora_rank: Annotated[int, Range(0)] = 0
    freeze_embeddings: bool = False
    dropout: Annotated[float, Range(0, 0.99)] | None = None
    learning_rate: Annotated[float, Range(1e-9, 1)] = 1e-5
    schedule: Literal["constant", "linear"] = "constant"
    warmup: Annotated[float, Range(0, 0.99)] = 0.0
    batch_size: Count = 32
    epochs: Count = 10
    evaluations: Count = 1
    max_length: Annotated[int, Range(3)] = 128
    dtype: Literal["float32", "bfloat16"] = "float32"
    seed: Seed = 1
