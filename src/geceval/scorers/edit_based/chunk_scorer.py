"""The frame of CLEME and CLEME2.0: edits of both sides, joint chunks, weighted counts beside each reference."""

from __future__ import annotations

import abc
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.errors import InputError, named
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, ModelName, PipelineName, check_choice, check_count, check_types
from geceval.core.result import Result
from geceval.core.signature import number_range, package_version, signature
from geceval.edits.cleme_chunks import JointChunks, divide
from geceval.edits.edit import Edit, apply, distinct
from geceval.models.devices import pick_dtype
from geceval.scorers.base import Scorer
from geceval.scorers.bertscore import load_matcher
from geceval.scorers.edit_based.chunk_classes import (
    ASSUMPTIONS,
    COLUMNS,
    LEVELS,
    ChunkClass,
    Weigh,
    classify,
    count,
    length_weights,
    mean_length,
    similarity_weights,
    unit_weight,
)
from geceval.scorers.references.annotator_choice import AVERAGES, best_annotator, choose_by
from geceval.scorers.references.gold import (
    Gold,
    edits_and_gold,
    errant_annotator,
    extraction_facts,
    extracts,
    gold_facts,
    gold_from_m2,
    proposed_from_m2,
)

if TYPE_CHECKING:
    from geceval.models.greedy_matching import Matcher

logger = logging.getLogger("geceval")

