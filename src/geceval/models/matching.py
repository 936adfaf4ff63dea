"""Greedy matching of token states: the arithmetic of BERTScore (Zhang et al., 2020, section 3)."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.recent import Recent

if TYPE_CHECKING:
    from geceval.models.encoder import Encoder

PAIRS_AT_ONCE = 4096
KEPT_PAIRS = 500_000

# How many layers read best, as published with BERTScore for the encoders that GEC work uses.
_LAYERS = {"bert-base-uncased": 9, "bert-large-uncased": 18, "distilbert-base-uncased": 5, "roberta-large": 17}

Row = tuple[np.ndarray, np.ndarray]
"""Token states of length 1 [tokens, dimensions] and token weights that sum to 1, or are all 0 [tokens]."""


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

    Raises:
        ValueError: If the network has no such layer.
    """

    def __init__(self, encoder: Encoder, layer: int) -> None:
        count = encoder.model.config.num_hidden_layers
        if not 1 <= layer <= count:
            raise ValueError(f"{encoder.name}: there is no layer {layer}; choose 1 to {count}")
        self.encoder, self.layer = encoder, layer
        tokenizer = encoder.tokenizer
        self._unweighted = [i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None]
        self._recent: Recent[tuple[str, str], np.ndarray] = Recent(KEPT_PAIRS)

    def match(
        self, candidates: Sequence[str], references: Sequence[str], batch_size: int = 64, progress: bool = False
    ) -> np.ndarray:
        """Match each candidate with its reference; every token of a text weighs the same.

        Args:
            candidates: One text a pair; white space at either end is removed.
            references: One text a pair.
            batch_size: Texts a batch of the network.
            progress: Show a bar on standard error.

        Returns:
            float64 [pairs, 3]: precision, recall, F1. All are 0 where a text has no tokens.
        """
        pairs = [(c.strip(), r.strip()) for c, r in zip(candidates, references, strict=True)]
        found = {pair: self._recent.get(pair) for pair in pairs}
        missing = [pair for pair, scores in found.items() if scores is None]
        for pair, scores in zip(missing, self._match(missing, None, batch_size, progress), strict=True):
            found[pair] = scores
            self._recent.put(pair, scores)
        return np.array([found[pair] for pair in pairs]).reshape(-1, 3)

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
        return np.array(self._match(pairs, (weights, unseen), batch_size, progress)).reshape(-1, 3)

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
    ) -> list[np.ndarray]:
        matched = []
        for start in range(0, len(pairs), PAIRS_AT_ONCE):  # bounds the states that are held at a time
            chunk = pairs[start : start + PAIRS_AT_ONCE]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            states = self.encoder.states(texts, self.layer, batch_size, progress)
            rows = {text: self._row(*state, weights) for text, state in zip(texts, states, strict=True)}
            matched += [_greedy(rows[candidate], rows[reference]) for candidate, reference in chunk]
        return matched

    def _row(self, ids: np.ndarray, states: np.ndarray, weights: tuple[Mapping[int, float], float] | None) -> Row:
        units = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        if weights is None:
            values = np.ones(len(ids))
        else:
            table, unseen = weights
            values = np.array([table.get(token, unseen) for token in ids.tolist()])
        values[np.isin(ids, self._unweighted)] = 0.0  # they are matched with, but do not count
        total = values.sum()
        return units, values / total if total else values


@functools.lru_cache(maxsize=4)
def get_matcher(encoder: Encoder, layer: int) -> Matcher:
    """The matcher of a network and layer, shared within the process together with the pairs that it remembers."""
    return Matcher(encoder, layer)


def _greedy(candidate: Row, reference: Row) -> np.ndarray:
    """Precision, recall and F1 of one pair: each token takes its most similar token on the other side."""
    similarities = np.minimum(candidate[0] @ reference[0].T, 1.0)  # rounding can lift equal tokens above 1
    precision = float(similarities.max(axis=1) @ candidate[1])
    recall = float(similarities.max(axis=0) @ reference[1])
    empty = not candidate[1].any() or not reference[1].any()
    if empty or precision + recall == 0:
        return np.zeros(3) if empty else np.array([precision, recall, 0.0])
    return np.array([precision, recall, 2 * precision * recall / (precision + recall)])
