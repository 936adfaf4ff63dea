"""ERRANT: typed edits of a system beside those of annotators (Bryant et al., 2017; Felice et al., 2016)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geceval.core.checks import check_choice, check_positive
from geceval.core.inputs import Columns, check_columns
from geceval.core.options import RunTime
from geceval.core.result import Counts, Result
from geceval.core.signature import package_version, signature
from geceval.edits.edit import Edit
from geceval.scorers.errant_counts import (
    DUPLICATES,
    LENGTHS,
    LEVELS,
    Tally,
    best_reference,
    by_type,
    compare,
    keyed,
    total,
)
from geceval.scorers.gold import gold_facts, m2_sentences

if TYPE_CHECKING:
    from geceval.edits.annotate import Annotator


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change the number.

    Attributes:
        beta: Weight of recall in F.
        average: What `score` is: `"corpus"`, F of the counts of all sentences, or `"sentence"`, the mean of the
            sentences' F (SentERRANT).
        level: What must agree: `"correction"` (span and correction), `"correction_with_type"`, `"detection_span"` or
            `"detection_token"`; see `geceval.scorers.errant_counts.keyed`.
        length: Edits that count: `"any"`, `"single"` (at most one token on either side) or `"multi"`.
        without_types: Types of edits that do not count, e.g. `("R:SPELL", "R:ORTH")`.
        rounding: How the reference of a sentence is chosen: `"official"` compares F at 4 decimal places, `"none"`
            unrounded.
        duplicates: How several edits at one place count: `"official"` or `"gec-metrics"`; see
            `geceval.scorers.errant_counts.compare`.
        gold_m2: M2 file whose edits are the reference, spans and types as they stand there; `references` are then not
            needed. Without it, ERRANT extracts the edits of the references.
        nlp: The spaCy pipeline: its name or folder, or `"bundled"`; `None` takes `en_core_web_sm` where it is
            installed, else the bundled one.
    """

    beta: float = 0.5
    average: str = "corpus"
    level: str = "correction"
    length: str = "any"
    without_types: Sequence[str] = ()
    rounding: str = "official"
    duplicates: str = "official"
    gold_m2: str | None = None
    nlp: str | None = None

    def __post_init__(self) -> None:
        check_positive("beta", self.beta)
        check_choice("average", self.average, ("corpus", "sentence"))
        check_choice("level", self.level, LEVELS)
        check_choice("length", self.length, LENGTHS)
        check_choice("rounding", self.rounding, ("official", "none"))
        check_choice("duplicates", self.duplicates, DUPLICATES)
        names = (self.without_types,) if isinstance(self.without_types, str) else tuple(self.without_types)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"without_types must be a list of strings, got {self.without_types!r}")
        object.__setattr__(self, "without_types", names)


class Errant:
    """Precision, recall and F of ERRANT's edits, in [0, 1]; higher is better.

    With several references each sentence takes the one that gives the best F of all sentences up to it (the sentence
    score: of this sentence alone), so the corpus score depends, very little, on the order of the sentences.
    """

    name = "errant"
    Settings = Settings
    higher_is_better = True
    bounds = (0.0, 1.0)

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        self.settings = settings or Settings()
        self.runtime = runtime or RunTime()

    def needs_references(self) -> bool:
        """Whether `score` wants references: not if the gold edits come from an M2 file."""
        return self.settings.gold_m2 is None

    def load(self) -> None:
        """Load the spaCy pipeline.

        Raises:
            ValueError: If it is missing or of no use to ERRANT; the message says how to get one.
        """
        self._annotator()

    def score(
        self,
        sources: Sequence[str],
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str | None]] | None = None,
    ) -> Result:
        """Score one system.

        Args:
            sources: One tokenised string a sentence.
            predictions: One tokenised string a sentence.
            references: One list of references a sentence; not used with `gold_m2`.

        Returns:
            The result. Its details are those of the corpus, whatever the average: precision, recall, f, tp, fp, fn;
            `by_type`, the same numbers for each operation, main type and full type; `annotators`, who was taken for
            each sentence (the number of the reference where there are references).

        Raises:
            OSError: If `gold_m2` cannot be read.
            TypeError: See `check_columns`.
            ValueError: See `check_columns` and `load`, or if `gold_m2` is not M2 or holds other sentences.
        """
        columns = check_columns(
            self.name, sources, predictions, references, needs_references=self.settings.gold_m2 is None
        )
        proposed, gold = self._edits(columns)
        return self._compare(proposed, gold)

    def _annotator(self) -> Annotator:
        from geceval.edits.annotate import get_annotator

        return get_annotator(self.settings.nlp)

    def _edits(self, columns: Columns) -> tuple[list[list[Edit]], list[dict[int, list[Edit]]]]:
        """The edits of the system, and annotator to edits, a sentence."""
        pairs = list(zip(columns.sources, columns.predictions, strict=True))
        gold: list[dict[int, list[Edit]]] = []
        if self.settings.gold_m2 is not None:
            gold = [sentence.edits for sentence in m2_sentences(self.name, self.settings.gold_m2, columns.sources)]
        of_system = len(pairs)
        for source, texts in zip(columns.sources, columns.references or [], strict=False):
            pairs += [(source, text) for text in texts]
        extracted = self._annotator().edits(pairs, self.runtime.workers, self.runtime.progress)
        of_references = iter(extracted[of_system:])
        for texts in columns.references or []:
            gold.append(dict(enumerate(itertools.islice(of_references, len(texts)))))
        return extracted[:of_system], gold

    def _compare(self, proposed: Sequence[Sequence[Edit]], gold: Sequence[Mapping[int, Sequence[Edit]]]) -> Result:
        settings = self.settings
        counts = Counts()
        of_types: Tally = {}
        scores, annotators = [], []
        for edits, references in zip(proposed, gold, strict=True):
            tallies = {who: self._tally(edits, others) for who, others in references.items()}
            options = {who: total(tally) for who, tally in tallies.items()}
            scores.append(max(option.f(settings.beta) for option in options.values()))
            chosen = best_reference(options, settings.beta, settings.rounding, counts)
            counts += options[chosen]
            for kind, more in tallies[chosen].items():
                of_types[kind] = of_types.get(kind, Counts()) + more
            annotators.append(chosen)
        details = counts.to_details(settings.beta)
        return Result(
            score=details["f"] if settings.average == "corpus" else sum(scores) / len(scores),
            scores=scores,
            signature=signature(self.name, settings, **self._facts(gold)),
            details={**details, "by_type": by_type(of_types, settings.beta), "annotators": annotators},
        )

    def _tally(self, proposed: Sequence[Edit], gold: Sequence[Edit]) -> Tally:
        options = self.settings.level, self.settings.length, self.settings.without_types
        return compare(keyed(proposed, *options), keyed(gold, *options), self.settings.duplicates)

    def _facts(self, gold: Sequence[Mapping[int, Sequence[Edit]]]) -> dict[str, str]:
        sizes = [len(references) for references in gold]
        low, high = min(sizes), max(sizes)
        return {
            **gold_facts(self.settings.gold_m2),
            "nlp": self._annotator().pipeline,
            "refs": str(low) if low == high else f"{low}-{high}",
            "errant": package_version("errant"),
        }
