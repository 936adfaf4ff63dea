"""MAEGE (Choshen and Abend 2018), meta-evaluation without human judgments; public as `geceval.maege`.

Texts get better edit by edit, those of any M2 file; a good metric scores them ever higher.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import References, check_references
from geceval.core.options import Options, Range, Seed, check_choice, make_settings
from geceval.core.signature import signature
from geceval.edits.edit import Edit, apply, without_overlaps
from geceval.edits.m2 import M2Sentence
from geceval.edits.m2 import references as corrected_texts
from geceval.meta.correlation import Correlation, correlate
from geceval.scorers.base import Scorer
from geceval.scorers.references.gold import gold_facts, gold_sentences

logger = logging.getLogger("geceval")

REFERENCES = ("others", "all")
Norm = Literal["words", "chars"]
Source = Literal["rand", "source", "ref"]
Thousand = Annotated[int, Range(1, 1000)]
_SHORT = 300  # characters; a longer text with more than one full stop is taken for several sentences

Request = tuple[str, str, "tuple[str, ...] | None"]
"""What a metric scores: source, prediction, references (`None` if it needs none)."""


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
class ChainAgreement:
    """Agreement of a metric with the number of edits, over all pairs of texts of one chain."""

    kendall: float
    kendall_without_ties: float
    pairs: int
    discordant: int
    tie_share: float
    p: float


@dataclass(frozen=True, slots=True)
class Maege:
    """The results of one metric.

    Attributes:
        metric: Its name.
        corpus: Correlation of its corpus scores with the edits per sentence.
        sentence: Correlation of its sentence scores with the pseudo scores.
        chain: Agreement within the chains.
        corpus_scores: Its score of each corpus, those with fewer edits first.
        lines: Number of lines in each corpus.
        chains: Number of chains.
        texts: Number of texts in the chains.
        scored: Number of distinct texts that were scored, with their references.
        signature: How the scores were computed.
        data: How the chains and corpora were made, in one line.
    """

    metric: str
    corpus: Correlation
    sentence: Correlation
    chain: ChainAgreement
    corpus_scores: list[float]
    lines: int
    chains: int
    texts: int
    scored: int
    signature: str
    data: str


def maege(
    metrics: str | Sequence[str],
    m2: str | Path,
    references: References | str = "others",
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **settings: Any,
) -> dict[str, Maege]:
    """Meta-evaluate metrics without human judgments (Choshen and Abend 2018).

    Each metric scores every distinct (source, text), with the same references, once; corpus scores follow from that
    (see `geceval.scorers.base.Scorer.aggregate`).

    Args:
        metrics: One or more of `geceval.list_metrics()`.
        m2: M2 file with the edits; of overlapping edits the first is applied, and of alternatives the first.
        references: For metrics that need them. `"others"`: the texts of the annotators of the file other than the one
            whose edits are applied; lines of the corpora that have none are then left out for these metrics. `"all"`:
            the texts of all annotators, so that a fully corrected text is its own reference. Or references by further
            annotators, as in the paper: one list per sentence of the file.
        options: Metric to its settings and run-time options.
        settings: Fields of `geceval.workflows.maege.Settings`: `norm`, `source`, `max_permutations`, `min_chains`,
            `max_edits`, `seed`.

    Returns:
        Metric to its results.

    Raises:
        OSError: If the file cannot be read.
        TypeError: If an option does not exist.
        ValueError: If the file is not M2 or no sentence of it qualifies, or an option has a bad value.
    """
    making = make_settings("maege", Settings, settings)
    scorers = registry.make_scorers("maege", metrics, options)
    for name, scorer in scorers.items():
        if (file := scorer.m2_file()) is not None:
            raise InputError(f"{name}: maege makes texts of its own, which no {file} fits; pass references instead")
    if not isinstance(m2, (str, Path)):
        raise InputTypeError(f"maege: m2 must be the path of an M2 file, got {type(m2).__name__}")
    sentences = gold_sentences(m2)
    targets, kind = _targets(sentences, references)
    data = [
        replace(sentence, edits={annotator: without_overlaps(edits) for annotator, edits in sentence.edits.items()})
        for sentence in sentences
    ]
    chains, corpora = make_chains(data, making), make_corpora(data, making)
    line = signature("maege", making, m2=gold_facts(m2)["gold_m2"], refs=kind)
    return {name: _evaluate(scorer, chains, corpora, targets, line) for name, scorer in scorers.items()}


def _targets(
    sentences: Sequence[M2Sentence], references: References | str
) -> tuple[list[dict[int, tuple[str, ...]]], str]:
    """The references of each sentence for a text made by an annotator's edits; and where they are from, in a word."""
    if isinstance(references, str):
        check_choice("references", references, REFERENCES)
        everything = [corrected_texts(sentence) for sentence in sentences]
        return [
            {own: tuple(text for other, text in row.items() if references == "all" or other != own) for own in row}
            for row in everything
        ], references
    rows = check_references("maege", references, [sentence.source for sentence in sentences])
    given = [dict.fromkeys(sentence.edits, tuple(row)) for sentence, row in zip(sentences, rows, strict=True)]
    return given, f"given@{hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:8]}"


