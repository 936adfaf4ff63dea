"""MAEGE, meta-evaluation without human judgments, of any metric on any M2 file; public as `geceval.maege`."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval import registry
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import References, check_references
from geceval.core.options import check_choice, make_settings
from geceval.core.signature import signature
from geceval.edits.edit import apply, without_overlaps
from geceval.edits.m2 import M2Sentence
from geceval.edits.m2 import references as corrected_texts
from geceval.meta.correlation import Correlation
from geceval.meta.maege_chains import (
    AnnotatedSentence,
    Chain,
    ChainAgreement,
    Corpora,
    Settings,
    chain_agreement,
    corpus_correlation,
    make_chains,
    make_corpora,
    sentence_correlation,
)
from geceval.scorers.base import Scorer
from geceval.scorers.references.gold import gold_facts, gold_sentences

logger = logging.getLogger("geceval")

REFERENCES = ("others", "all")

Request = tuple[str, str, "tuple[str, ...] | None"]
"""What a metric scores: source, prediction, references (`None` if it needs none)."""


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
        settings: Fields of `geceval.meta.maege_chains.Settings`: `norm`, `source`, `max_permutations`, `min_chains`,
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
    targets = _References(sentences, references)
    data = [
        AnnotatedSentence(
            sentence.source, {annotator: without_overlaps(edits) for annotator, edits in sentence.edits.items()}
        )
        for sentence in sentences
    ]
    chains, corpora = make_chains(data, apply, making), make_corpora(data, apply, making)
    line = signature("maege", making, m2=gold_facts(m2)["gold_m2"], refs=targets.kind)
    return {name: _evaluate(scorer, chains, corpora, targets, line) for name, scorer in scorers.items()}


class _References:
    """The references of a sentence for a text made by one of its annotators' edits."""

    def __init__(self, sentences: Sequence[M2Sentence], references: References | str) -> None:
        self.rows: list[list[str]] | None = None
        if isinstance(references, str):
            self.kind = references
            check_choice("references", references, REFERENCES)
            self.texts = list(map(corrected_texts, sentences))
        else:
            self.rows = check_references("maege", references, [sentence.source for sentence in sentences])
            self.kind = f"given@{hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()[:8]}"

    def of(self, sentence: int, annotator: int) -> tuple[str, ...]:
        if self.rows is not None:
            return tuple(self.rows[sentence])
        keep_own = self.kind == "all"
        return tuple(text for other, text in self.texts[sentence].items() if keep_own or other != annotator)


def _evaluate(scorer: Scorer, chains: Sequence[Chain], corpora: Corpora, targets: _References, line: str) -> Maege:
    needed = scorer.needs_references()

    def request(source: str, text: str, sentence: int, annotator: int) -> Request:
        return source, text, targets.of(sentence, annotator) if needed else None

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
        chain=chain_agreement(chains, scores),
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
