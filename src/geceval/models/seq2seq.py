"""How probable a sequence-to-sequence model finds a text given another one."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from geceval.core.options import RunTime
from geceval.core.recent import Recent
from geceval.models import heads
from geceval.models.checkpoints import Checkpoint
from geceval.models.encoder import pick_device, pick_dtype
from geceval.models.tokenizers import load_tokenizer

logger = logging.getLogger("geceval")

KEPT_PAIRS = 500_000


class Translator:
    """A sequence-to-sequence network, its tokenizer, and the likelihoods of recent pairs.

    Args:
        model: A transformers model with a language-modelling head over a decoder.
        tokenizer: Its tokenizer.
        max_length: Tokens beyond which either text is cut.
        name: What to call the network in messages and signatures.
    """

    def __init__(self, model: Any, tokenizer: Any, max_length: int, name: str) -> None:
        self.model, self.tokenizer, self.max_length, self.name = model, tokenizer, max_length, name
        self._recent: Recent[tuple[str, str], float] = Recent(KEPT_PAIRS)

    def log_likelihoods(self, sources: Sequence[str], targets: Sequence[str], batch_size: int = 64) -> np.ndarray:
        """Mean log-probability of the target's tokens, the special ones included, given the source (teacher forced).

        Args:
            sources: One text a pair.
            targets: One text a pair.
            batch_size: Pairs a batch.

        Returns:
            float64 [pairs], natural logarithms, each below 0.
        """
        pairs = list(zip(sources, targets, strict=True))

        def compute(missing: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], float]]:
            missing.sort(key=lambda pair: -len(pair[0]) - len(pair[1]))
            for start in range(0, len(missing), batch_size):
                batch = missing[start : start + batch_size]
                yield from zip(batch, self._score(batch), strict=True)

        found = self._recent.get_all(pairs, compute)
        return np.array([found[pair] for pair in pairs])

    def _score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        source = self._encode([pair[0] for pair in pairs])
        target = self._encode([pair[1] for pair in pairs])
        real = target["attention_mask"].bool()
        labels = target["input_ids"].masked_fill(~real, -100)
        with torch.inference_mode():
            logits = self.model(**source, labels=labels).logits.float()
            chosen = logits.log_softmax(-1).gather(-1, target["input_ids"].unsqueeze(-1)).squeeze(-1)
            means = (chosen * real).sum(1) / real.sum(1).clamp(min=1)
        return means.double().cpu().tolist()

    def _encode(self, texts: list[str]) -> Any:
        batch = self.tokenizer(texts, padding=True, return_tensors="pt", verbose=False)
        if batch["input_ids"].shape[1] > self.max_length:
            logger.warning("%s: a text is longer than %d tokens and was cut", self.name, self.max_length)
            batch = self.tokenizer(
                texts, padding=True, truncation=True, max_length=self.max_length, return_tensors="pt"
            )
        return {name: batch[name].to(self.model.device) for name in ("input_ids", "attention_mask")}


def get_translator(checkpoint: Checkpoint, runtime: RunTime, max_length: int | None = None) -> Translator:
    """The network of a checkpoint, loaded once a process for each device, dtype and length limit.

    Args:
        checkpoint: From `geceval.models.checkpoints.resolve`.
        runtime: Device and dtype.
        max_length: Tokens beyond which a text is cut; `None` takes as many as the network reads, 1,024 at most.

    Raises:
        CheckpointError: If the checkpoint cannot be used.
        ValueError: If there is no such device.
    """
    device = pick_device(runtime.device)
    length = max_length or min(1024, checkpoint.config.get("max_position_embeddings") or 1024)
    return _get_translator(checkpoint, str(device), pick_dtype(runtime), length)


@functools.lru_cache(maxsize=2)
def _get_translator(checkpoint: Checkpoint, device: str, dtype: str, length: int) -> Translator:
    import torch
    import transformers

    tokenizer = load_tokenizer(checkpoint)
    model, missing = heads.read_model(transformers.AutoModelForSeq2SeqLM, checkpoint)
    heads.check_missing(checkpoint, [name for name in missing if name != "final_logits_bias"])
    model = heads.ready(model, checkpoint).to(device=device, dtype=getattr(torch, dtype))
    return Translator(model, tokenizer, length, checkpoint.identity)
