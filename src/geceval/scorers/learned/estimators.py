"""Networks with one output that judge a text: which tokenizer they take, and answers that are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import RunTime

if TYPE_CHECKING:
    from geceval.models.checkpoints import Checkpoint
    from geceval.models.encoder import Encoder
    from geceval.models.reader import Text

PUBLISHED_BASE = "bert-base-cased"
PUBLISHED_VOCABULARY = 28_996


def get_estimator(checkpoint: Checkpoint, runtime: RunTime, max_length: int | None) -> Encoder:
    """The network of a checkpoint with its head; see `geceval.models.encoder.get_encoder`.

    Published checkpoints were saved with or without a tokenizer; one without, of BERT's cased vocabulary, takes that
    of `bert-base-cased`, from which they were made.

    Raises:
        CheckpointError: If the checkpoint cannot be used (a ValueError).
        ValueError: If the device or the maximum length is impossible.
    """
    from geceval.models.encoder import get_encoder

    fallback = PUBLISHED_BASE if checkpoint.config.get("vocab_size") == PUBLISHED_VOCABULARY else None
    return get_encoder(checkpoint, runtime, head=True, max_length=max_length, fallback=fallback)


def estimate(
    metric: str, estimator: Encoder, texts: Sequence[Text], runtime: RunTime, what: str = "the quality estimator"
) -> np.ndarray:
    """What the network answers for each prediction: float64 [texts].

    Args:
        metric: Name of the metric, for the message.
        estimator: From `get_estimator`.
        texts: Predictions, or pairs of source and prediction.
        runtime: Batch size, progress, cache.
        what: What to call the network in the message.

    Raises:
        ValueError: If an answer is not a finite number.
    """
    answers = estimator.logits(texts, runtime.batch_size, runtime.progress, runtime.cache)[:, 0]
    bad = np.flatnonzero(~np.isfinite(answers))
    if bad.size:
        raise InputError(
            f"{metric}: {what} gives {answers[bad[0]]} for predictions[{bad[0]}]; "
            f"use dtype='float32', or another checkpoint"
        )
    return answers.astype(np.float64)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), 0 far below zero."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-logits))
