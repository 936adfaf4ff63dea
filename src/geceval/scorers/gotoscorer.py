"""GoToScorer: edit counts weighted by how hard each correction is.

Gotou, Nagata, Mita and Hanawa (COLING 2020), "Taking the Correction Difficulty into Account in Grammatical Error
Correction Evaluation".
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError
from geceval.core.inputs import Columns, References
from geceval.core.options import (
    FilePath,
    PipelineName,
    check_choice,
    check_count,
    check_moderate,
    check_positive,
    check_types,
)
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.edits.edit import distinct
from geceval.edits.gotoscorer_chunks import Chunk, cut
from geceval.scorers.base import Scorer
from geceval.scorers.difficulty.chunk_counts import ChunkCounts, count_chunks
from geceval.scorers.difficulty.chunk_weights import UNIFORM, Difficulty, given_difficulty
from geceval.scorers.difficulty.reference_chunks import (
    choose_reference,
    chunks_of_m2,
    classify,
    count_systems,
    cut_predictions,
    cut_texts,
    only_references,
)
from geceval.scorers.difficulty.report import DifficultyReport
from geceval.scorers.references.annotator_choice import AVERAGES
from geceval.scorers.references.gold import errant_annotator, extraction_facts, extracts, gold_facts, proposed_from_m2

logger = logging.getLogger("geceval")

_NO_WEIGHTS = (
    "gotoscorer: every chunk weighs the same, because nothing says how hard it is; pass weights=FILE (see `geceval "
    "weights`) or systems=[predictions of all systems], or weights='uniform' if you mean it"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change the number.

    Attributes:
        beta: Weight of recall in F; GEC uses 0.5.
        average: `"corpus"` (F of the summed counts) or `"sentence"` (mean of the sentences' F).
        weights: A weight file, a `Difficulty`, or `"uniform"` (every chunk weighs 1).
        systems: Instead of `weights`: predictions of all systems that define the difficulty, one list per system.
        gold_m2: An M2 file with the reference's edits, used as they are, instead of `references`.
        predictions_m2: An M2 file with the edits of the predictions, used as they are. `weights` must then say how hard
            each correction is.
        ref_id: Which reference to use: the annotator of `gold_m2`, or the index in each list of `references`.
            `None` takes all, and for each sentence the one with the best F.
        a: Parameter of the weight a - (correct + b) / (systems + c).
        b: See `a`.
        c: See `a`.
        covered_insertion: See `geceval.edits.gotoscorer_chunks.judge`.
        zero_division: Precision if nothing was proposed, and recall if there was nothing to find: 0 as in the
            authors' program or 1 as in the other metrics of GEC.
        nlp: The spaCy pipeline behind ERRANT, see `geceval.edits.errant.annotator.get_annotator`.
    """

    beta: float = 0.5
    average: str = "corpus"
    weights: FilePath | Difficulty | None = None
    systems: Sequence[Sequence[str]] | None = None
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    ref_id: int | None = None
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    covered_insertion: str = "wrong"
    zero_division: int = 0
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        check_types(self)
        check_positive("beta", self.beta)
        check_choice("average", self.average, AVERAGES)
        check_choice("covered_insertion", self.covered_insertion, ("wrong", "correct"))
        check_choice("zero_division", self.zero_division, (0, 1))
        if self.weights is not None and self.systems is not None:
            raise InputError("weights and systems both define the difficulty; pass one of them")
        if self.predictions_m2 is not None and self.weights is None:
            raise InputError(
                "predictions_m2 has the edits of one system; pass weights=FILE or weights='uniform' with it"
            )
        if self.ref_id is not None:
            check_count("ref_id", self.ref_id, least=0)
        for name in ("a", "b", "c"):
            check_moderate(name, getattr(self, name))


