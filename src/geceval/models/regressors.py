"""Networks that answer a text, or a pair of texts, with one number: classifiers, and heads over a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.options import RunTime
from geceval.models.batched_model import Text
from geceval.models.causal import CausalModel, QualityHead, load_quality_head
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.encoder import Encoder
from geceval.text.tokenisers import detokenise

if TYPE_CHECKING:
    from typing_extensions import Self

LOWEST = 1.0  # of the ratings of TMU-GFM-Dataset, 1 to 4


class StateRegressor:
    """A linear layer over the mean token states of a causal language model, which was not changed for it."""

    # A sentence whose tokens have no state of their own (no words, or a mark alone) has the lowest rating.

    def __init__(self, model: CausalModel, head: QualityHead, bias: float = 0.0, name: str = "") -> None:
        self.model, self.head, self.bias, self.name = model, head, bias, name
        self.max_length = model.max_length

    @classmethod
    def load(cls, checkpoint: Checkpoint, runtime: RunTime | None = None, max_length: int | None = None) -> Self:
        """The head of a checkpoint over its base; arguments as for `BatchedModel.load`."""
        model = CausalModel.load(checkpoint.base, runtime, max_length or checkpoint.setting("max_length"))
        head = load_quality_head(checkpoint, model.model.config)
        if head is None:
            raise CheckpointError(f"{checkpoint.folder}: config.json has geceval_base, and lacks geceval_head_layer")
        return cls(model, head, checkpoint.setting("head_bias", 0.0), checkpoint.identity)

    def logits(self, texts: Sequence[Text], runtime: RunTime | None = None) -> np.ndarray:
        """Answers: float64 [texts, 1], see `pooled`."""
        states = pooled(self.model, texts, self.head.layer, runtime)
        answers = states @ self.head.weight.double().numpy()[:, None] + self.bias
        if texts and isinstance(texts[0], str):
            answers[~states.any(axis=1)] = LOWEST
        return answers


def pooled(model: CausalModel, texts: Sequence[Text], layer: int, runtime: RunTime | None = None) -> np.ndarray:
    """Mean token states of texts, read as prose; of a pair, the root of their distance in each dimension."""
    pairs = bool(texts) and isinstance(texts[0], tuple)
    sides = [list(side) for side in zip(*texts, strict=True)] if pairs else [list(texts)]
    read = [detokenise(text) for side in sides for text in side]
    states = model.mean_states(read, layer, runtime).astype(np.float64)
    return np.sqrt(np.abs(states[: len(texts)] - states[len(texts) :])) if pairs else states


def load_regressor(
    checkpoint: Checkpoint, runtime: RunTime | None = None, max_length: int | None = None
) -> Encoder | StateRegressor:
    """The classifier of a checkpoint or, if it is a head alone, of head and base; see `BatchedModel.load`."""
    if checkpoint.setting("base") is not None:
        return StateRegressor.load(checkpoint, runtime, max_length)
    return Encoder.load(checkpoint, runtime, max_length, head=True)
