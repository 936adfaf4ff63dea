"""Greedy matching of token states by cosine similarity, as in BERTScore (Zhang et al., 2020, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import DiskCache, cached
from geceval.core.options import RunTime
from geceval.models import bundled
from geceval.models.batching import SENTENCE
from geceval.models.checkpoints import Checkpoint
from geceval.models.encoder import Encoder
from geceval.models.loading import load_encoder
from geceval.models.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

PAIRS_AT_ONCE = 1024
PAIRS_A_BATCH = 128
CACHED_PAIRS = 500_000
CACHED_STATES = 1 << 27  # bytes of the states of references, which every system is compared with, of 32 tokens each
LONGEST_CACHED = 4 * SENTENCE  # tokens of a reference whose states are cached: at most four times those bytes
VERSION = 1  # change it when any match changes: those that are cached on disk are then computed anew

# How many layers read best, as published with BERTScore for the encoders that GEC work uses.
_LAYERS = {"bert-base-uncased": 9, "bert-large-uncased": 18, "distilbert-base-uncased": 5, "roberta-large": 17}

Row = tuple["torch.Tensor", "torch.Tensor"]
"""Token states of length 1 [tokens, dimensions] and the shares of tokens that count, which sum to 1 or 0 [tokens]."""

States = tuple[list[int], "torch.Tensor"]
"""Token ids of a text and their states of length 1 [tokens, dimensions]."""

Match = tuple[np.ndarray, bool]
"""Precision, recall and F1, float64 [3], and whether neither text was cut."""


def default_layer(model: str, layers: int) -> int:
    """The layer to read: the published one for a known encoder, else five sixths of the way up (as for DistilBERT)."""
    name = model.partition("@")[0].rstrip("/").rpartition("/")[2]
    return _LAYERS.get(name, max(1, round(layers * 5 / 6)))


class Matcher(Encoder):
    """An encoder whose token states are matched: precision, recall and F1 of candidate against reference tokens."""

    # `Matcher.load(checkpoint, runtime, max_length, layer=N)` loads and computes the lowest N layers only.

    def __init__(self, model: Any, tokenizer: Any, layer: int, max_length: int | None = 512, name: str = "") -> None:
        super().__init__(model, tokenizer, max_length, name)
        self.layer = layer
        self._unweighted = [i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None]
        self._matches: LRUCache[tuple[str, str], Match] = LRUCache(CACHED_PAIRS)
        width = 4 * SENTENCE * model.config.hidden_size
        self._references: LRUCache[str, States] = LRUCache(max(1, CACHED_STATES // width))

    @classmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None, *, layer: int) -> Self:
        if bundled.reads(checkpoint):
            network = bundled.load(checkpoint, layer)
        else:
            network = load_encoder(checkpoint, layer), load_tokenizer(checkpoint)
        return cls(*network, layer, length, checkpoint.identity)

    def match(self, candidates: Sequence[str], references: Sequence[str], runtime: RunTime | None = None) -> np.ndarray:
        """Match each candidate with its reference; every token of a text weighs the same."""
        runtime = runtime or RunTime()
        pairs = [(c.strip(), r.strip()) for c, r in zip(candidates, references, strict=True)]

        def compute(missing: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Match]]:
            return zip(missing, self._match(missing, runtime), strict=True)

        facts = self.facts() if runtime.cache is not None else []
        disk = DiskCache(runtime.cache if facts else None, ["match", VERSION, self.layer, *facts], _pack, _unpack)
        matches = cached(pairs, compute, self._matches, disk)
        return np.array([matches[pair][0] for pair in pairs]).reshape(-1, 3)

    def _match(self, pairs: Sequence[tuple[str, str]], runtime: RunTime) -> Iterator[Match]:
        for start in range(0, len(pairs), PAIRS_AT_ONCE):  # bounds the states that are held at a time
            chunk = pairs[start : start + PAIRS_AT_ONCE]
            states = self._states(chunk, runtime)
            rows = {text: self._row(*state) for text, state in states.items()}
            whole = {text: len(ids) < self.max_length for text, (ids, _) in states.items()}
            matched = _greedy([(rows[candidate], rows[reference]) for candidate, reference in chunk])
            for figures, (candidate, reference) in zip(matched, chunk, strict=True):
                yield figures, whole[candidate] and whole[reference]

    def _states(self, pairs: Sequence[tuple[str, str]], runtime: RunTime) -> dict[str, States]:
        """The states of each text of the pairs; those of references are cached, unless they are very long."""
        import torch

        known = {text: self._references.get(text) for pair in pairs for text in pair}
        missing = [text for text, states in known.items() if states is None]
        fresh = self.states(missing, self.layer, runtime)
        for text, (ids, states) in zip(missing, fresh, strict=True):
            known[text] = ids, torch.nn.functional.normalize(states, dim=-1)
        for text in dict.fromkeys(reference for _, reference in pairs):
            if len(known[text][0]) <= LONGEST_CACHED:
                self._references.put(text, known[text])
        return known

    def _row(self, ids: list[int], units: torch.Tensor) -> Row:
        import torch

        counts = [0.0 if token in self._unweighted else 1.0 for token in ids]
        total = sum(counts)  # special tokens are matched with, but do not count
        shares = torch.tensor([count / total if total else 0.0 for count in counts], device=units.device)
        return units, shares


def _greedy(pairs: Sequence[tuple[Row, Row]]) -> list[np.ndarray]:
    """Precision, recall and F1 of each pair: each token takes its most similar token on the other side."""
    import torch

    order = sorted(range(len(pairs)), key=lambda index: [len(row[1]) for row in pairs[index]])
    matched: list[np.ndarray] = [np.zeros(3)] * len(pairs)
    for start in range(0, len(order), PAIRS_A_BATCH):
        indices = order[start : start + PAIRS_A_BATCH]
        with torch.inference_mode():
            left, left_shares, left_padding = _pad([pairs[index][0] for index in indices])
            right, right_shares, right_padding = _pad([pairs[index][1] for index in indices])
            similarities = torch.bmm(left, right.transpose(1, 2)).clamp(max=1)  # rounding can lift equal tokens above 1
            similarities.masked_fill_(left_padding.unsqueeze(2) | right_padding.unsqueeze(1), -2)
            precision = (similarities.amax(dim=2) * left_shares).sum(dim=1)
            recall = (similarities.amax(dim=1) * right_shares).sum(dim=1)
            full = left_shares.any(dim=1) & right_shares.any(dim=1)
            scores = torch.stack([precision, recall, _harmonic_mean(precision, recall)], dim=1) * full.unsqueeze(1)
        for index, row in zip(indices, scores.double().cpu().numpy(), strict=True):
            matched[index] = row.copy()
    return matched


def _pack(match: Match) -> bytes | None:
    return match[0].astype("<f8").tobytes() if match[1] else None


def _unpack(data: bytes) -> Match:
    return np.frombuffer(data, "<f8").astype(np.float64), True


def _harmonic_mean(precision: torch.Tensor, recall: torch.Tensor) -> torch.Tensor:
    """2PR / (P + R), and 0 where P + R is 0."""
    total = precision + recall
    return (2 * precision * recall / total.where(total != 0, 1)).where(total != 0, 0)


def _pad(rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Unit vectors [rows, tokens, dimensions], shares [rows, tokens] and the padding mask, bool [rows, tokens]."""
    import torch

    pad = torch.nn.utils.rnn.pad_sequence
    units, shares = (pad(list(column), batch_first=True) for column in zip(*rows, strict=True))
    lengths = torch.tensor([len(row[1]) for row in rows], device=shares.device)
    return units, shares, torch.arange(shares.shape[1], device=shares.device) >= lengths.unsqueeze(1)