def _evaluate(
    scorer: Scorer,
    chains: Sequence[Chain],
    corpora: Corpora,
    targets: Sequence[Mapping[int, tuple[str, ...]]],
    line: str,
) -> Maege:
    needed = scorer.needs_references()

    def request(source: str, text: str, sentence: int, annotator: int) -> Request:
        return source, text, targets[sentence][annotator] if needed else None

    in_chains = [
        [request(chain.source, text, chain.sentence, chain.annotator) for text in chain.texts] for chain in chains
    ]
    in_corpora = _corpus_requests(corpora, request)
    lonely = next((chain for chain, row in zip(chains, in_chains, strict=True) if row[0][2] == ()), None)
    if lonely is not None:
        raise InputError(
            f"{scorer.name}: sentence {lonely.sentence} has no annotator but {lonely.annotator} to take references "
            "from; pass references of other annotators, or references='all'"
        )
    requests = list(dict.fromkeys(each for row in [*in_corpora, *in_chains] for each in row))
    index = {each: number for number, each in enumerate(requests)}
    sources, texts, references = (list(column) for column in zip(*requests, strict=True))
    result = scorer.score(sources, texts, [list(row) for row in references] if needed else None)
    rows = result.rows()
    corpus_scores = [float(scorer.aggregate(rows[None, [index[each] for each in row]])[0]) for row in in_corpora]
    scores = [[result.scores[index[each]] for each in row] for row in in_chains]
    sign = 1 if scorer.higher_is_better else -1
    scores = [[sign * value for value in row] for row in scores]
    return Maege(
        metric=scorer.name,
        corpus=corpus_correlation(corpora, [sign * value for value in corpus_scores]),
        sentence=sentence_correlation(chains, scores),
        chain=chain_agreement(scores),
        corpus_scores=corpus_scores,
        lines=len(in_corpora[0]),
        chains=len(chains),
        texts=sum(map(len, scores)),
        scored=len(requests),
        signature=result.signature,
        data=line,
    )


def _corpus_requests(corpora: Corpora, request: Callable[[str, str, int, int], Request]) -> list[list[Request]]:
    """The requests of each corpus, without the lines that lack a reference in some corpus."""
    rows = [
        [request(*line) for line in zip(corpora.sources, texts, corpora.sentences, annotators, strict=True)]
        for texts, annotators in zip(corpora.texts, corpora.annotators, strict=True)
    ]
    usable = [line for line in range(len(rows[0])) if all(row[line][2] != () for row in rows)]
    if not usable:
        raise InputError(
            "maege: no sentence has two annotators; pass references of other annotators, or references='all'"
        )
    if len(usable) < len(rows[0]):
        logger.info("maege: %d of %d lines have references of others", len(usable), len(rows[0]))
    return [[row[line] for line in usable] for row in rows]


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


def make_chains(sentences: Sequence[M2Sentence], settings: Settings | None = None) -> list[Chain]:
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


def make_corpora(sentences: Sequence[M2Sentence], settings: Settings | None = None) -> Corpora:
    """Corpora with 0, 1, ..., `max_edits` edits per sentence, as far as the annotators made that many."""
    # For k > 0 the number of edits of a sentence is binomial, with ⌊k / p⌋ trials and p = (k - .9) / k as in the
    # published code, so that the expected numbers are 1, 1.65, 2.8, 3.875 ...; a sentence with fewer edits gets them
    # all. Annotator and order are drawn anew for each corpus. Sentences that an annotator left unchanged are left out.
    settings = settings or Settings()
    lines = [number for number, sentence in enumerate(sentences) if _has_edits(sentence)]
    if not lines:
        raise InputError(f"none of the {len(sentences)} sentences has edits of all its annotators")
    draw, numbers = random.Random(settings.seed), np.random.RandomState(settings.seed)
    texts, annotators = [], []
    for target in range(settings.max_edits + 1):
        share = (target - 0.9) / target if target else 0.0
        counts = numbers.binomial(int(target / share), share, len(lines)) if target else np.zeros(len(lines), dtype=int)
        rows, owners = [], []
        for number, count in zip(lines, counts.tolist(), strict=True):
            annotator = draw.choice(list(sentences[number].edits))
            edits = list(dict.fromkeys(sentences[number].edits[annotator]))
            rows.append(apply(sentences[number].source, draw.sample(edits, min(count, len(edits)))))
            owners.append(annotator)
        texts.append(tuple(rows))
        annotators.append(tuple(owners))
    corpus = {"source": lambda: 0, "ref": lambda: len(texts) - 1, "rand": lambda: draw.randrange(len(texts))}
    shown = tuple(texts[corpus[settings.source]()][row] for row in range(len(lines)))
    return Corpora(tuple(lines), shown, tuple(texts), tuple(annotators))


def _is_several(text: str) -> bool:
    return len(text) > _SHORT and text.count(".") > 1


def _has_edits(sentence: M2Sentence) -> bool:
    return bool(sentence.edits) and all(len(edits) > 0 for edits in sentence.edits.values())


def _orders(edits: list[Edit], most: int, draw: random.Random) -> list[list[Edit]]:
    if math.factorial(len(edits)) < most:
        return [list(order) for order in itertools.permutations(edits)]
    return [draw.sample(edits, len(edits)) for _ in range(most)]


def _pseudo_scores(source: str, edits: int, fewest: int, norm: str) -> tuple[float, ...]:
    if norm == "words":
        words = max(len(source.split()), 1)
        return tuple(1 - (edits - made) / words for made in range(edits + 1))
    start = 1 - (fewest + 1) / max(len(source), 1)
    return tuple(np.linspace(start, 1, edits + 1).tolist())


def sentence_correlation(chains: Sequence[Chain], scores: Sequence[Sequence[float]]) -> Correlation:
    """Correlation of scores and pseudo scores over all texts of all chains; a text of several chains counts in each."""
    for number, row in enumerate(scores):
        if not np.isfinite(row).all():
            raise InputError(f"chain {number} has a text without a finite score")
    flat = [value for row in scores for value in row]
    return correlate(flat, [value for chain in chains for value in chain.pseudo])


def chain_agreement(scores: Sequence[Sequence[float]]) -> ChainAgreement:
    """Agreement within the chains, of which each row has the scores."""
    # With N pairs of which d are discordant, z = 2d / √N - √N.
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
    return correlate(scores, range(len(corpora.texts)))
