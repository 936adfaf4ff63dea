"""GoToScorer (Gotou et al., 2020): edit counts weighted by how hard each correction is."""

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError
from geceval.core.f_score import f_beta, ratio
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import FilePath, Language, PipelineName, Positive, RunTime, Seed
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.edits.edit import Edit, distinct
from geceval.edits.errant.base import Annotator
from geceval.edits.gotoscorer_chunks import Chunk, cut, cut_annotations, judge
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.difficulty.chunk_difficulty import (
    UNIFORM,
    Difficulty,
    ReferenceDifficulty,
    count_correct,
    read_difficulty,
)
from geceval.scorers.references.annotator_choice import best_annotator
from geceval.scorers.references.gold import (
    annotator_of,
    errant_edits,
    extraction_facts,
    extracts,
    m2_sentences,
    proposed_from_m2,
)

logger = logging.getLogger("geceval")

_NO_DIFFICULTY = (
    "gotoscorer: every chunk weighs the same, because nothing says how hard it is; pass difficulty=FILE (see `geceval "
    "difficulty`) or systems=[predictions of all systems], or difficulty='uniform' if you mean it"
)


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of GoToScorer; each can change the score.

    Attributes:
        difficulty: A difficulty file, a `Difficulty`, or `"uniform"` (every chunk weighs 1).
        systems: Instead of `difficulty`: predictions of all systems that define it, one list per system.
        ref_id: Which reference to use: the annotator of `gold_m2`, or the index in each list of `references`.
            `None` takes all, and for each sentence the one with the best F.
    """

    beta: Positive = 0.5
    difficulty: FilePath | Difficulty | None = None
    systems: Sequence[Sequence[str]] | None = None
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    ref_id: Seed | None = None
    nlp: PipelineName = "bundled"
    language: Language = "en"

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        if self.difficulty is not None and self.systems is not None:
            raise InputError("difficulty and systems both say how hard a correction is; pass one of them")
        if self.predictions_m2 is not None and self.difficulty is None:
            raise InputError(
                "predictions_m2 does not say how hard corrections are; pass difficulty=FILE or 'uniform' too"
            )


COUNTS = ("tp", "fp", "fn", "tn", "total")


def count_chunks(reference: Sequence[Chunk], system: Sequence[Chunk], weights: Sequence[float]) -> list[float]:
    """Weights of the chunks of a sentence by what a system did with each, see `COUNTS`."""
    # A chunk counts as TP if the system modified it and is right, as FP if it modified it and is wrong, as TN if it
    # left it alone and is right, as FN if it left it alone and is wrong; what the reference edits and the system
    # modified wrongly is FP and FN. One long wrong edit counts in each chunk that it touches.
    tp = fp = fn = tn = 0.0
    for chunk, judgment, weight in zip(reference, judge(reference, system), weights, strict=True):
        if judgment.correct:
            if judgment.modified:
                tp += weight
            else:
                tn += weight
            continue
        if judgment.modified:
            fp += weight
        if chunk.is_edit or not judgment.modified:
            fn += weight
    return [tp, fp, fn, tn, sum(weights)]


def precision_recall(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall of counts that begin with tp, fp and fn, `[...][counts]`; of nothing they are 0."""
    tp, fp, fn = np.moveaxis(counts[..., :3], -1, 0)
    return ratio(tp, tp + fp, 0.0), ratio(tp, tp + fn, 0.0)


