"""ERRANT: typed edits of a system compared with those of annotators (Bryant et al., 2017; Felice et al., 2016)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geceval.core.inputs import Columns
from geceval.core.options import FilePath, PipelineName, check_choice, check_positive, check_types
from geceval.core.result import Result
from geceval.edits.edit import Edit
from geceval.scorers.edit_based.edit_scorer import EditScorer
from geceval.scorers.edit_based.errant_counts import (
    DUPLICATES,
    LENGTHS,
    LEVELS,
    TypeCounts,
    compare,
    errant_order,
    keyed,
)
from geceval.scorers.references.annotator_choice import AVERAGES, Order
from geceval.scorers.references.gold import (
    edits_and_gold,
    errant_annotator,
    extraction_facts,
    extracts,
    gold_from_m2,
    proposed_from_m2,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change the number.

    Attributes:
        beta: Weight of recall in F.
        average: What `score` is: `"corpus"`, F of the counts of all sentences, or `"sentence"`, the mean of the
            sentences' F (SentERRANT).
        level: What must agree: `"correction"` (span and correction), `"correction_with_type"`, `"detection_span"` or
            `"detection_token"`; see `geceval.scorers.edit_based.errant_counts.keyed`.
        length: Edits that count: `"any"`, `"single"` (at most one token on either side) or `"multi"`.
        without_types: Types of edits that do not count, e.g. `("R:SPELL", "R:ORTH")`.
        rounding: How the reference of a sentence is chosen: `"official"` compares F rounded to 4 decimal places,
            `"none"` compares it unrounded.
        duplicates: How several edits of one span count: `"official"` or `"gec-metrics"`; see
            `geceval.scorers.edit_based.errant_counts.compare`.
        gold_m2: M2 file whose edits are the reference, with the spans and types of the file; `references` are then not
            needed. Without it, ERRANT extracts the edits of the references.
        predictions_m2: M2 file with the edits of the predictions, taken as they are; with both files nothing is parsed.
        nlp: The spaCy pipeline behind ERRANT: `"bundled"`, `"official"` (`en_core_web_sm`, if it is installed), the
            name of another installed one, or a folder.
    """

    beta: float = 0.5
    average: str = "corpus"
    level: str = "correction"
    length: str = "any"
    without_types: str | Sequence[str] = ()
    rounding: str = "official"
    duplicates: str = "official"
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        check_types(self)
        check_positive("beta", self.beta)
        check_choice("average", self.average, AVERAGES)
        check_choice("level", self.level, LEVELS)
        check_choice("length", self.length, LENGTHS)
        check_choice("rounding", self.rounding, ("official", "none"))
        check_choice("duplicates", self.duplicates, DUPLICATES)
        names = (self.without_types,) if isinstance(self.without_types, str) else tuple(self.without_types)
        object.__setattr__(self, "without_types", names)


class Errant(EditScorer):
    """Precision, recall and F of ERRANT's edits, in [0, 1]; higher is better.

    With several references each sentence takes the one that gives the best F of all sentences up to it (the sentence
    score: of this sentence alone), so the corpus score depends, very little, on the order of the sentences.

    The details are those of the corpus, whatever the average: precision, recall, f, tp, fp, fn; `by_type`, the same
    numbers for each operation, main type and full type; `annotators`, the annotator (or the number of the reference)
    that was chosen for each sentence.
    """

    name = "errant"
    description = "Precision, recall and F of typed edits."
    extra = "edits"
    Settings = Settings

    def load(self) -> None:
        """Load the spaCy pipeline."""
        if extracts(self.settings):
            errant_annotator(self.settings.nlp)

    def _score(self, columns: Columns) -> Result:
        gold = gold_from_m2(self.name, columns, self.settings.gold_m2)
        proposed = proposed_from_m2(self.name, columns, self.settings.predictions_m2)
        return self._compare(*edits_and_gold(self.settings.nlp, self.runtime, columns, gold, proposed))

    def order(self) -> Order:
        """ERRANT's own ranking, which is not that of M2."""
        return errant_order(self.settings.beta, self.settings.rounding)

    def _compare(self, proposed: Sequence[Sequence[Edit]], gold: Sequence[Mapping[int, Sequence[Edit]]]) -> Result:
        compared = [
            {annotator: self._count(edits, others) for annotator, others in options.items()}
            for edits, options in zip(proposed, gold, strict=True)
        ]
        return self.typed_result(compared, extraction_facts(self.settings))

    def _count(self, proposed: Sequence[Edit], gold: Sequence[Edit]) -> TypeCounts:
        options = self.settings.level, self.settings.length, self.settings.without_types
        return compare(keyed(proposed, *options), keyed(gold, *options), self.settings.duplicates)
