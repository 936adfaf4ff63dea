"""How well a causal language model foresees a text: its perplexity."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.cache.memory import lru_cache
from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models import heads
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.encoder import pick_devices, pick_dtype
from geceval.models.reader import Reader, Text
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch

START = "<|endoftext|>"
LARGEST_OUTPUT = 1 << 26  # logits that are held at once: 256 MiB of float32


class CausalModel(Reader):
    """A causal language model, its tokenizer and the perplexities of recent texts.

    Args:
        model: A transformers `...ForCausalLM`.
        tokenizer: Its tokenizer.
        max_length: Tokens, the one that starts the text included, beyond which a text is cut; `None` cuts none.
        name: What to call the network in messages and signatures.

    Raises:
        CheckpointError: If the tokenizer knows no token that starts a text.
    """

    def __init__(self, model: Any, tokenizer: Any, max_length: int | None = None, name: str = "") -> None:
        super().__init__(model, tokenizer, max_length or sys.maxsize, name)
        self.limit = max_length
        start = tokenizer.bos_token_id
        self.start = tokenizer.get_vocab().get(START) if start is None else start
        if self.start is None:
            raise CheckpointError(f"{name}: its tokenizer has neither a BOS token nor {START}; take another model")

    def perplexities(
        self, texts: Sequence[str], batch_size: int = 64, progress: bool = False, cache: str | Path | None = None
    ) -> np.ndarray:
        """exp of the mean negative log-likelihood of a text's tokens, given a token that starts the text.

        The start is the tokenizer's BOS token, else `<|endoftext|>`; no other special token is added.

        Args:
            texts: Sentences.
            batch_size: Texts a batch at most; fewer run at once where their logits would not fit.
            progress: Show a bar on standard error.
            cache: A folder that keeps them, see `geceval.core.cache.disk`.

        Returns:
            float64 [texts], each at least 1; infinite for a text without tokens.

        Raises:
            ValueError: If the network gives something that is not a number.
        """
        if not texts:
            return np.zeros(0)
        surprise = self._cached("surprise", self._surprise, texts, batch_size, progress, cache).astype(np.float64)
        if np.isnan(surprise).any():
            row = int(np.flatnonzero(np.isnan(surprise))[0])
            raise InputError(f"{self.name}: the perplexity of {texts[row]!r} is not a number; use dtype='float32'")
        with np.errstate(over="ignore"):
            return np.exp(surprise)

    def _surprise(self, model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Mean negative log-likelihoods: [texts]."""
        import torch

        longest = batch["input_ids"].shape[1]
        rows = max(1, LARGEST_OUTPUT // (longest * model.config.get_text_config().vocab_size))
        ids, mask = (batch[name].split(rows) for name in ("input_ids", "attention_mask"))
        return torch.cat([_surprise_of(model, *part) for part in zip(ids, mask, strict=True)])

    def _encode(self, texts: list[Text], limit: int | None = None) -> list[dict[str, list[int]]]:
        """Token ids of texts behind the token that starts them, cut to `limit` of them."""
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


def get_causal_model(checkpoint: Checkpoint, runtime: RunTime, max_length: int | None = None) -> CausalModel:
    """The causal language model of a checkpoint, loaded once a process for each choice of devices, dtype and limit.

    Args:
        checkpoint: From `geceval.models.checkpoints.resolve`.
        runtime: Device and dtype.
        max_length: Tokens beyond which a text is cut; `None` takes as many as the network reads.

    Raises:
        CheckpointError: If the checkpoint cannot be used, or is no causal language model.
        ValueError: If there is no such device, or `max_length` is beyond what the network can read.
    """
    return _get_causal_model(checkpoint, tuple(pick_devices(runtime.device)), pick_dtype(runtime), max_length)


@lru_cache(maxsize=2)
def _get_causal_model(
    checkpoint: Checkpoint, devices: tuple[torch.device, ...], dtype: str, max_length: int | None
) -> CausalModel:
    import transformers

    if checkpoint.base is not None:
        raise CheckpointError(f"{checkpoint.folder}: an adapter; merge it into its base and pass the merged model")
    tokenizer = load_tokenizer(checkpoint)
    model, missing = heads.read_model(transformers.AutoModelForCausalLM, checkpoint)
    heads.check_missing(checkpoint, missing)
    limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if limit is not None and (max_length or 0) > limit:
        raise InputError(
            f"{checkpoint.folder}: max_length is {max_length}, but the network reads at most {limit} tokens"
        )
    model = heads.ready(model, checkpoint)
    _check_causal(model, checkpoint)
    reader = CausalModel(model, tokenizer, max_length or limit, checkpoint.identity)
    reader.place(devices, dtype)
    reader.origin = (checkpoint.identity, checkpoint.digest, "causal")
    return reader


def _check_causal(model: Any, checkpoint: Checkpoint) -> None:
    """Raise a `CheckpointError` if a token changes what the network says before it, as in BERT."""
    import torch

    with torch.inference_mode():
        first, second = model(input_ids=torch.tensor([[1, 2, 3], [1, 2, 4]])).logits[:, :2]
    if not torch.allclose(first, second, atol=1e-4):
        raise CheckpointError(f"{checkpoint.folder}: no causal language model, its tokens see those that follow")