WEIGHTS = ("length", "none", "similarity")
BEHAVIOURS = ("paper", "head", "v1")


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Settings that CLEME and CLEME2.0 share; everything that can change the score.

    Attributes:
        assumption: `"dependent"` compares with one reference at a time, `"independent"` chunk by chunk with all.
        weights: `"none"`, `"length"`, or `"similarity"`: how much a chunk changes the BERTScore with the reference.
        average: `"corpus"` (counts of the corpus) or `"sentence"` (means over sentences); each has length weights of
            its own.
        preset: Take the length weights (and for CLEME2.0 the coefficients) of `"corpus"` or `"sentence"`; by default
            those of `average`.
        level: `"correction"`, or `"detection"`, which only asks where something is changed.
        merge_distance: Edits with at most so many tokens between them fall into one chunk.
        drop_unchanged_references: Of several references, leave out those that equal the source.
        drop_identity: Count a chunk that edits leave as it was as one without an edit; by default it is changed.
        behaviour: `"paper"`, `"head"` (the authors' program of 2025, with its defects) or `"v1"` (that of 2023).
        model: Encoder of the similarity: `"bundled"`, a folder, or a Hub id, optionally with `@revision`.
        gold_m2: M2 file with the edits of the references, taken as they are.
        predictions_m2: M2 file with the edits of the predictions, taken as they are.
        nlp: spaCy pipeline for ERRANT, which extracts edits where no file gives them.
    """

    assumption: str = "dependent"
    weights: str = "length"
    average: str = "corpus"
    preset: str | None = None
    level: str = "correction"
    merge_distance: int = 0
    drop_unchanged_references: bool = False
    drop_identity: bool = False
    behaviour: str = "paper"
    model: ModelName = "bundled"
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("assumption", self.assumption, ASSUMPTIONS)
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("average", self.average, AVERAGES)
        check_choice("preset", self.preset, (None, *AVERAGES))
        check_choice("level", self.level, LEVELS)
        check_choice("behaviour", self.behaviour, BEHAVIOURS)
        check_count("merge_distance", self.merge_distance, least=0)


class JointChunkScorer(Scorer):
    """What both metrics do alike; a subclass makes figures of counts and says which reference is the best."""

    extra = "edits"
    figures: ClassVar[tuple[str, ...]]
    details: ClassVar[tuple[str, ...]]

    @abc.abstractmethod
    def of_counts(self, counts: np.ndarray) -> np.ndarray:
        """Figures of counts, `[...][6]` to `[...][figures]`; the first is the score."""

    @abc.abstractmethod
    def corpus_keys(self, counts: np.ndarray) -> tuple[np.ndarray, ...]:
        """By what the reference of a sentence is chosen, from the counts up to it: `[...][6]` to keys, each `[...]`."""

    @abc.abstractmethod
    def sentence_keys(self, figures: np.ndarray) -> tuple[np.ndarray, ...]:
        """By what it is chosen for the sentence alone: `[...][figures]` to keys, each `[...]`."""

    def scores_sentences_alone(self) -> bool:
        """Not with weights by length either: the mean length is that of the corpus."""
        return super().scores_sentences_alone() and self.settings.weights != "length"

    def load(self) -> None:
        """Load the spaCy pipeline and, for weights by similarity, the encoder."""
        if extracts(self.settings):
            errant_annotator(self.settings.nlp)
        if self.settings.weights == "similarity":
            self._matcher()

    def chunks(self, columns: Columns) -> list[JointChunks]:
        """The sentences, divided at the edits of all targets, of which the hypothesis is the first."""
        settings = self.settings
        gold = gold_from_m2(self.name, columns, settings.gold_m2, alternatives=False)
        proposed = proposed_from_m2(self.name, columns, settings.predictions_m2)
        targets = edits_and_gold(settings.nlp, self.runtime, columns, gold, proposed)
        corpus = []
        for row, (edits, others) in enumerate(zip(*targets, strict=True)):
            try:
                corpus.append(self._divide(columns.sources[row], edits, numbered(others)))
            except InputError as error:
                raise InputError(f"{self.name}: sources[{row}]: {error}") from error
        return corpus

    def _score(self, columns: Columns) -> Result:
        corpus = self.chunks(columns)
        counts = self._count(corpus)
        figures = self.of_counts(counts)
        chosen = best_annotator(self.sentence_keys(figures))
        rows = np.arange(len(counts))
        alone = figures[rows, chosen]
        if self.settings.behaviour == "v1":
            alone[np.isnan(alone[:, 0])] = -1.0
        by_corpus = self.settings.average == "corpus"
        if by_corpus:
            _, (total,) = choose_by(counts[None], self._keys)
            whole = self.of_counts(total)
        else:
            total = counts[rows, chosen].sum(axis=0)
            whole = np.ascontiguousarray(alone.T).mean(axis=-1)  # summed in the order of `aggregate`, to the last bit
            if self.settings.behaviour == "v1":
                whole = np.round(whole, 4)  # it rounds as NumPy does here, and as Python does elsewhere
        found = dict(zip((*self.figures, *COLUMNS), map(float, (*whole, *total)), strict=True))
        return Result(
            score=float(whole[0]),
            scores=alone[:, 0].tolist(),
            signature=self._signature(corpus),
            details={name: found[name] for name in self.details},
            statistics=counts if by_corpus else None,
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The score of each sample; references are chosen anew, the weights of chunks are those of the whole corpus."""
        if self.settings.average == "sentence":
            return super().aggregate(rows)
        _, totals = choose_by(rows, self._keys)
        return self.of_counts(totals)[..., 0]

    def _keys(self, before: np.ndarray, options: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.corpus_keys(before + options)

    def _divide(self, source: str, proposed: Sequence[Edit], references: list[Sequence[Edit]]) -> JointChunks:
        settings = self.settings
        targets = [proposed, *references]
        if settings.behaviour == "v1":
            targets = _v1_targets(source, targets)
        else:
            kept = [references[index] for index in used_references(source, references)]
            if settings.drop_unchanged_references and len(kept) > 1:
                same = " ".join(source.split())
                kept = [edits for edits in kept if apply(source, distinct(edits)) != same] or kept[:1]
            targets = [proposed, *kept]
        return divide(source, targets, settings.merge_distance, settings.drop_identity)

    def _count(self, corpus: Sequence[JointChunks]) -> np.ndarray:
        """Weighted counts, `[sentences][references][6]`; NaN where a sentence has fewer references than another."""
        settings = self.settings
        classes = [classify(chunks, settings.assumption, settings.level) for chunks in corpus]
        mean = mean_length(corpus) if settings.weights == "length" else 0.0
        weigh = self._weigh(corpus, classes, mean)
        counts = np.full((len(corpus), max(map(len, classes)), len(COLUMNS)), np.nan)
        for row, (chunks, kinds) in enumerate(zip(corpus, classes, strict=True)):
            counts[row, : len(kinds)] = count(chunks, kinds, weigh)
        return self._without_mean(corpus, counts) if math.isnan(mean) else counts

    def _without_mean(self, corpus: Sequence[JointChunks], counts: np.ndarray) -> np.ndarray:
        """Length weights where no reference changes anything, so that there is no mean to compare with."""
        # The authors' programs weigh by NaN then, and pass over sentences whose F is NaN when they add up a corpus.
        if self.settings.behaviour == "paper":
            logger.warning("%s: no reference changes anything, so every chunk weighs 1", self.name)
            return counts
        if self.settings.average == "corpus":
            counts[[any(text is not None for text in chunks.texts[0]) for chunks in corpus]] *= 0
        weighted = np.ones(len(COLUMNS), bool)
        weighted[COLUMNS.index("tn")] = self.settings.behaviour == "head"
        return np.where(weighted & (counts > 0), np.nan, counts)

    def _weigh(
        self, corpus: Sequence[JointChunks], classes: Sequence[Sequence[Sequence[ChunkClass]]], mean: float
    ) -> Weigh:
        settings = self.settings
        if settings.weights == "similarity":
            return similarity_weights(corpus, classes, self._similarity)
        if settings.weights == "none" or math.isnan(mean):
            return unit_weight
        # The authors' program of 2025 drops the presets that it is given.
        preset = "corpus" if settings.behaviour == "head" else settings.preset or settings.average
        return length_weights(mean, preset, settings.assumption)

    def _matcher(self) -> Matcher:
        with named(self.name):
            return load_matcher(self.settings.model, None, None, self.runtime)

    def _similarity(self, candidates: list[str], references: list[str]) -> np.ndarray:
        return self._matcher().match(candidates, references, self.runtime)[:, 2]

    def _signature(self, corpus: Sequence[JointChunks]) -> str:
        settings, similar = self.settings, self.settings.weights == "similarity"
        facts: dict[str, Any] = {"model": None, "refs": number_range(len(c.texts) - 1 for c in corpus)}
        facts |= extraction_facts(settings)
        if similar:
            matcher = self._matcher()
            facts |= {"model": matcher.name, "layer": matcher.layer, "dtype": pick_dtype(self.runtime)}
            facts["transformers"] = package_version("transformers")
        files = gold_facts(settings.gold_m2) | gold_facts(settings.predictions_m2, "predictions_m2")
        return signature(self.name, settings, **files, **facts)


def numbered(gold: Gold) -> list[Sequence[Edit]]:
    """The edits of all annotators in the order of their numbers, which the authors' program needs without a gap."""
    numbers = sorted(gold)
    if numbers != list(range(len(numbers))):
        raise InputError(
            f"the annotators of this sentence are {', '.join(map(str, numbers))}; number them 0, 1, ..., and give "
            "those who change nothing a noop line"
        )
    return [gold[number] for number in numbers]


def used_references(source: str, references: Sequence[Sequence[Edit]]) -> list[int]:
    """Which references of a sentence count: those whose edits leave a text, or the first if none does."""
    return [index for index, edits in enumerate(references) if not _deletes_all(source, edits)] or [0]


def _deletes_all(source: str, edits: Sequence[Edit]) -> bool:
    """Whether the edits leave no text."""
    return not any(edit.correction for edit in edits) and not apply(source, distinct(edits))


def _v1_targets(source: str, targets: list[Sequence[Edit]]) -> list[Sequence[Edit]]:
    """The targets that the authors' program of 2023 keeps: it drops empty ones, a hypothesis too, while it walks."""
    # After one that is dropped the next is passed over, and two are always kept; the first that is left counts as the
    # hypothesis.
    kept = list(targets)
    index = 0
    while index < len(kept):
        if len(kept) > 2 and _deletes_all(source, kept[index]):
            del kept[index]
        index += 1
    return kept
