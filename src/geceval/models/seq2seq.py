"""How probable a sequence-to-sequence model finds a text given another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.cache.memory import lru_cache
from geceval.core.options import RunTime
from geceval.models import heads
from geceval.models.checkpoints import Checkpoint
from geceval.models.encoder import pick_devices, pick_dtype
from geceval.models.reader import Reader, Text, pad
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch

NO_LABEL = -100


class Translator(Reader):
    """A sequence-to-sequence network, its tokenizer, and the likelihoods of recent pairs.

    Args:
        model: A transformers model with a language-modelling head over a decoder.
        tokenizer: Its tokenizer.
        max_length: Tokens beyond which either text is cut.
        name: What to call the network in messages and signatures.
    """

    kept_texts: ClassVar[int] = 500_000

    def log_likelihoods(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        batch_size: int = 64,
        progress: bool = False,
        cache: str | Path | None = None,
    ) -> np.ndarray:
        """Mean log-probability of the target's tokens, the special ones included, given the source (teacher forced).

        Args:
            sources: One text a pair.
            targets: One text a pair.
            batch_size: Pairs a batch; long ones count as several, see `geceval.models.batching`.
            progress: Show a bar on standard error.
            cache: A folder that keeps them, see `geceval.core.cache.disk`; float32 only.

        Returns:
            float64 [pairs], natural logarithms, each below 0.
        """
        pairs = list(zip(sources, targets, strict=True))
        return self._cached("likelihood", self._read, pairs, batch_size, progress, cache).ravel().astype(np.float64)

    def _read(self, model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
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

    def _size(self, encoded: dict[str, list[int]]) -> int:
        return max(len(encoded["input_ids"]), len(encoded["labels"]))

    def _pad(self, encoded: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        batch = super()._pad([{"input_ids": pair["input_ids"]} for pair in encoded])
        return {**batch, "labels": pad([pair["labels"] for pair in encoded], NO_LABEL)}


def get_translator(checkpoint: Checkpoint, runtime: RunTime, max_length: int | None = None) -> Translator:
    """The network of a checkpoint, loaded once a process for each choice of devices, dtype and length limit.

    Args:
        checkpoint: From `geceval.models.checkpoints.resolve`.
        runtime: Device and dtype.
        max_length: Tokens beyond which a text is cut; `None` takes as many as the network reads, 1,024 at most.

    Raises:
        CheckpointError: If the checkpoint cannot be used.
        ValueError: If there is no such device.
    """
    length = max_length or min(1024, checkpoint.config.get("max_position_embeddings") or 1024)
    return _get_translator(checkpoint, tuple(pick_devices(runtime.device)), pick_dtype(runtime), length)


@lru_cache(maxsize=2)
def _get_translator(checkpoint: Checkpoint, devices: tuple[torch.device, ...], dtype: str, length: int) -> Translator:
    import transformers

    tokenizer = load_tokenizer(checkpoint)
    model, missing = heads.read_model(transformers.AutoModelForSeq2SeqLM, checkpoint)
    heads.check_missing(checkpoint, [name for name in missing if name != "final_logits_bias"])
    translator = Translator(heads.ready(model, checkpoint), tokenizer, length, checkpoint.identity)
    translator.place(devices, dtype)
    translator.origin = (checkpoint.identity, checkpoint.digest, "seq2seq")
    return translator
