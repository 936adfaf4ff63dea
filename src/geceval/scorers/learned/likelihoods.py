"""Log-likelihoods of corrections under a causal language model, finite for any text; and the metrics that take them."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models.tokenizers import detokenize
from geceval.scorers.learned.read_ahead import ReadAheadScorer

if TYPE_CHECKING:
    from geceval.models.causal import CausalModel


class LikelihoodScorer(ReadAheadScorer):
    """A metric of texts under a causal language model, which reads those of several systems together."""

    # Most of them begin alike, and what they share is computed once, see `geceval.models.prefix_trees`.

    @abc.abstractmethod
    def _texts(self, sources: Sequence[str], predictions: Sequence[str]) -> list[str]:
        """Which texts the model reads to score a system."""

    def _and_ahead(self, texts: Sequence[str], sources: Sequence[str], model: CausalModel) -> list[str]:
        """The texts and, the first time, those of all systems behind them, unless the model cannot remember as many."""
        ahead = dict.fromkeys(self._texts(*self._rows_of_systems(sources)))
        return [*texts, *ahead] if len(ahead) <= model.cached_texts else list(texts)


def log_likelihoods(
    model: CausalModel, texts: Sequence[str], runtime: RunTime, as_prose: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sum of log P(token | before) over each text, how many tokens it has, and the value of the model's head."""
    # A text without words has one token, the end: its log-likelihood is log P(end | start). Of a text that is too long
    # for the model, what lies beyond is taken to be as probable as what was read.
    read = prose(texts) if as_prose else [text if text.split() else "" for text in texts]
    rows, heads = model.log_probs_and_heads(read, runtime)
    totals = np.array([row.sum(dtype=np.float64) for row in rows])
    counts = np.array([len(row) for row in rows])
    empty = counts == 0
    if empty.any():
        totals[empty], counts[empty] = model.end_log_prob(), 1
    long = np.flatnonzero(counts + 1 == model.max_length)  # all that were cut
    if long.size:
        whole = np.array(model.token_counts([read[index] for index in long]))
        totals[long] *= whole / counts[long]
        counts[long] = whole
    bad = np.flatnonzero(~np.isfinite(totals))
    if bad.size:
        raise InputError(
            f"{model.name}: the log-likelihood of {texts[bad[0]][:60]!r} is {totals[bad[0]]}; use dtype='float32', or "
            "another model"
        )
    return totals, counts, heads


def prose(texts: Sequence[str]) -> list[str]:
    """Texts without the spaces of tokenisation; one without words is empty."""
    return [detokenize(text) if text.split() else "" for text in texts]


def word_counts(texts: Sequence[str]) -> np.ndarray:
    """How many words each text has, of those that white space separates; at least 1: int [texts]."""
    return np.array([max(1, len(text.split())) for text in texts])
