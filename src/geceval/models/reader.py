"""Batched inference: distinct texts once, sorted by length, padded to the longest of the batch, in input order."""

from __future__ import annotations

import copy
import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.cache.disk import DiskCache
from geceval.core.cache.lookup import cached
from geceval.core.cache.memory import LRUCache
from geceval.core.signature import package_version
from geceval.models.batching import form_batches, share_out
from geceval.version import __version__

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("geceval")

Text = str | tuple[str, str]
"""A sentence, or a pair of sentences that the network reads together."""


class Reader:
    """A network that reads texts in batches, its tokenizer and what they gave for recent texts.

    Args:
        model: A transformers model.
        tokenizer: Its fast tokenizer.
        max_length: Tokens, special ones included, beyond which a text is cut.
        name: What to call the network in messages.

    Attributes:
        kept_texts: For how many texts answers are kept in memory.
        beyond: What becomes of the part of a text that is cut, for the warning.
        origin: The checkpoint and the part of it that is read; without it nothing is kept on disk.
        models: The network, on each device that reads; `model` is the first.
    """

    kept_texts: ClassVar[int] = 50_000
    beyond: ClassVar[str] = "what lies beyond does not count"
    origin: tuple[Any, ...] = ()

    def __init__(self, model: Any, tokenizer: Any, max_length: int, name: str = "") -> None:
        self.models, self.tokenizer = [model], tokenizer
        self.max_length, self.name = max_length, name
        self._answers: LRUCache[tuple[str, Text], tuple[np.ndarray, bool]] = LRUCache(self.kept_texts)

    @property
    def model(self) -> Any:
        """The network on its first device."""
        return self.models[0]

    def place(self, devices: Sequence[torch.device], dtype: str) -> None:
        """Put the network, or a copy of it, on each of these devices."""
        self.models = copies(self.model, devices, dtype)

    def _cached(
        self,
        what: str,
        read: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor],
        texts: Sequence[Text],
        batch_size: int,
        progress: bool,
        cache: str | Path | None = None,
    ) -> np.ndarray:
        rows = self._cached_rows(what, read, lambda row, _: row, texts, batch_size, progress, cache)
        return np.stack(rows) if rows else np.zeros((0, 0), np.float32)

    def _cached_rows(
        self,
        what: str,
        read: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor],
        take: Callable[[np.ndarray, dict[str, list[int]]], np.ndarray],
        texts: Sequence[Text],
        batch_size: int,
        progress: bool,
        cache: str | Path | None = None,
    ) -> list[np.ndarray]:
        """What `take` makes of the row that `read` gives for a text, and of the text's token ids."""

        def run(missing: list[tuple[str, Text]]) -> Iterator[tuple[tuple[str, Text], tuple[np.ndarray, bool]]]:
            encoded, cut = self._tokenize([text for _, text in missing])
            for indices, output in self._run(read, encoded, batch_size, progress, "cpu"):
                for index, row in zip(indices, output.numpy(), strict=True):
                    value = take(row, encoded[index]).copy()  # a view would keep the whole batch alive
                    yield missing[index], (value, index in cut)

        keys = [(what, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._answers]
        facts = self.facts() if cache is not None and new else []
        found = cached(keys, run, self._answers, DiskCache(cache if facts else None, facts, _pack, _unpack))
        self._report(sum(found[key][1] for key in new), len(new))
        return [found[key][0] for key in keys]

    def facts(self) -> list[Any]:
        """All that an answer depends on beside the text; empty if answers are not to be kept on disk.

        They are kept in float32 only: in 16 bits an answer depends too much on the company of the text in its batch.
        """
        import torch

        if not self.origin or self.model.dtype != torch.float32 or not self.tokenizer.is_fast:
            return []
        tokenizer = hashlib.sha256(self.tokenizer.backend_tokenizer.to_str().encode()).hexdigest()
        packages = [package_version(name) for name in ("torch", "transformers", "tokenizers")]
        limit = self.max_length
        return ["texts", *self.origin, tokenizer, limit, self.model.device.type, *packages, __version__]

    def _run(
        self,
        read: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor],
        encoded: list[dict[str, list[int]]],
        batch_size: int,
        progress: bool,
        home: str | torch.device,
    ) -> Iterator[tuple[list[int], torch.Tensor]]:
        """Batches of texts, longest first: their places in `encoded`, and what `read` gives for them, on `home`."""
        import torch

        def work(model: Any, places: list[int]) -> tuple[list[int], torch.Tensor]:
            with torch.inference_mode():
                batch = self._pad([encoded[place] for place in places])
                output = read(model, {name: ids.to(model.device) for name, ids in batch.items()})
                return places, output.float().to(home)

        batches = form_batches([self._size(text) for text in encoded], batch_size)
        return share_out(work, self.models, _track(batches, self.name) if progress else batches)

    def _tokenize(self, texts: list[Text]) -> tuple[list[dict[str, list[int]]], set[int]]:
        """Token ids of each text, and which texts were cut."""
        if not texts:
            return [], set()
        encoded = self._encode(texts)
        long = [row for row, text in enumerate(encoded) if self._size(text) > self.max_length]
        if long:
            cut = self._encode([texts[row] for row in long], self.max_length)
            for row, text in zip(long, cut, strict=True):
                encoded[row] = text
        return encoded, set(long)

    def _size(self, encoded: dict[str, list[int]]) -> int:
        """The tokens of a text."""
        return len(encoded["input_ids"])

    def _report(self, cut: int, texts: int) -> None:
        if cut:
            logger.warning(
                "%s: %d of %d texts are longer than %d tokens and were cut; %s",
                *(self.name or "network", cut, texts, self.max_length, self.beyond),
            )

    def _encode(self, texts: list[Text], limit: int | None = None) -> list[dict[str, list[int]]]:
        """Token ids of texts, special ones included, cut to `limit` of them."""
        pairs = isinstance(texts[0], tuple)
        names = ["input_ids", "token_type_ids"] if pairs else ["input_ids"]
        columns = [list(column) for column in zip(*texts, strict=True)] if pairs else [texts]
        options = {} if limit is None else {"truncation": True, "max_length": limit}
        output = self.tokenizer(*columns, return_attention_mask=False, verbose=False, **options)
        kept = [name for name in names if name in output]
        return [{name: output[name][row] for name in kept} for row in range(len(texts))]

    def _pad(self, encoded: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        fillers = {"input_ids": self.tokenizer.pad_token_id or 0}
        batch = {name: pad([text[name] for text in encoded], fillers.get(name, 0)) for name in encoded[0]}
        return {**batch, "attention_mask": pad([[1] * len(text["input_ids"]) for text in encoded], 0)}


def pad(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    """Rows as one tensor, filled up at the end to the longest: int64 [rows, longest]."""
    import torch

    array = np.full((len(rows), max(map(len, rows))), filler, np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return torch.from_numpy(array)


def copies(model: Any, devices: Sequence[torch.device], dtype: str) -> list[Any]:
    """The network on the first of the devices and a copy of it on each further one."""
    import torch

    model = model.to(getattr(torch, dtype))
    others = [copy.deepcopy(model).to(device) for device in devices[1:]]
    return [model.to(devices[0]), *others]


def _pack(value: tuple[np.ndarray, bool]) -> bytes:
    row, cut = value
    shape = ",".join(map(str, row.shape))
    return f"{int(cut)};{shape};".encode() + np.ascontiguousarray(row, "<f4").tobytes()


def _unpack(data: bytes) -> tuple[np.ndarray, bool]:
    cut, shape, content = data.split(b";", 2)
    row = np.frombuffer(content, "<f4").reshape([int(size) for size in shape.split(b",") if size])
    return row.astype(np.float32), cut == b"1"


def _track(batches: list[list[int]], name: str) -> Iterator[list[int]]:
    from rich.console import Console
    from rich.progress import track

    return iter(track(batches, description=name, console=Console(stderr=True)))
