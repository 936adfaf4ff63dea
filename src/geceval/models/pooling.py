"""Token states as one vector, and the logits of the classification head that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from geceval.models.checkpoints import Checkpoint, CheckpointError

if TYPE_CHECKING:
    from torch import Tensor

# "first" is the head as the network's own class computes it, as `AutoModelForSequenceClassification` scores published
# checkpoints: BERT reads the first token through its tanh pooler, ModernBERT follows its own `classifier_pooling`.
# "mean" (IMPARA-GED, section 4.1) averages the states of all real tokens, special ones included, for the class's
# classifier: the linear layer of BERT and DeBERTa, without their pooler, the dense and output layers of ELECTRA and
# RoBERTa.
POOLINGS = ("first", "mean")


def pooling_of(checkpoint: Checkpoint) -> str:
    """The pooling written in a checkpoint's `config.json`: `"first"` unless `geceval_pooling` says another."""
    pooling = checkpoint.setting("pooling", "first")
    if pooling not in POOLINGS:
        raise CheckpointError(f"{checkpoint.folder}: geceval_pooling must be 'first' or 'mean', got {pooling!r}")
    return pooling


def mean_pool(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of the states of real tokens."""
    weights = mask.to(states.dtype).unsqueeze(-1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def logits(model: Any, batch: Mapping[str, Tensor], pooling: str = "first") -> Tensor:
    """Logits of a sequence classifier, differentiable, so that training and scoring share one definition."""
    if pooling == "first":
        return model(**batch).logits
    network = model.get_base_model() if hasattr(model, "get_base_model") else model
    pooled = mean_pool(network.base_model(**batch).last_hidden_state, batch["attention_mask"])
    if hasattr(network.classifier, "out_proj"):
        return network.classifier(pooled.unsqueeze(1))
    dropout = getattr(network, "dropout", None)
    return network.classifier(dropout(pooled) if dropout is not None else pooled)
