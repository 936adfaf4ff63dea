"""Log-likelihoods of texts under a causal language model, finite for any text; unigrams; the metrics that read them."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.errors import NotFiniteError
from geceval.core.files import read_text
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.devices import network_facts
from geceval.scorers.learned.guarded import GuardedReader
from geceval.text.tokenisers import detokenise
from geceval.text.unigrams import COUNTS, read_counts

_WORD = re.compile(r"n't|'(?:s|re|ve|ll|d|m)\b|[^\W_]+?(?=n't\b)|[^\W_]+|[^\w\s]|_")


class LikelihoodScorer(GuardedReader):
    """A metric that reads texts with the causal language model `settings.model`."""

    # Texts of several systems begin alike, and what they share is computed once, see `geceval.models.prefix_trees`.

    network = CausalModel
    bounds = (None, None)

    _checkpoint: Checkpoint
    _model: CausalModel | None = None

    def _load(self) -> None:
        if self._model is None:
            self._checkpoint = resolve(self.settings.model, bundled=self.name)  # an error where none is bundled
            self._model = CausalModel.load(self._checkpoint, self.runtime, self.settings.max_length)

    def _facts(self) -> dict[str, Any]:
        """Facts of the model for the signature."""
        model = self._model
        facts = {"model": model.name, "start": model.start_token, "max_length": model.max_length}
        facts["guard"] = self._guard_facts()
        return {**facts, **network_facts(self.runtime)}


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
        raise NotFiniteError(
            f"{model.name}: the log-likelihood of {texts[bad[0]][:60]!r} is {totals[bad[0]]}; use dtype='float32', or "
            "another model"
        )
    return totals, counts, heads


def slor(model: CausalModel, texts: Sequence[str], runtime: RunTime, as_prose: bool = True) -> np.ndarray:
    """(LL - U) / n: LL the log-likelihood, U the sum of the unigram log-probabilities, n the words: float64 [texts]."""
    totals, _, _ = log_likelihoods(model, texts, runtime, as_prose)
    unigrams = load_unigrams()
    return (totals - [unigrams.log_probability(text) for text in texts]) / word_counts(texts)


def prose(texts: Sequence[str]) -> list[str]:
    """Texts without the spaces of tokenisation; one without words is empty."""
    return [detokenise(text) if text.split() else "" for text in texts]


def word_counts(texts: Sequence[str]) -> np.ndarray:
    """The number of words of each text, separated by white space; at least 1: int [texts]."""
    return np.array([max(1, len(text.split())) for text in texts])


@dataclass(frozen=True, slots=True)
class Unigrams:
    """Counts of the words of a corpus."""

    name: str
    counts: Mapping[str, int]
    log_total: float

    def log_probability(self, text: str) -> float:
        """The sum over the words of a text, 0 without any; a word that does not occur counts as seen once."""
        return math.fsum(math.log(self.counts.get(word, 1)) - self.log_total for word in words(text))


def words(text: str) -> list[str]:
    """The words of a text in lower case: runs of letters and digits, contractions, each other character but spaces."""
    # `Don't` and `do n't` alike are `do` and `n't`: tokenised or not, a text has the same words.
    return _WORD.findall(text.lower().replace("\u2019", "'"))


@lru_cache(1)
def load_unigrams(path: Path = COUNTS) -> Unigrams:
    """The bundled counts, or those of another file: a word, a tab and a number in each line."""
    counts, digest = read_counts(path), hashlib.sha256(read_text(path).encode()).hexdigest()[:7]
    return Unigrams(f"bundled@{digest}", counts, math.log(sum(counts.values())))
