"""Greedy matching of token states: the arithmetic of BERTScore (Zhang et al., 2020, section 3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.cache.disk import DiskCache
from geceval.core.cache.lookup import cached
from geceval.core.cache.memory import LRUCache, lru_cache
from geceval.models.batching import SENTENCE

if TYPE_CHECKING:
    import torch

    from geceval.models.encoder import Encoder

PAIRS_AT_ONCE = 4096
PAIRS_A_BATCH = 128
KEPT_PAIRS = 500_000
KEPT_STATES = 1 << 28  # bytes of the states of references, which every system is compared with, of 32 tokens each
LONGEST_KEPT = 4 * SENTENCE  # tokens; of longer references nothing is kept, so that it is at most four times that
VERSION = 1  # change it when any match changes: those that are kept on disk are then made anew

# How many layers read best, as published with BERTScore for the encoders that GEC work uses.
_LAYERS = {"bert-base-uncased": 9, "bert-large-uncased": 18, "distilbert-base-uncased": 5, "roberta-large": 17}

Row = tuple["torch.Tensor", "torch.Tensor"]
"""Token states of length 1 [tokens, dimensions] and token weights that sum to 1, or are all 0 [tokens]."""

States = tuple[list[int], "torch.Tensor"]
"""Token ids of a text and their states of length 1 [tokens, dimensions]."""

Match = tuple[np.ndarray, bool]
"""Precision, recall and F1, float64 [3], and whether neither text was cut."""


def default_layer(model: str, layers: int) -> int:
    """The layer to read: the published one for a known encoder, else five sixths of the way up (DistilBERT's share).

    Args:
        model: Folder or Hub id; only its last part counts.
        layers: How many layers the network has.
    """
    name = model.partition("@")[0].rstrip("/").rpartition("/")[2]
    return _LAYERS.get(name, max(1, round(layers * 5 / 6)))


class Matcher:
    """Precision, recall and F1 of candidate tokens against reference tokens, by cosine similarity.

    Args:
        encoder: The network.
        layer: Whose states are compared: 1 for the first layer.
    """

    def __init__(self, encoder: Encoder, layer: int) -> None:
        self.encoder, self.layer = encoder, layer
        tokenizer = encoder.tokenizer
        self._unweighted = [i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None]
        self._matches: LRUCache[tuple[str, str], Match] = LRUCache(KEPT_PAIRS)
        width = 4 * SENTENCE * encoder.model.config.hidden_size
        self._references: LRUCache[str, States] = LRUCache(max(1, KEPT_STATES // width))

    def match(
        self,
        candidates: Sequence[str],
        references: Sequence[str],
        batch_size: int = 64,
        progress: bool = False,
        cache: str | Path | None = None,
    ) -> np.ndarray:
        """Match each candidate with its reference; every token of a text weighs the same.

        Args:
            candidates: One text a pair; white space at either end is removed.
            references: One text a pair.
            batch_size: Texts a batch of the network.
            progress: Show a bar on standard error.
            cache: A folder that keeps the matches, see `geceval.core.cache.disk`; float32 only, and not those of texts
                that are cut, which are thus reported again.

        Returns:
            float64 [pairs, 3]: precision, recall, F1. All are 0 where a text has no tokens.
        """
        pairs = [(c.strip(), r.strip()) for c, r in zip(candidates, references, strict=True)]

        def compute(missing: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Match]]:
            return zip(missing, self._match(missing, None, batch_size, progress), strict=True)

        facts = self.encoder.facts() if cache is not None else []
        disk = DiskCache(cache if facts else None, ["match", VERSION, self.layer, *facts], _pack, _unpack)
        found = cached(pairs, compute, self._matches, disk)
        return np.array([found[pair][0] for pair in pairs]).reshape(-1, 3)

    def match_weighted(
        self,
        candidates: Sequence[str],
        references: Sequence[str],
        weights: Mapping[int, float],
        unseen: float,
        batch_size: int = 64,
        progress: bool = False,
    ) -> np.ndarray:
        """As `match`, tokens weighing `weights[id]`, or `unseen` if their id is not there; nothing is kept."""
        pairs = [(c.strip(), r.strip()) for c, r in zip(candidates, references, strict=True)]
        matches = self._match(pairs, (weights, unseen), batch_size, progress)
        return np.array([figures for figures, _ in matches]).reshape(-1, 3)

    def inverse_document_frequencies(self, texts: Sequence[str]) -> tuple[dict[int, float], float]:
        """Weights log((N + 1) / (df + 1)) of the token ids in N texts, and log(N + 1) for any other id."""
        tokenizer, limit = self.encoder.tokenizer, self.encoder.max_length
        ids = tokenizer([text.strip() for text in texts], truncation=True, max_length=limit)["input_ids"]
        frequencies = Counter(token for row in ids for token in set(row))
        size = len(texts)
        weights = {token: math.log((size + 1) / (frequency + 1)) for token, frequency in frequencies.items()}
        return weights, math.log(size + 1)

    def _match(
        self,
        pairs: Sequence[tuple[str, str]],
        weights: tuple[Mapping[int, float], float] | None,
        batch_size: int,
        progress: bool,
    ) -> Iterator[Match]:
        for start in range(0, len(pairs), PAIRS_AT_ONCE):  # bounds the states that are held at a time
            chunk = pairs[start : start + PAIRS_AT_ONCE]
            states = self._states(chunk, batch_size, progress)
            rows = {text: self._row(*state, weights) for text, state in states.items()}
            whole = {text: len(ids) < self.encoder.max_length for text, (ids, _) in states.items()}
            matched = _greedy([(rows[candidate], rows[reference]) for candidate, reference in chunk])
            for figures, (candidate, reference) in zip(matched, chunk, strict=True):
                yield figures, whole[candidate] and whole[reference]

    def _states(self, pairs: Sequence[tuple[str, str]], batch_size: int, progress: bool) -> dict[str, States]:
        """Of each text of the pairs; those of references are remembered, unless they are very long."""
        import torch

        found = {text: self._references.get(text) for pair in pairs for text in pair}
        missing = [text for text, states in found.items() if states is None]
        fresh = self.encoder.states(missing, self.layer, batch_size, progress)
        for text, (ids, states) in zip(missing, fresh, strict=True):
            found[text] = ids, torch.nn.functional.normalize(states, dim=-1)
        for text in dict.fromkeys(reference for _, reference in pairs):
            if len(found[text][0]) <= LONGEST_KEPT:
                self._references.put(text, found[text])
        return found

    def _row(self, ids: list[int], units: torch.Tensor, weights: tuple[Mapping[int, float], float] | None) -> Row:
        import torch

        table, unseen = weights or ({}, 1.0)
        values = [0.0 if token in self._unweighted else table.get(token, unseen) for token in ids]
        total = sum(values)  # special tokens are matched with, but do not count
        shares = torch.tensor([value / total if total else 0.0 for value in values], device=units.device)
        return units, shares


@lru_cache(maxsize=4)
def get_matcher(encoder: Encoder, layer: int) -> Matcher:
    """The matcher of a network and layer, shared within the process together with the pairs that it remembers."""
    return Matcher(encoder, layer)


def _greedy(pairs: Sequence[tuple[Row, Row]]) -> list[np.ndarray]:
    """Precision, recall and F1 of each pair: each token takes its most similar token on the other side."""
    import torch

    order = sorted(range(len(pairs)), key=lambda number: [len(row[1]) for row in pairs[number]])
    matched: list[np.ndarray] = [np.zeros(3)] * len(pairs)
    for start in range(0, len(order), PAIRS_A_BATCH):
        numbers = order[start : start + PAIRS_A_BATCH]
        with torch.inference_mode():
            left, left_shares, left_padding = _pad([pairs[number][0] for number in numbers])
            right, right_shares, right_padding = _pad([pairs[number][1] for number in numbers])
            similarities = torch.bmm(left, right.transpose(1, 2)).clamp(max=1)  # rounding can lift equal tokens above 1
            similarities.masked_fill_(left_padding.unsqueeze(2) | right_padding.unsqueeze(1), -2)
            precision = (similarities.amax(dim=2) * left_shares).sum(dim=1)
            recall = (similarities.amax(dim=1) * right_shares).sum(dim=1)
            full = left_shares.any(dim=1) & right_shares.any(dim=1)
            scores = torch.stack([precision, recall, _harmonic_mean(precision, recall)], dim=1) * full.unsqueeze(1)
        for number, row in zip(numbers, scores.double().cpu().numpy(), strict=True):
            matched[number] = row.copy()
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
    """Units [rows, tokens, dimensions], shares [rows, tokens] and what is padding, bool [rows, tokens]."""
    import torch

    pad = torch.nn.utils.rnn.pad_sequence
    units, shares = (pad([row[place] for row in rows], batch_first=True) for place in (0, 1))
    lengths = torch.tensor([len(row[1]) for row in rows], device=shares.device)
    return units, shares, torch.arange(shares.shape[1], device=shares.device) >= lengths.unsqueeze(1)