class Gotoscorer(Scorer):
    """GoToScorer on ERRANT edits of the predictions.

    The score is F_beta; the details are precision, recall, f, f1, accuracy, the weighted counts tp, fp, fn, tn, and
    `systems`, the number of systems that define the weights (0 if uniform).
    """

    name = "gotoscorer"
    description = "F-score of edits that counts hard corrections for more, as several systems find them hard."
    extra = "edits"
    Settings = Settings

    def scores_sentences_alone(self) -> bool:
        """Only with uniform weights: others belong to the sentences of one corpus, in their order."""
        return super().scores_sentences_alone() and self.settings.weights == UNIFORM

    def load(self) -> None:
        """Load the spaCy pipeline, if edits are to be extracted."""
        if extracts(self.settings):
            errant_annotator(self.settings.nlp)

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        columns = super()._check(sources, predictions, references)
        if self.settings.ref_id is None or columns.references is None:
            return columns
        chosen = choose_reference(self.name, references, self.settings.ref_id)
        return dataclasses.replace(columns, references=chosen)

    def _score(self, columns: Columns) -> Result:
        if self.settings.weights is None and self.settings.systems is None:
            _warn_once(_NO_WEIGHTS)
        difficulty = given_difficulty(self.settings.weights)
        gold = self._gold(columns)
        if difficulty is not None:
            difficulty.check(only_references(self.name, gold))
        elif self.settings.systems is not None:
            difficulty = self._count(columns.sources, gold, self.settings.systems)
        weights = self._weights(difficulty, gold)
        system = self._system(columns)
        counts = [self._best(*row) for row in zip(gold, weights, system, strict=True)]
        return self._result(counts, difficulty, number_range(map(len, gold)))

    def difficulty(
        self,
        sources: Sequence[str],
        systems: Sequence[Sequence[str]],
        references: References | None = None,
    ) -> Difficulty:
        """Count how many systems get each chunk of the reference right, as a weight file does."""
        return self.report(sources, systems, references).difficulty

    def report(
        self,
        sources: Sequence[str],
        systems: Sequence[Sequence[str]] | None = None,
        references: References | None = None,
        *,
        errant_types: bool = False,
    ) -> DifficultyReport:
        """How hard the reference is to get right: weight file, table by error type, heat map, table of chunks."""
        columns = self._check(sources, sources, references)
        settings = self.settings if systems is None else dataclasses.replace(self.settings, systems=systems)
        difficulty = given_difficulty(settings.weights)
        if difficulty is None and settings.systems is None:
            raise InputError(
                f"{self.name}: difficulty comes from predictions of systems or from a weight file; pass one"
            )
        chunks = only_references(self.name, self._gold(columns))
        if difficulty is None:
            difficulty = self._count(columns.sources, [[only] for only in chunks], settings.systems)
        difficulty.check(chunks)
        if errant_types:
            chunks = classify(errant_annotator(self.settings.nlp), columns.sources, chunks)
        return DifficultyReport(
            chunks, difficulty, difficulty.weights(self.settings.a, self.settings.b, self.settings.c)
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """F of each sample, `[samples]`; every chunk keeps the weight that it has in the whole corpus."""
        if self.settings.average == "sentence":
            return super().aggregate(rows)
        beta, empty = self.settings.beta, float(self.settings.zero_division)
        return ChunkCounts(*rows.sum(axis=1).T).f(beta, empty)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Gotoscorer:
        """This scorer, for scoring each of the given systems: together they define the difficulty."""
        # This is how the authors' program works. With `weights` or `systems` in the settings, or fewer than two
        # systems, nothing changes.
        if self.settings.weights is not None or self.settings.systems is not None or len(systems) < 2:
            return self
        settings = dataclasses.replace(self.settings, systems=[list(predictions) for predictions in systems])
        return Gotoscorer(settings, self.runtime)

    def _gold(self, columns: Columns) -> list[list[list[Chunk]]]:
        """The chunks of the references that are used: [sentences][references][chunks]."""
        settings = self.settings
        if settings.gold_m2 is not None:
            return chunks_of_m2(self.name, settings.gold_m2, columns.sources, settings.ref_id)
        return cut_texts(errant_annotator(self.settings.nlp), self.runtime, columns.sources, columns.references)

    def _system(self, columns: Columns) -> list[list[Chunk]]:
        """The chunks of the predictions: [sentences][chunks]."""
        proposed = proposed_from_m2(self.name, columns, self.settings.predictions_m2)
        if proposed is None:
            annotator = errant_annotator(self.settings.nlp)
            return cut_predictions(annotator, self.runtime, columns.sources, columns.predictions)
        return [cut(source, distinct(edits)) for source, edits in zip(columns.sources, proposed, strict=True)]

    def _count(self, sources: list[str], gold: list[list[list[Chunk]]], systems: Sequence[Sequence[str]]) -> Difficulty:
        how = errant_annotator(self.settings.nlp), self.runtime
        return count_systems(self.name, *how, sources, gold, systems, self.settings.covered_insertion)

    def _weights(self, difficulty: Difficulty | None, gold: list[list[list[Chunk]]]) -> list[list[list[float]]]:
        """One weight per chunk, in the shape of `gold`."""
        if difficulty is None:
            return [[[1.0] * len(chunks) for chunks in rivals] for rivals in gold]
        rows = iter(difficulty.weights(self.settings.a, self.settings.b, self.settings.c))
        return [[next(rows) for _ in rivals] for rivals in gold]

    def _best(self, rivals: list[list[Chunk]], weights: list[list[float]], system: list[Chunk]) -> ChunkCounts:
        """The counts against the reference that gives the sentence its best F; ties: TP, fewer FP, fewer FN, first."""
        settings = self.settings
        counts = [
            count_chunks(chunks, system, numbers, settings.covered_insertion)
            for chunks, numbers in zip(rivals, weights, strict=True)
        ]
        return max(counts, key=lambda c: (c.f(settings.beta, settings.zero_division), c.tp, -c.fp, -c.fn))

    def _result(self, counts: list[ChunkCounts], difficulty: Difficulty | None, refs: str) -> Result:
        beta, empty = self.settings.beta, float(self.settings.zero_division)
        corpus = functools.reduce(ChunkCounts.__add__, counts)
        scores = [sentence.f(beta, empty) for sentence in counts]
        f = corpus.f(beta, empty)
        details = {
            "precision": corpus.precision(empty),
            "recall": corpus.recall(empty),
            "f": f,
            "f1": corpus.f(1.0, empty),
            "accuracy": corpus.accuracy(empty),
            "tp": corpus.tp,
            "fp": corpus.fp,
            "fn": corpus.fn,
            "tn": corpus.tn,
            "systems": difficulty.systems if difficulty else 0,
        }
        line = self._signature(difficulty, refs)
        if self.settings.average == "sentence":
            return Result(float(np.mean(scores)), scores, line, details)
        statistics = np.array([(sentence.tp, sentence.fp, sentence.fn) for sentence in counts])
        return Result(f, scores, line, details, statistics)

    def _signature(self, difficulty: Difficulty | None, refs: str) -> str:
        settings = self.settings
        facts = gold_facts(settings.gold_m2) | gold_facts(settings.predictions_m2, "predictions_m2")
        facts["weights"] = f"{difficulty.systems}systems@{difficulty.digest}" if difficulty else UNIFORM
        facts["systems"] = "given" if settings.systems is not None else None
        return signature(self.name, settings, refs=refs, **facts, **extraction_facts(settings))


@lru_cache(maxsize=None)
def _warn_once(message: str) -> None:
    logger.warning(message)
