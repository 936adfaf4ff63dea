"""The probability of a text given another one, under a sequence-to-sequence model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.cache import LRUCache
from geceval.core.options import RunTime
from geceval.models import loading
from geceval.models.batched_model import BatchedModel, Text, pad
from geceval.models.checkpoints import Checkpoint
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

NO_LABEL = -100


class Seq2SeqModel(BatchedModel):
    """A sequence-to-sequence model; either text of a pair is cut at `max_length`, by default 1,024 tokens at most."""

    networks: ClassVar[LRUCache[tuple[Any, ...], Any]] = LRUCache(2)
    usual_length: ClassVar[int | None] = 1024
    cached_texts: ClassVar[int] = 500_000

    @classmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None) -> Self:
        import transformers

        tokenizer = load_tokenizer(checkpoint)
        model, missing = loading.read_model(transformers.AutoModelForSeq2SeqLM, checkpoint)
        loading.check_missing(checkpoint, [name for name in missing if name != "final_logits_bias"])
        return cls(loading.ready(model, checkpoint), tokenizer, length, checkpoint.identity)

    def log_likelihoods(
        self, sources: Sequence[str], targets: Sequence[str], runtime: RunTime | None = None
    ) -> np.ndarray:
        """Mean log-probability of the target's tokens, special ones included, given the source (teacher forced)."""
        pairs = list(zip(sources, targets, strict=True))
        return self._array("likelihood", self._likelihoods, pairs, runtime).ravel().astype(np.float64)

    def _likelihoods(self, model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Mean log-probabilities of the targets: [pairs]."""
        targets = batch["labels"]
        real = targets != NO_LABEL
        logits = model(**batch).logits.float()
        chosen = logits.log_softmax(-1).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return (chosen * real).sum(1) / real.sum(1).clamp(min=1)

    def _encode(self, texts: list[Text], limit: int | None = None) -> list[dict[str, list[int]]]:
        """Token ids of sources, and those of targets as labels, special ones included, cut to `limit` of them."""
        options = {} if limit is None else {"truncation": True, "max_length": limit}
        columns = zip(*texts, strict=True)
        sources, targets = (self.tokenizer(list(column), verbose=False, **options)["input_ids"] for column in columns)
        return [{"input_ids": ids, "labels": labels} for ids, labels in zip(sources, targets, strict=True)]

    def _size(self, encoded: Mapping[str, list[int]]) -> int:
        return max(len(encoded["input_ids"]), len(encoded["labels"]))

    def _pad(self, encoded: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        batch = super()._pad([{"input_ids": pair["input_ids"]} for pair in encoded])
        return {**batch, "labels": pad([pair["labels"] for pair in encoded], NO_LABEL)}
