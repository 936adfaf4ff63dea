"""ERRANT: typed edits of a system compared with those of annotators (Bryant et al., 2017; Felice et al., 2016)."""

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geceval.core.f_score import Counts, rounded
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, Language, PipelineName, Positive, Share
from geceval.core.result import Result
from geceval.edits.edit import Edit
from geceval.edits.verdict import DOUBTFUL
from geceval.scorers.base import TextOptions
from geceval.scorers.edit_based.edit_scorer import EditScorer, TypeCounts
from geceval.scorers.edit_based.valid_edits import ValidEdits, judge_facts, valid_edits
from geceval.scorers.references.annotator_choice import Average, Order
from geceval.scorers.references.gold import annotator_of, compared_edits, extraction_facts, extracts

Level: TypeAlias = Literal["correction", "correction_with_type", "detection_span", "detection_token"]
Counting: TypeAlias = Literal["official", "gec-metrics"]

Keyed: TypeAlias = dict[Hashable, list[str]]
"""The key that is compared (e.g. span and correction) to the types of the edits that have it."""


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of ERRANT; each can change the score.

    Attributes:
        level: What must agree: `"correction"` (span and correction), `"correction_with_type"`, `"detection_span"`, or
            `"detection_token"` (each token that is changed; for an insertion the one after it).
        counting: `"official"`: an edit that an annotator has several times counts as often, so that three edits can be
            four hits (errant issue 49), hits have the annotator's type, and F is rounded to 4 decimal places before
            references are compared. `"gec-metrics"`: hits are the system's edits, with their types, and F is not
            rounded.
    """

    beta: Positive = 0.5
    average: Average = "corpus"
    level: Level = "correction"
    counting: Counting = "official"
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    nlp: PipelineName = "bundled"
    language: Language = "en"
    valid_edits: ValidEdits = "references"
    judge_threshold: Share = DOUBTFUL


class Errant(EditScorer):
    """Precision, recall and F of ERRANT's edits, with the annotator that is best for the corpus up to each sentence."""

    name = "errant"
    description = "Precision, recall and F of typed edits."
    extra = "edits"
    Settings = Settings

    def _load(self) -> None:
        if extracts(self.settings):
            annotator_of(self.settings)

    def _score(self, columns: Columns) -> Result:
        compared = compared_edits(self.name, self.settings, self.runtime, columns, pooled=True)
        return self._compare(columns.sources, *compared)

    def order(self) -> Order:
        """ERRANT's own ranking, which is not that of M2."""
        return errant_order(self.settings.beta, rounds=self.settings.counting == "official")

    def _compare(
        self,
        sources: Sequence[str],
        proposed: Sequence[Sequence[Edit]],
        gold: Sequence[Mapping[int, Sequence[Edit]]],
    ) -> Result:
        level, counting = self.settings.level, self.settings.counting
        valid = valid_edits(self.settings, self.runtime, sources, proposed)
        compared = []
        for edits, options, right in zip(proposed, gold, valid, strict=True):
            system, no_alarms = keyed(edits, level), keyed(right, level)
            compared.append(
                {each: compare(system, keyed(row, level), counting, no_alarms) for each, row in options.items()}
            )
        facts = extraction_facts(self.settings) | judge_facts(self.settings, self.runtime)
        return self.typed_result(compared, facts)


def keyed(edits: Iterable[Edit], level: Level) -> Keyed:
    """Edits by what must agree in two annotations; `UNK` (seen, not corrected) counts for detection only."""
    types: Keyed = {}
    for edit in edits:
        if not edit.is_noop and (edit.type != "UNK" or level.startswith("detection")):
            for key in _keys(edit, level):
                types.setdefault(key, []).append(edit.type)
    return types


def _keys(edit: Edit, level: Level) -> Iterator[Hashable]:
    correction = "||".join(edit.corrections)  # ERRANT knows no alternatives and takes `a||b` for one correction
    if level == "correction":
        yield edit.start, edit.end, correction
    elif level == "correction_with_type":
        yield edit.start, edit.end, edit.type, correction
    elif level == "detection_span":
        yield edit.start, edit.end
    else:
        yield from range(edit.start, max(edit.end, edit.start + 1))


def compare(proposed: Keyed, gold: Keyed, counting: Counting, valid: Container[Hashable] = ()) -> TypeCounts:
    """Count by error type: misses under the annotator's type, false alarms, but for valid edits, under the system's."""
    counted: dict[str, list[int]] = {}

    def add(types: Iterable[str], column: int) -> None:
        for kind in types:
            counted.setdefault(kind, [0, 0, 0])[column] += 1

    for key, types in proposed.items():
        if key not in gold:
            add(types if key not in valid else (), 1)
        else:
            add(gold[key] if counting == "official" else types, 0)
    for key, types in gold.items():
        if key not in proposed:
            add(types, 2)
    return {kind: Counts(*counts) for kind, counts in counted.items()}


def errant_order(beta: float, rounds: bool) -> Order:
    """ERRANT's ranking of references: highest F so far, then most hits, fewest false alarms, fewest misses."""

    def keys(before: Counts, options: Counts) -> tuple[np.ndarray, ...]:
        f = (before + options).f(beta)
        return (rounded(f) if rounds else f), options.tp, -options.fp, -options.fn

    return keys
