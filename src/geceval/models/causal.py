"""Perplexity of a text under a causal language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.cache.memory import LRUCache
from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models import heads
from geceval.models.batched_model import BatchedModel, Text
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

START = "<|endoftext|>"
LARGEST_OUTPUT = 1 << 26  # logits that are held at once: 256 MiB of float32


class CausalModel(BatchedModel):
    """A causal language model; the token that starts a text counts towards `max_length`.

    Args:
        model: A transformers `...ForCausalLM`.
        tokenizer: Its tokenizer.
        max_length: Tokens beyond which a text is cut; `None` never cuts.
        name: What to call the network in messages and signatures.

    Raises:
        CheckpointError: If the tokenizer has no token that starts a text.
    """

    networks: ClassVar[LRUCache[tuple[Any, ...], Any]] = LRUCache(2)
    usual_length: ClassVar[int | None] = None

    def __init__(self, model: Any, tokenizer: Any, max_length: int | None = None, name: str = "") -> None:
        super().__init__(model, tokenizer, max_length, name)
        start = tokenizer.bos_token_id
        self.start = tokenizer.get_vocab().get(START) if start is None else start
        if self.start is None:
            raise CheckpointError(f"{name}: its tokenizer has neither a BOS token nor {START}; take another model")

    @classmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None) -> Self:
        import transformers

        if checkpoint.base is not None:
            raise CheckpointError(f"{checkpoint.folder}: an adapter; merge it into its base and pass the merged model")
        tokenizer = load_tokenizer(checkpoint)
        model, missing = heads.read_model(transformers.AutoModelForCausalLM, checkpoint)
        heads.check_missing(checkpoint, missing)
        _check_causal(heads.ready(model, checkpoint), checkpoint)
        return cls(model, tokenizer, length, checkpoint.identity)

    def perplexities(self, texts: Sequence[str], runtime: RunTime | None = None) -> np.ndarray:
        """exp of the mean negative log-likelihood of a text's tokens, given a token that starts the text.

        The start is the tokenizer's BOS token, else `<|endoftext|>`; no other special token is added.

        Args:
            texts: Sentences.
            runtime: Batch size, progress and cache; fewer texts run at once where their logits would not fit.

        Returns:
            float64 [texts], each at least 1; infinite for a text without tokens.

        Raises:
            InputError: If the network gives something that is not a number.
        """
        if not texts:
            return np.zeros(0)
        surprise = self._array("surprise", self._surprise, texts, runtime).astype(np.float64)
        if np.isnan(surprise).any():
            row = int(np.flatnonzero(np.isnan(surprise))[0])
            raise InputError(f"{self.name}: the perplexity of {texts[row]!r} is not a number; use dtype='float32'")
        with np.errstate(over="ignore"):
            return np.exp(surprise)

    def _surprise(self, model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Mean negative log-likelihoods: [texts]."""
        import torch

        longest = batch["input_ids"].shape[1]
        rows = max(1, LARGEST_OUTPUT // (longest * model.config.get_text_config().vocab_size))
        ids, mask = (batch[name].split(rows) for name in ("input_ids", "attention_mask"))
        return torch.cat([_surprise_of(model, *part) for part in zip(ids, mask, strict=True)])

    def _encode(self, texts: list[Text], limit: int | None = None) -> list[dict[str, list[int]]]:
        """Token ids of texts after the token that starts them, cut to at most `limit`."""
        output = self.tokenizer(texts, add_special_tokens=False, return_attention_mask=False, verbose=False)
        return [{"input_ids": [self.start, *ids][:limit]} for ids in output["input_ids"]]


def _surprise_of(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    import torch

    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1].float()
    targets, real = ids[:, 1:], mask[:, 1:].bool()
    losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    counts = real.sum(dim=1)
    means = losses.masked_fill(~real, 0.0).sum(dim=1) / counts.clamp(min=1)
    return means.masked_fill(counts == 0, float("inf"))


def _check_causal(model: Any, checkpoint: Checkpoint) -> None:
    """Raise a `CheckpointError` if a token changes the network's output at earlier tokens, as in BERT."""
    import torch

    with torch.inference_mode():
        first, second = model(input_ids=torch.tensor([[1, 2, 3], [1, 2, 4]])).logits[:, :2]
    if not torch.allclose(first, second, atol=1e-4):
        raise CheckpointError(f"{checkpoint.folder}: no causal language model, its tokens see those that follow")
