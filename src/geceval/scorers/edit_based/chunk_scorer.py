"""The frame of CLEME and CLEME2.0: edits of both sides, joint chunks, weighted counts against each reference."""

import abc
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from geceval.core.errors import InputError, named
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, Language, ModelName, PipelineName, Share
from geceval.core.result import Result
from geceval.core.signature import number_range, package_version, signature
from geceval.edits.cleme_chunks import JointChunks, divide
from geceval.edits.edit import Edit, apply, distinct
from geceval.edits.verdict import DOUBTFUL
from geceval.models.devices import pick_dtype
from geceval.models.greedy_matching import Matcher
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.bertscore import load_matcher
from geceval.scorers.edit_based.chunk_classes import (
    COLUMNS,
    Assumption,
    ChunkClass,
    Level,
    Weigh,
    classify,
    count,
    length_weights,
    mean_length,
    similarity_weights,
    unit_weight,
)
from geceval.scorers.edit_based.valid_edits import ValidEdits, judge_facts, valid_edits
from geceval.scorers.references.annotator_choice import Average, best_annotator, choose_by
from geceval.scorers.references.gold import Gold, annotator_of, compared_edits, extraction_facts, extracts

logger = logging.getLogger("geceval")

ChunkWeights: TypeAlias = Literal["length", "none", "similarity"]


@dataclass(frozen=True, slots=True)
class ChunkSettings(TextOptions):
    """Settings that CLEME and CLEME2.0 share; each can change the score.

    Attributes:
        assumption: `"dependent"` compares with one reference at a time, `"independent"` chunk by chunk with all.
        weights: `"none"`, `"length"`, or `"similarity"`: how much a chunk changes the BERTScore with the reference.
        average: `"corpus"` (counts of the corpus) or `"sentence"` (means over sentences); each has length weights of
            its own.
        level: `"correction"`, or `"detection"`, which only asks where something is changed.
        model: Encoder of the similarity: `"bundled"`, a folder, or a Hub id, optionally with `@revision`.
    """

    assumption: Assumption = "dependent"
    weights: ChunkWeights = "length"
    average: Average = "corpus"
    level: Level = "correction"
    model: ModelName = "bundled"
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    nlp: PipelineName = "bundled"
    language: Language = "en"
    valid_edits: ValidEdits = "references"
    judge_threshold: Share = DOUBTFUL


