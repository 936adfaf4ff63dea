"""MAEGE: meta-evaluation without human judgments (Choshen and Abend 2018), from scores of chains and corpora."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.correlation import Correlation, correlate
from geceval.meta.maege_chains import Chain, Corpora


@dataclass(frozen=True, slots=True)
class ChainAgreement:
    """How often a metric prefers the text with more edits, over all pairs of texts of one chain."""

    kendall: float
    kendall_without_ties: float
    pairs: int
    discordant: int
    tie_share: float
    p: float


def sentence_correlation(chains: Sequence[Chain], scores: Sequence[Sequence[float]]) -> Correlation:
    """Correlation of scores and pseudo scores over all texts of all chains; a text of several chains counts in each."""
    flat = _flat(chains, scores)
    return correlate(flat, [value for chain in chains for value in chain.pseudo])


def chain_agreement(chains: Sequence[Chain], scores: Sequence[Sequence[float]]) -> ChainAgreement:
    """Agreement within the chains; arguments and errors as in `sentence_correlation`."""
    # With N pairs of which d are discordant, z = 2d / √N - √N.
    _flat(chains, scores)
    pairs = discordant = tied = 0
    for row in scores:
        values = np.asarray(row, dtype=float)
        earlier, later = np.triu_indices(len(values), k=1)
        gain = values[later] - values[earlier]
        pairs += len(gain)
        discordant += int((gain < 0).sum())
        tied += int((gain == 0).sum())
    decided = pairs - tied
    z = 2 * discordant / math.sqrt(pairs) - math.sqrt(pairs)
    return ChainAgreement(
        kendall=1 - 2 * discordant / pairs,
        kendall_without_ties=1 - 2 * discordant / decided if decided else math.nan,
        pairs=pairs,
        discordant=discordant,
        tie_share=tied / pairs,
        p=math.erfc(abs(z) / math.sqrt(2)),
    )


def corpus_correlation(corpora: Corpora, scores: Sequence[float]) -> Correlation:
    """Correlation of corpus scores with the edits per sentence that the corpora aim at."""
    if not np.isfinite(scores).all():
        raise InputError(f"corpus {int(np.flatnonzero(~np.isfinite(scores))[0])} has no finite score")
    return correlate(scores, corpora.targets)


def _flat(chains: Sequence[Chain], scores: Sequence[Sequence[float]]) -> list[float]:
    if [len(chain.texts) for chain in chains] != [len(row) for row in scores]:
        raise InputError("scores do not fit the chains; pass one list per chain with one score per text")
    for number, row in enumerate(scores):
        if not np.isfinite(row).all():
            raise InputError(f"chain {number} has a text without a finite score")
    return [value for row in scores for value in row]
