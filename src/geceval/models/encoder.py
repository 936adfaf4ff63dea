"""What an encoder gives for texts: mean vectors, logits of its head, states of its tokens.

An `Encoder` is one network on one device. `get_encoder` keeps the last few of them, and each keeps what it computed
for recent texts, so that several systems, or two metrics over one network, share the work on equal sentences.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geceval.core.cache.memory import LRUCache, lru_cache
from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models import heads
from geceval.models.checkpoints import Checkpoint
from geceval.models.reader import Reader, Text
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch

KEPT_NETWORKS = 8


class Encoder(Reader):
    """A network, its tokenizer and what they gave for recent texts.

    Args:
        model: A transformers model without head, or a `...ForSequenceClassification`.
        tokenizer: Its fast tokenizer.
        pooling: How the head reads the tokens, see `geceval.models.heads`.
        max_length: Tokens, special ones included, beyond which a text is cut; a pair shares them, the longer text
            losing first.
        name: What to call the network in messages.
    """

    def __init__(
        self, model: Any, tokenizer: Any, pooling: str = "first", max_length: int = 128, name: str = ""
    ) -> None:
        super().__init__(model, tokenizer, max_length, name)
        self.pooling = pooling

    def embed(
        self, texts: Sequence[Text], batch_size: int = 64, progress: bool = False, cache: str | Path | None = None
    ) -> np.ndarray:
        """Means of the last layer's token states, special tokens included.

        Args:
            texts: Sentences or pairs.
            batch_size: Texts a batch.
            progress: Show a bar on standard error.
            cache: A folder that keeps what was computed, see `geceval.core.cache.disk`; float32 only.

        Returns:
            float32 [texts, dimensions], in input order.
        """

        def read(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            return heads.mean_pool(model.base_model(**batch).last_hidden_state, batch["attention_mask"])

        return self._cached("embed", read, texts, batch_size, progress, cache)

    def logits(
        self, texts: Sequence[Text], batch_size: int = 64, progress: bool = False, cache: str | Path | None = None
    ) -> np.ndarray:
        """Logits of the classification head: float32 [texts, labels], in input order; arguments as for `embed`."""

        def read(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            return heads.logits(model, batch, self.pooling)

        return self._cached("logits", read, texts, batch_size, progress, cache)

    def states(
        self, texts: Sequence[Text], layer: int = -1, batch_size: int = 64, progress: bool = False
    ) -> list[tuple[list[int], torch.Tensor]]:
        """Token states of one layer.

        Args:
            texts: Sentences or pairs.
            layer: 0 for the embeddings, 1 for the first layer, -1 for the last.
            batch_size: Texts a batch.
            progress: Show a bar on standard error.

        Returns:
            For each text its token ids and their states, float32 [tokens, dimensions] on the network's first device;
            special tokens are included, padding is not. Equal texts share one tensor. Nothing is kept between calls.
        """

        def read(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            return model.base_model(**batch, output_hidden_states=True).hidden_states[layer]

        found: dict[Text, tuple[list[int], torch.Tensor]] = {}
        distinct = list(dict.fromkeys(texts))
        encoded, cut = self._tokenize(distinct)
        self._report(len(cut), len(distinct))
        for places, output in self._run(read, encoded, batch_size, progress, self.model.device):
            for row, place in enumerate(places):
                ids = encoded[place]["input_ids"]
                found[distinct[place]] = (ids, output[row, : len(ids)])
        return [found[text] for text in texts]


_encoders: LRUCache[tuple[Any, ...], Any] = LRUCache(KEPT_NETWORKS)
_lock = threading.Lock()


def get_encoder(
    checkpoint: Checkpoint,
    runtime: RunTime | None = None,
    *,
    head: bool = False,
    layers: int | None = None,
    max_length: int | None = None,
    fallback: str | None = None,
) -> Encoder:
    """The encoder of a checkpoint, loaded once a process for each choice of devices, dtype and length limit.

    Args:
        checkpoint: From `geceval.models.checkpoints.resolve`.
        runtime: Device and dtype; batch size and progress are given with each call.
        head: Load the one-output classification head too, for `logits`.
        layers: Without a head, how many layers to load and compute, from below; all by default.
        max_length: Tokens beyond which a text is cut; `None` takes `geceval_max_length` of the checkpoint, else 128
            or as many as the network can read.
        fallback: See `load_tokenizer`.

    Raises:
        CheckpointError: If the checkpoint cannot be used.
        ValueError: If there is no such device, or `max_length` is beyond what the network can read.
    """

    def make(length: int) -> Encoder:
        model = heads.load_classifier(checkpoint) if head else heads.load_encoder(checkpoint, layers)
        tokenizer = load_tokenizer(checkpoint, fallback)
        return Encoder(model, tokenizer, heads.pooling_of(checkpoint), length, checkpoint.identity)

    return get_reader(checkpoint, runtime, make, ("encoder", head, layers), max_length)


ReaderT = TypeVar("ReaderT", bound=Reader)


def get_reader(
    checkpoint: Checkpoint,
    runtime: RunTime | None,
    make: Callable[[int], ReaderT],
    kind: tuple[Any, ...],
    max_length: int | None = None,
) -> ReaderT:
    """The reader of a checkpoint, made once a process for each kind, device, dtype and length limit.

    Args:
        checkpoint: From `geceval.models.checkpoints.resolve`.
        runtime: Device and dtype.
        make: From the length limit to a reader, its network on the CPU in float32.
        kind: What tells it from other readers of the same checkpoint.
        max_length: See `get_encoder`.

    Raises:
        CheckpointError: If the checkpoint cannot be used.
        ValueError: If there is no such device, or `max_length` is beyond what the network can read.
    """
    runtime = runtime or RunTime()
    devices = pick_devices(runtime.device)
    limit = position_limit(checkpoint.config)
    length = max_length or checkpoint.setting("max_length", readable_length(checkpoint.config, 128))
    if limit is not None and length > limit:
        raise InputError(f"{checkpoint.folder}: max_length is {length}, but the network reads at most {limit} tokens")
    dtype = pick_dtype(runtime)
    key = (checkpoint.folder, checkpoint.identity, *kind, tuple(map(str, devices)), dtype, length)
    with _lock:
        reader = _encoders.get(key)
        if reader is None:
            reader = make(length)
            reader.place(devices, dtype)
            reader.origin = (checkpoint.identity, checkpoint.digest, *kind)
            _encoders.put(key, reader)
        return reader


def position_limit(config: Mapping[str, Any]) -> int | None:
    """The longest input that a network of this `config.json` can read, in tokens; `None` if it does not say."""
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in ("roberta", "xlm-roberta", "camembert"):
        return positions - config.get("pad_token_id", 1) - 1  # RoBERTa counts positions from behind the padding id
    return positions


def readable_length(config: Mapping[str, Any], wanted: int) -> int:
    """So many tokens, or as many as a network of this `config.json` can read if those are fewer."""
    return min(wanted, position_limit(config) or wanted)


def pick_dtype(runtime: RunTime) -> str:
    """The name of the dtype; for `"auto"` bfloat16 where the device has instructions for it, else float32.

    Raises:
        ValueError: If there is no such device.
    """
    if runtime.dtype != "auto":
        return runtime.dtype
    return "bfloat16" if all(map(_computes_in_bfloat16, pick_devices(runtime.device))) else "float32"


def _computes_in_bfloat16(device: torch.device) -> bool:
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and bool(_cpu_flags() & {"avx512_bf16", "amx_bf16"})


@lru_cache()
def _cpu_flags() -> frozenset[str]:
    """What Linux says of the processor; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def pick_devices(names: str) -> list[torch.device]:
    """The torch devices of names with commas between them, see `pick_device`; all must be of one kind.

    Raises:
        ValueError: If one of them cannot be used, or two are of different kinds.
    """
    devices = [pick_device(name.strip()) for name in names.split(",")]
    if len({device.type for device in devices}) > 1:
        raise InputError(f"device {names!r}: several devices must be of one kind, e.g. 'cuda:0,cuda:1'")
    return devices


def pick_device(name: str) -> torch.device:
    """The torch device of that name; `"auto"` takes CUDA, then MPS, then the CPU.

    Raises:
        ValueError: If torch knows no such device or this machine has none.
    """
    import torch

    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # which the device "meta" cannot
    except (RuntimeError, AssertionError) as error:  # torch without CUDA answers with an AssertionError
        raise InputError(f"device {name!r} cannot be used here; try 'auto' or 'cpu'") from error
    return device