class JointChunkScorer(Scorer):
    """Weighted counts of joint chunks; a subclass makes figures of them and ranks the references of a sentence."""

    extra = "edits"
    figures: ClassVar[tuple[str, ...]]
    details: ClassVar[tuple[str, ...]]

    @abc.abstractmethod
    def of_counts(self, counts: np.ndarray) -> np.ndarray:
        """Figures of counts, `[...][6]` to `[...][figures]`; the first is the score."""

    @abc.abstractmethod
    def sentence_keys(self, figures: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sort keys of references for the sentence alone: `[...][figures]` to keys, each `[...]`."""

    def preset(self) -> str:
        """The level whose length weights are taken."""
        return self.settings.average

    def scores_sentences_alone(self) -> bool:
        """False with weights by length, too: the mean length is that of the corpus."""
        return super().scores_sentences_alone() and self.settings.weights != "length"

    def _load(self) -> None:
        if extracts(self.settings):
            annotator_of(self.settings)
        if self.settings.weights == "similarity":
            self._matcher()

    def chunks(self, columns: Columns) -> list[JointChunks]:
        """The sentences, divided at the edits of all targets, of which the hypothesis is the first."""
        targets = compared_edits(self.name, self.settings, self.runtime, columns, alternatives=False)
        corpus = []
        for row, (edits, references) in enumerate(zip(*targets, strict=True)):
            try:
                corpus.append(divide_beside(columns.sources[row], edits, references)[0])
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
        by_corpus = self.settings.average == "corpus"
        if by_corpus:
            _, (total,) = choose_by(counts[None], self._corpus_keys)
            whole = self.of_counts(total)
        else:
            total = counts[rows, chosen].sum(axis=0)
            whole = np.ascontiguousarray(alone.T).mean(axis=-1)  # summed in the order of `aggregate`, to the last bit
        values = dict(zip((*self.figures, *COLUMNS), map(float, (*whole, *total)), strict=True))
        return Result(
            score=float(whole[0]),
            scores=alone[:, 0].tolist(),
            signature=self._signature(corpus),
            details={name: values[name] for name in self.details},
            statistics=counts if by_corpus else None,
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """The score of each sample; references are chosen anew, the weights of chunks are those of the whole corpus."""
        if self.settings.average == "sentence":
            return super().aggregate(rows)
        _, totals = choose_by(rows, self._corpus_keys)
        return self.of_counts(totals)[..., 0]

    def _corpus_keys(self, before: np.ndarray, options: np.ndarray) -> tuple[np.ndarray, ...]:
        """The score up to this sentence, then more hits, fewer false alarms, fewer misses, more unchanged chunks."""
        counts = before + options
        tp, fp, fn, tn = np.moveaxis(counts[..., :4], -1, 0)
        return self.of_counts(counts)[..., 0], tp, -fp, -fn, tn

    def _count(self, corpus: Sequence[JointChunks]) -> np.ndarray:
        """Weighted counts, `[sentences][references][6]`; NaN where a sentence has fewer references than another."""
        classes = [classify(chunks, self.settings.assumption, self.settings.level) for chunks in corpus]
        self._acquit(corpus, classes)
        weigh = self._weigh(corpus, classes)
        counts = np.full((len(corpus), max(map(len, classes)), len(COLUMNS)), np.nan)
        for row, (chunks, kinds) in enumerate(zip(corpus, classes, strict=True)):
            counts[row, : len(kinds)] = count(chunks, kinds, weigh)
        return counts

    def _acquit(self, corpus: Sequence[JointChunks], classes: Sequence[list[list[ChunkClass]]]) -> None:
        """Make false positives that the judge finds right valid."""
        edits = [
            [
                Edit(*span, " ".join(text))
                for span, text in zip(each.spans, each.texts[0], strict=True)
                if text is not None
            ]
            for each in corpus
        ]
        right = valid_edits(self.settings, self.runtime, [" ".join(each.source) for each in corpus], edits)
        for rows, each, valid in zip(classes, corpus, right, strict=True):
            for index in {each.spans.index((edit.start, edit.end)) for edit in valid}:
                for kinds in rows:
                    if kinds[index] in (ChunkClass.WRONG, ChunkClass.UNNECESSARY):
                        kinds[index] = ChunkClass.VALID

    def _weigh(self, corpus: Sequence[JointChunks], classes: Sequence[Sequence[Sequence[ChunkClass]]]) -> Weigh:
        if self.settings.weights == "similarity":
            return similarity_weights(corpus, classes, self._similarity)
        if self.settings.weights == "length":
            mean = mean_length(corpus)
            if mean is not None:
                return length_weights(mean, self.preset(), self.settings.assumption)
            logger.warning("%s: no reference changes anything, so every chunk weighs 1", self.name)
        return unit_weight

    def _matcher(self) -> Matcher:
        with named(self.name):
            return load_matcher(self.settings.model, None, None, self.runtime)

    def _similarity(self, candidates: list[str], references: list[str]) -> np.ndarray:
        return self._matcher().match(candidates, references, self.runtime)[:, 2]

    def _signature(self, corpus: Sequence[JointChunks]) -> str:
        facts: dict[str, Any] = {"model": None, "refs": number_range(len(c.texts) - 1 for c in corpus)}
        facts |= extraction_facts(self.settings) | judge_facts(self.settings, self.runtime)
        if self.settings.weights == "similarity":
            matcher = self._matcher()
            facts |= {"model": matcher.name, "layer": matcher.layer, "dtype": pick_dtype(self.runtime)}
            facts["transformers"] = package_version("transformers")
        return signature(self.name, self.settings, **facts)


def divide_beside(source: str, edits: Sequence[Edit], gold: Gold) -> tuple[JointChunks, list[int]]:
    """A sentence divided at the edits of a hypothesis and of the references that count, and the latters' numbers."""
    numbers = sorted(gold)
    if numbers != list(range(len(numbers))):
        raise InputError(
            f"the annotators of this sentence are {', '.join(map(str, numbers))}; number them 0, 1, ..., and give "
            "those who change nothing a noop line"
        )
    # As in the authors' program of 2025, references without text are left out, but the first if none has any.
    used = [number for number in numbers if not _deletes_all(source, gold[number])] or [0]
    return divide(source, [edits, *(gold[number] for number in used)]), used


def _deletes_all(source: str, edits: Sequence[Edit]) -> bool:
    return not any(edit.correction for edit in edits) and not apply(source, distinct(edits))