class Gotoscorer(Scorer):
    """F_beta of ERRANT's edits, each weighted by its difficulty; 0/0 is 0, as in the authors' program."""

    name = "gotoscorer"
    description = "F-score of edits in which a correction counts the more, the fewer systems get it right."
    extra = "edits"
    Settings = Settings

    def scores_sentences_alone(self) -> bool:
        """Only if all chunks weigh the same: difficulty belongs to the sentences of one corpus, in their order."""
        return super().scores_sentences_alone() and self.settings.difficulty == UNIFORM

    def _load(self) -> None:
        if extracts(self.settings):
            annotator_of(self.settings)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Scorer:
        """A scorer whose difficulty comes from these systems, unless the settings name one."""
        # As in the authors' program. With one system, exactly the chunks that it gets wrong would be hard.
        if self.settings.difficulty is not None or self.settings.systems is not None or len(systems) < 2:
            return self
        settings = dataclasses.replace(self.settings, systems=[list(predictions) for predictions in systems])
        return Gotoscorer(settings, self.runtime)

    def reference_difficulty(
        self,
        sources: Sequence[str],
        systems: Sequence[Sequence[str]] | None = None,
        references: References | None = None,
        *,
        errant_types: bool = False,
    ) -> ReferenceDifficulty:
        """The reference in chunks, and how many systems get each right: `systems`, or those of the settings."""
        columns, _ = self.read(sources, sources, references)
        settings = self.settings if systems is None else dataclasses.replace(self.settings, systems=systems)
        difficulty = self._settings_difficulty()
        if difficulty is None and settings.systems is None:
            raise InputError(
                f"{self.name}: difficulty comes from predictions of systems or a difficulty file; pass one"
            )
        chunks = self._only_references(self._gold(columns))
        if difficulty is None:
            difficulty = self._count(columns.sources, [[only] for only in chunks], settings.systems)
        difficulty.check(chunks)
        if errant_types:
            chunks = _with_errant_types(annotator_of(self.settings), columns.sources, chunks)
        return ReferenceDifficulty(chunks, difficulty)

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """F of each sample, `[samples]`; every chunk keeps the weight that it has in the whole corpus."""
        return self._f(rows.sum(axis=1))

    def _f(self, counts: np.ndarray) -> np.ndarray:
        return f_beta(*precision_recall(counts), self.settings.beta)

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        columns = super()._check(sources, predictions, references)
        if self.settings.ref_id is None or columns.references is None:
            return columns
        return dataclasses.replace(columns, references=self._chosen(references, self.settings.ref_id))

    def _chosen(self, references: References, ref_id: int) -> list[list[str]]:
        """The reference of that number, alone in the list of its sentence."""
        rows = []
        for number, row in enumerate(references):
            texts = [row] if isinstance(row, str) else row
            if ref_id >= len(texts) or texts[ref_id] is None:
                raise InputError(f"{self.name}: references[{number}] has no reference {ref_id} (ref_id counts from 0)")
            rows.append([texts[ref_id]])
        return rows

    def _score(self, columns: Columns) -> Result:
        if self.settings.difficulty is None and self.settings.systems is None:
            logger.warning(_NO_DIFFICULTY)
        difficulty = self._settings_difficulty()
        gold = self._gold(columns)
        if difficulty is not None:
            difficulty.check(self._only_references(gold))
        elif self.settings.systems is not None:
            difficulty = self._count(columns.sources, gold, self.settings.systems)
        weights = _weights(difficulty, gold)
        system = self._system(columns)
        counts = np.stack([self._best(*row) for row in zip(gold, weights, system, strict=True)])
        return self._result(counts, difficulty, number_range(map(len, gold)))

    def _settings_difficulty(self) -> Difficulty | None:
        """The difficulty in the settings; `None` if there is none or it is uniform."""
        difficulty = self.settings.difficulty
        if difficulty is None or isinstance(difficulty, Difficulty):
            return difficulty
        return None if difficulty == UNIFORM else read_difficulty(difficulty)

    def _gold(self, columns: Columns) -> list[list[list[Chunk]]]:
        """The chunks of the references that are used: [sentences][references][chunks]."""
        path, ref_id = self.settings.gold_m2, self.settings.ref_id
        if path is None:
            return _cut_texts(annotator_of(self.settings), self.runtime, columns.sources, columns.references)
        try:
            return cut_annotations(m2_sentences(self.name, path, columns.sources), ref_id)
        except LookupError as error:
            raise InputError(f"{self.name}: {path} has no annotator {ref_id} (ref_id); {error.args[0]}") from error

    def _system(self, columns: Columns) -> list[list[Chunk]]:
        """The chunks of the predictions: [sentences][chunks]."""
        proposed = proposed_from_m2(self.name, columns, self.settings.predictions_m2)
        if proposed is None:
            annotator = annotator_of(self.settings)
            return _cut_predictions(annotator, self.runtime, columns.sources, columns.predictions)
        return [cut(source, distinct(edits)) for source, edits in zip(columns.sources, proposed, strict=True)]

    def _only_references(self, gold: Sequence[Sequence[list[Chunk]]]) -> list[list[Chunk]]:
        crowded = next((number for number, rivals in enumerate(gold) if len(rivals) > 1), None)
        if crowded is not None:
            raise InputError(
                f"{self.name}: difficulty belongs to one reference, but sentence {crowded + 1} has "
                f"{len(gold[crowded])}; say which one is meant, e.g. ref_id=0"
            )
        return [rivals[0] for rivals in gold]

    def _count(
        self, sources: list[str], gold: Sequence[Sequence[Sequence[Chunk]]], systems: Sequence[Sequence[str]]
    ) -> Difficulty:
        """The difficulty of each reference, one row per reference: those of the first sentence come first."""
        checked = [check_columns(self.name, sources, predictions, warn=False) for predictions in systems]
        systems = [self._read_texts(columns)[0].predictions for columns in checked]
        owners = [number for number, rivals in enumerate(gold) for _ in rivals]
        rows = tuple(tuple(chunks) for rivals in gold for chunks in rivals)
        texts = tuple(sources[owner] for owner in owners)
        repeated = tuple(tuple(predictions[owner] for owner in owners) for predictions in systems)
        return _count_texts(annotator_of(self.settings), self.runtime, texts, repeated, rows)

    def _best(self, rivals: list[list[Chunk]], weights: list[list[float]], system: list[Chunk]) -> np.ndarray:
        """The counts against the reference that gives the sentence its best F; ties: TP, fewer FP, fewer FN, first."""
        rows = zip(rivals, weights, strict=True)
        counts = np.array([count_chunks(chunks, system, numbers) for chunks, numbers in rows])
        tp, fp, fn = counts.T[:3]
        return counts[best_annotator((self._f(counts), tp, -fp, -fn))]

    def _result(self, counts: np.ndarray, difficulty: Difficulty | None, refs: str) -> Result:
        corpus = dict(zip(COUNTS, counts.sum(axis=0).tolist(), strict=True))
        precision, recall = map(float, precision_recall(counts.sum(axis=0)))
        details = {
            "precision": precision,
            "recall": recall,
            "f": f_beta(precision, recall, self.settings.beta),
            "f1": f_beta(precision, recall, 1.0),
            "accuracy": ratio(corpus["tp"] + corpus["tn"], corpus.pop("total"), 0.0),
            **corpus,
            "systems": difficulty.systems if difficulty else 0,
        }
        scores = self._f(counts).tolist()
        return Result(details["f"], scores, self._signature(difficulty, refs), details, counts[:, :3])

    def _signature(self, difficulty: Difficulty | None, refs: str) -> str:
        settings = self.settings
        facts = extraction_facts(settings)
        facts["difficulty"] = f"{difficulty.systems}systems@{difficulty.digest}" if difficulty else UNIFORM
        facts["systems"] = "given" if settings.systems is not None else None
        return signature(self.name, settings, refs=refs, **facts)


