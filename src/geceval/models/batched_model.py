"""Networks that read texts in batches, loaded once per process; answers are cached in memory and on disk."""

from __future__ import annotations

import abc
import hashlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import DiskCache, cached
from geceval.core.errors import InputError, counted
from geceval.core.options import RunTime
from geceval.core.progress import track
from geceval.core.signature import package_version
from geceval.core.warnings import first_on_line
from geceval.models import bundled
from geceval.models.batching import form_batches, share_out
from geceval.models.checkpoints import Checkpoint
from geceval.models.devices import copies, pick_devices, pick_dtype
from geceval.models.loading import position_limit
from geceval.version import __version__

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

logger = logging.getLogger("geceval")

Text = str | tuple[str, str]
"""A sentence, or a pair of sentences that the network reads together."""

Key = tuple[str, Text]
Answer = tuple[np.ndarray, bool]
"""A network's answer for a text, and whether the text was cut."""

_loading = threading.Lock()  # transformers sets the dtype and more of the whole process while it loads


class BatchedModel(abc.ABC):
    """A network that reads texts in batches, its tokenizer, and its answers for recent texts."""

    networks: ClassVar[LRUCache[tuple[Any, ...], Any]] = LRUCache(8)
    usual_length: ClassVar[int | None] = 128
    cached_texts: ClassVar[int] = 50_000
    cache_key: tuple[Any, ...] = ()

    def __init__(self, model: Any, tokenizer: Any, max_length: int | None = 128, name: str = "") -> None:
        self.models, self.tokenizer = [model], tokenizer
        self.max_length, self.name = max_length, name
        self._answers: LRUCache[Key, Answer] = LRUCache(self.cached_texts)

    @classmethod
    def load(
        cls, checkpoint: Checkpoint, runtime: RunTime | None = None, max_length: int | None = None, **options: Any
    ) -> Self:
        """The network of a checkpoint, loaded once per process for each choice of device, dtype, length and options."""
        runtime = runtime or RunTime()
        devices, dtype = pick_devices(runtime.device), pick_dtype(runtime)

        if not bundled.reads(checkpoint):
            # Wait for another thread that imports it: a racing import gives the module that transformers then replaces.
            import transformers  # noqa: F401
        limit = position_limit(checkpoint)
        usual = cls.usual_length if limit is None else min(limit, cls.usual_length or limit)
        length = max_length or checkpoint.setting("max_length", usual)
        if limit is not None and length > limit:
            raise InputError(
                f"max_length is {length}, but {checkpoint.identity} reads at most {limit} tokens; "
                f"pass max_length={limit} or less"
            )
        cache_key = (checkpoint.identity, checkpoint.digest, cls.__name__, *sorted(options.items()))
        key = (checkpoint.folder, cache_key, tuple(map(str, devices)), dtype, length)
        reader = cls.networks.get(key)
        if reader is None:
            with _loading:
                reader = cls.networks.get(key)  # another thread may have loaded it meanwhile
                if reader is None:
                    reader = cls._make(checkpoint, length, **options)
                    reader.models = copies(reader.model, devices, dtype)
                    reader.cache_key = cache_key
                    cls.networks.put(key, reader)
        return reader

    @classmethod
    @abc.abstractmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None, **options: Any) -> Self:
        """The reader of a checkpoint, its network on the CPU in float32."""

    @property
    def model(self) -> Any:
        """The network on its first device."""
        return self.models[0]

    def _rows(
        self,
        what: str,
        read: Callable[[Any, Mapping[str, torch.Tensor]], torch.Tensor],
        texts: Sequence[Text],
        runtime: RunTime | None,
        select: Callable[[np.ndarray, Mapping[str, list[int]]], np.ndarray] = lambda row, encoded: row,
    ) -> list[np.ndarray]:
        """The answer for each text: from memory, else from the folder of `runtime.cache`, else from the network."""
        runtime = runtime or RunTime()

        def compute(missing: list[Key]) -> Iterator[tuple[Key, Answer]]:
            encoded, cut = self._tokenize([text for _, text in missing])
            for indices, output in self._run(read, encoded, runtime, "cpu"):
                for index, row in zip(indices, output.numpy(), strict=True):
                    answer = select(row, encoded[index]).copy()  # a view would keep the whole batch alive
                    yield missing[index], (answer, index in cut)

        keys = [(what, text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._answers]
        facts = self.facts() if runtime.cache is not None and new else []
        answers = cached(
            keys, compute, self._answers, DiskCache(runtime.cache if facts else None, facts, _pack, _unpack)
        )
        # A NaN may come from a neighbour in the batch: the next time, the network is asked anew.
        self._answers.drop(key for key in new if np.isnan(answers[key][0]).any())
        self._warn([text for what, text in new if answers[what, text][1]], len(new), what)
        return [answers[key][0] for key in keys]

    def _array(self, *arguments: Any) -> np.ndarray:
        """`_rows` as one array, [texts, ...]."""
        rows = self._rows(*arguments)
        return np.stack(rows) if rows else np.zeros((0, 0), np.float32)

    def facts(self) -> list[Any]:
        """Everything that an answer depends on besides the text; empty if answers must not be cached on disk."""
        # Only answers in float32 are cached: an answer in 16 bits depends too much on the other texts of its batch.
        import torch

        if not self.cache_key or self.model.dtype != torch.float32 or not self.tokenizer.is_fast:
            return []
        tokenizer = hashlib.sha256(self.tokenizer.backend_tokenizer.to_str().encode()).hexdigest()
        packages = [package_version(name) for name in ("torch", "transformers", "tokenizers")]
        return ["texts", *self.cache_key, tokenizer, self.max_length, self.model.device.type, *packages, __version__]

    def _run(
        self,
        read: Callable[[Any, Mapping[str, torch.Tensor]], torch.Tensor],
        encoded: Sequence[Mapping[str, list[int]]],
        runtime: RunTime,
        home: str | torch.device,
    ) -> Iterator[tuple[list[int], torch.Tensor]]:
        """Batches of texts, longest first: their indices in `encoded`, and what `read` gives for them, on `home`."""
        import torch

        def work(model: Any, indices: list[int]) -> tuple[list[int], torch.Tensor]:
            with torch.inference_mode():
                batch = self._pad([encoded[index] for index in indices])
                output = read(model, {name: ids.to(model.device) for name, ids in batch.items()})
                return indices, output.float().to(home)

        batches = form_batches([self._size(text) for text in encoded], runtime.batch_size)
        answers = share_out(work, self.models, batches)
        return track(answers, len(batches), self.name or "network", runtime.progress)

    def _tokenize(self, texts: list[Text]) -> tuple[list[dict[str, list[int]]], set[int]]:
        """Token ids of each text, and the indices of texts that were cut."""
        encoded = self._encode(texts) if texts else []
        limit = self.max_length
        long = [] if limit is None else [row for row, text in enumerate(encoded) if self._size(text) > limit]
        if long:
            for row, text in zip(long, self._encode([texts[row] for row in long], limit), strict=True):
                encoded[row] = text
        return encoded, set(long)

    def too_long(self, texts: Sequence[Text]) -> set[int]:
        """The indices of texts that would be cut."""
        return self._tokenize(list(texts))[1]

    def _size(self, encoded: Mapping[str, list[int]]) -> int:
        """The number of tokens of a text."""
        return len(encoded["input_ids"])

    def _if_cut(self, what: str) -> str:
        """The fate of the part of a text that is cut off, for the warning; `what` as for `_rows`."""
        return "what lies beyond does not count"

    def _warn(self, cut: Sequence[Text], texts: int, what: str) -> None:
        if cut:
            logger.warning(
                "longer than %d tokens and cut: %d of %s%s; %s",
                *(self.max_length, len(cut), counted(texts, "text"), first_on_line(cut[0]), self._if_cut(what)),
            )

    def _encode(self, texts: list[Text], limit: int | None = None) -> list[dict[str, list[int]]]:
        """Token ids of texts, special ones included, cut to `limit` of them."""
        pairs = isinstance(texts[0], tuple)
        names = ["input_ids", "token_type_ids"] if pairs else ["input_ids"]
        columns = [list(column) for column in zip(*texts, strict=True)] if pairs else [texts]
        options = {} if limit is None else {"truncation": True, "max_length": limit}
        output = self.tokenizer(*columns, return_attention_mask=False, verbose=False, **options)
        return [{name: output[name][row] for name in names if name in output} for row in range(len(texts))]

    def _pad(self, encoded: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        fillers = {"input_ids": self.tokenizer.pad_token_id or 0}
        batch = {name: pad([text[name] for text in encoded], fillers.get(name, 0)) for name in encoded[0]}
        return {**batch, "attention_mask": pad([[1] * len(text["input_ids"]) for text in encoded], 0)}


def pad(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    """Rows as one tensor, filled up at the end to the longest: int64 [rows, longest]."""
    import torch

    array = np.full((len(rows), max(map(len, rows))), filler, np.int64)
    for index, row in enumerate(rows):
        array[index, : len(row)] = row
    return torch.from_numpy(array)


def _pack(answer: Answer) -> bytes | None:
    row, cut = answer
    if np.isnan(row).any():
        return None
    shape = ",".join(map(str, row.shape))
    return f"{int(cut)};{shape};".encode() + np.ascontiguousarray(row, "<f4").tobytes()


def _unpack(data: bytes) -> Answer:
    cut, shape, content = data.split(b";", 2)
    row = np.frombuffer(content, "<f4").reshape([int(size) for size in shape.split(b",") if size])
    return row.astype(np.float32), cut == b"1"
