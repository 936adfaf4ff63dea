"""MAEGE (Choshen and Abend 2018): texts that get better edit by edit, which a good metric scores ever higher."""

import itertools
import math
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import Options, Range, Seed
from geceval.meta.correlation import Correlation, correlate

Norm = Literal["words", "chars"]
Source = Literal["rand", "source", "ref"]
Thousand = Annotated[int, Range(1, 1000)]
_SHORT = 300  # characters; a longer text with more than one full stop is taken for several sentences

Apply = Callable[[str, Sequence[Hashable]], str]
"""Applies some of the edits of a sentence."""


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of the chains and corpora.

    Attributes:
        norm: Pseudo score of a text with r of its annotator's edits not yet applied. `"words"`: 1 - r / words of the
            source. `"chars"`, as in the published code: evenly spaced from 1 - c / characters of the source to 1, where
            c is one more than the smallest number of edits that an annotator of the sentence made.
        source: The source that metrics see: `"rand"`, one random text of the chain for all its texts (the published
            default), `"source"`, the learner's text, or `"ref"`, the corrected one. All corpora share theirs.
        max_permutations: The largest number of orders in which an annotator's n edits are applied: all n! orders if
            there are fewer, else random ones, which may repeat.
        min_chains: Sentences with fewer chains are left out at chain and sentence level. The published code requires 2,
            which no sentence with a single annotator has.
        max_edits: The corpora aim at 0, 1, ..., `max_edits` edits per sentence.
        seed: Seed of all random choices.
    """

    norm: Norm = "words"
    source: Source = "rand"
    max_permutations: Thousand = 1
    min_chains: Thousand = 2
    max_edits: Thousand = 10
    seed: Seed = 1


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """A sentence with the edits of its annotators."""

    source: str
    edits: Mapping[int, Sequence[Hashable]]


@dataclass(frozen=True, slots=True)
class Chain:
    """A sentence that gets better edit by edit."""

    sentence: int
    annotator: int
    source: str
    texts: tuple[str, ...]
    pseudo: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Corpora:
    """Versions of one corpus with more and more edits."""

    sentences: tuple[int, ...]
    sources: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    annotators: tuple[tuple[int, ...], ...]
    targets: tuple[int, ...]
    edits: tuple[float, ...]


def make_chains(sentences: Sequence[AnnotatedSentence], apply: Apply, settings: Settings | None = None) -> list[Chain]:
    """Chains of all sentences that qualify."""
    # Lines that seem to hold several sentences (over 300 characters and more than one full stop), sentences that an
    # annotator left unchanged, and those with fewer than `min_chains` chains are left out.
    settings = settings or Settings()
    draw = random.Random(settings.seed)
    chains: list[Chain] = []
    for number, sentence in enumerate(sentences):
        if _is_several(sentence.source) or not _has_edits(sentence):
            continue
        orders = [
            (annotator, order)
            for annotator, edits in sentence.edits.items()
            for order in _orders(list(dict.fromkeys(edits)), settings.max_permutations, draw)
        ]
        if len(orders) < settings.min_chains:
            continue
        fewest = min(len(order) for _, order in orders)
        for annotator, order in orders:
            texts = tuple(apply(sentence.source, order[:count]) for count in range(len(order) + 1))
            shown = {"source": texts[0], "ref": texts[-1], "rand": draw.choice(texts)}[settings.source]
            pseudo = _pseudo_scores(sentence.source, len(order), fewest, settings.norm)
            chains.append(Chain(number, annotator, shown, texts, pseudo))
    if not chains:
        advice = "; data of one annotator need min_chains=1 (--min-chains 1)" if settings.min_chains > 1 else ""
        raise InputError(f"none of the {len(sentences)} sentences gives {settings.min_chains} chains{advice}")
    return chains


def make_corpora(sentences: Sequence[AnnotatedSentence], apply: Apply, settings: Settings | None = None) -> Corpora:
    """Corpora with 0, 1, ..., `max_edits` edits per sentence, as far as the annotators made that many."""
    # For k > 0 the number of edits of a sentence is binomial, with ⌊k / p⌋ trials and p = (k - .9) / k as in the
    # published code, so that the expected numbers are 1, 1.65, 2.8, 3.875 ...; a sentence with fewer edits gets them
    # all. Annotator and order are drawn anew for each corpus. Sentences that an annotator left unchanged are left out.
    settings = settings or Settings()
    lines = [number for number, sentence in enumerate(sentences) if _has_edits(sentence)]
    if not lines:
        raise InputError(f"none of the {len(sentences)} sentences has edits of all its annotators")
    draw, numbers = random.Random(settings.seed), np.random.RandomState(settings.seed)
    targets = range(settings.max_edits + 1)
    texts, annotators, means = [], [], []
    for target in targets:
        share = (target - 0.9) / target if target else 0.0
        counts = numbers.binomial(int(target / share), share, len(lines)) if target else np.zeros(len(lines), dtype=int)
        rows, owners, applied = [], [], 0
        for number, count in zip(lines, counts.tolist(), strict=True):
            annotator = draw.choice(list(sentences[number].edits))
            edits = list(dict.fromkeys(sentences[number].edits[annotator]))
            chosen = draw.sample(edits, min(count, len(edits)))
            rows.append(apply(sentences[number].source, chosen))
            owners.append(annotator)
            applied += len(chosen)
        texts.append(tuple(rows))
        annotators.append(tuple(owners))
        means.append(applied / len(lines))
    corpus = {"source": lambda: 0, "ref": lambda: len(texts) - 1, "rand": lambda: draw.randrange(len(texts))}
    shown = tuple(texts[corpus[settings.source]()][row] for row in range(len(lines)))
    return Corpora(tuple(lines), shown, tuple(texts), tuple(annotators), tuple(targets), tuple(means))


def _is_several(text: str) -> bool:
    return len(text) > _SHORT and text.count(".") > 1


def _has_edits(sentence: AnnotatedSentence) -> bool:
    return bool(sentence.edits) and all(len(edits) > 0 for edits in sentence.edits.values())


def _orders(edits: list[Hashable], most: int, draw: random.Random) -> list[list[Hashable]]:
    if math.factorial(len(edits)) < most:
        return [list(order) for order in itertools.permutations(edits)]
    return [draw.sample(edits, len(edits)) for _ in range(most)]


def _pseudo_scores(source: str, edits: int, fewest: int, norm: str) -> tuple[float, ...]:
    if norm == "words":
        words = max(len(source.split()), 1)
        return tuple(1 - (edits - made) / words for made in range(edits + 1))
    start = 1 - (fewest + 1) / max(len(source), 1)
    return tuple(np.linspace(start, 1, edits + 1).tolist())


@dataclass(frozen=True, slots=True)
class ChainAgreement:
    """Agreement of a metric with the number of edits, over all pairs of texts of one chain."""

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