@lru_cache(maxsize=4)
def _count_texts(
    annotator: Annotator,
    runtime: RunTime,
    sources: tuple[str, ...],
    systems: tuple[tuple[str, ...], ...],
    references: tuple[tuple[Chunk, ...], ...],
) -> Difficulty:
    """`count_correct` for texts; cached, because scoring each of K systems needs the counts of all K."""
    return count_correct(references, (_cut_predictions(annotator, runtime, sources, each) for each in systems))


def _cut_texts(
    annotator: Annotator, runtime: RunTime, sources: Sequence[str], texts: Sequence[Sequence[str]]
) -> list[list[list[Chunk]]]:
    """The chunks that ERRANT's edits from each source to each of its texts make: [sentences][texts][chunks]."""
    rows = errant_edits(annotator, runtime, sources, texts)
    return [[cut(source, edits) for edits in row] for source, row in zip(sources, rows, strict=True)]


def _cut_predictions(
    annotator: Annotator, runtime: RunTime, sources: Sequence[str], predictions: Sequence[str]
) -> list[list[Chunk]]:
    return [row[0] for row in _cut_texts(annotator, runtime, sources, [[text] for text in predictions])]


def _weights(difficulty: Difficulty | None, gold: list[list[list[Chunk]]]) -> list[list[list[float]]]:
    """One weight per chunk, in the shape of `gold`: its difficulty, or 1."""
    if difficulty is None:
        return [[[1.0] * len(chunks) for chunks in rivals] for rivals in gold]
    rows = iter(difficulty.of_chunks())
    return [[next(rows) for _ in rivals] for rivals in gold]


def _with_errant_types(
    annotator: Annotator, sources: Sequence[str], sentences: Sequence[list[Chunk]]
) -> list[list[Chunk]]:
    """The same chunks with ERRANT's types on the edits, whatever types they had."""
    rows = []
    for source, chunks in zip(sources, sentences, strict=True):
        rows.append((source, [Edit(chunk.start, chunk.end, chunk.correction) for chunk in chunks if chunk.is_edit]))
    typed = (iter(edits) for edits in annotator.classify(rows))
    return [
        [dataclasses.replace(chunk, type=next(edits).type) if chunk.is_edit else chunk for chunk in chunks]
        for chunks, edits in zip(sentences, typed, strict=True)
    ]
