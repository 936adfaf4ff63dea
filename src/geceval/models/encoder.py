"""Encoders: mean vectors of texts, the logits of a head, the states of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.options import RunTime
from geceval.models import bundled
from geceval.models.batched_model import BatchedModel, Text
from geceval.models.checkpoints import Checkpoint
from geceval.models.loading import load_classifier, load_encoder
from geceval.models.pooling import logits, mean_pool, pooling_of
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self


class Encoder(BatchedModel):
    """An encoder, with or without a classification head."""

    # `load(..., head=True)` loads the one-output head too, for `logits`. In a pair the longer text is cut first.

    def __init__(
        self, model: Any, tokenizer: Any, max_length: int | None = 128, name: str = "", pooling: str = "first"
    ) -> None:
        super().__init__(model, tokenizer, max_length, name)
        self.pooling = pooling

    @classmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None, *, head: bool = False) -> Self:
        if bundled.reads(checkpoint, "ForSequenceClassification" if head else ""):
            network = bundled.load(checkpoint)
        else:
            network = (load_classifier if head else load_encoder)(checkpoint), load_tokenizer(checkpoint)
        return cls(*network, length, checkpoint.identity, pooling_of(checkpoint))

    def embed(self, texts: Sequence[Text], runtime: RunTime | None = None) -> np.ndarray:
        """Means of the last layer's token states, special tokens included."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return mean_pool(model.base_model(**batch).last_hidden_state, batch["attention_mask"])

        return self._array("embed", read, texts, runtime)

    def logits(self, texts: Sequence[Text], runtime: RunTime | None = None) -> np.ndarray:
        """Logits of the classification head: float32 [texts, labels], in input order; arguments as for `embed`."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return logits(model, batch, self.pooling)

        return self._array("logits", read, texts, runtime)

    def states(
        self, texts: Sequence[Text], layer: int = -1, runtime: RunTime | None = None
    ) -> list[tuple[list[int], torch.Tensor]]:
        """Token states of one layer."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return model.base_model(**batch, output_hidden_states=True).hidden_states[layer]

        states: dict[Text, tuple[list[int], torch.Tensor]] = {}
        distinct = list(dict.fromkeys(texts))
        encoded, cut = self._tokenize(distinct)
        self._warn([distinct[row] for row in sorted(cut)], len(distinct), "states")
        for indices, output in self._run(read, encoded, runtime or RunTime(), self.model.device):
            for row, index in enumerate(indices):
                ids = encoded[index]["input_ids"]
                states[distinct[index]] = (ids, output[row, : len(ids)])
        return [states[text] for text in texts]
