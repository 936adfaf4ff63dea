"""The base of metrics that count edits against each annotator: one annotator per sentence, F of the corpus."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from geceval.core.f_score import Counts
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.scorers.base import Scorer
from geceval.scorers.references.annotator_choice import Chosen, Order, choose, choose_annotators, m2_order
from geceval.scorers.references.gold import gold_facts

TypeCounts: TypeAlias = dict[str, Counts]
"""Error type to counts."""


class EditScorer(Scorer):
    """A metric whose settings have `beta`, `average` and `gold_m2`."""

    def order(self) -> Order:
        """How annotators are compared, best first."""
        return m2_order(self.settings.beta)

    def choose(self, rows: Sequence[Mapping[int, Counts]]) -> Chosen:
        """Choose an annotator for each sentence; `rows` maps annotators to counts, one mapping per sentence."""
        return choose_annotators(rows, self.settings.beta, self.order())

    def result(self, chosen: Chosen, facts: Mapping[str, Any], **details: Any) -> Result:
        """The result of a corpus."""
        settings = self.settings
        corpus = chosen.counts.to_details(settings.beta)
        by_corpus = settings.average == "corpus"
        return Result(
            score=corpus["f"] if by_corpus else float(np.mean(chosen.scores)),
            scores=chosen.scores,
            signature=signature(self.name, settings, **{**gold_facts(settings.gold_m2), **facts}),
            details={**corpus, **details},
            statistics=chosen.statistics if by_corpus else None,
        )

    def typed_result(self, compared: Sequence[Mapping[int, TypeCounts]], facts: Mapping[str, Any]) -> Result:
        """The result of a corpus whose counts are known by error type."""
        chosen = self.choose([{annotator: total(counts) for annotator, counts in row.items()} for row in compared])
        of_types: TypeCounts = {}
        for by_annotator, annotator in zip(compared, chosen.annotators, strict=True):
            for kind, counts in by_annotator[annotator].items():
                of_types[kind] = of_types.get(kind, Counts()) + counts
        types = by_type(of_types, self.settings.beta)
        facts = {"refs": number_range(map(len, compared)), **facts}
        return self.result(chosen, facts, by_type=types, annotators=chosen.annotators)

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """F of each sample, `[samples]`; the annotators of a sample are chosen again, in the order of its sentences."""
        if self.settings.average == "sentence":
            return super().aggregate(rows)
        _, totals = choose(rows, self.order())
        return Counts.of(totals).f(self.settings.beta)


def total(counts: TypeCounts) -> Counts:
    """The counts of all types together."""
    return sum(counts.values(), Counts())


def by_type(counts: TypeCounts, beta: float) -> dict[str, dict[str, dict[str, float]]]:
    """Tables at three levels of detail: operation (`R`), main type (`VERB:SVA`) and full type (`R:VERB:SVA`)."""
    tables: dict[str, dict[str, Counts]] = {"operation": {}, "main": {}, "full": {}}
    for kind in sorted(counts):
        for grain, name in zip(tables, type_names(kind), strict=True):
            tables[grain][name] = tables[grain].get(name, Counts()) + counts[kind]
    return {grain: {name: rows[name].to_details(beta) for name in sorted(rows)} for grain, rows in tables.items()}


def type_names(kind: str) -> tuple[str, str, str]:
    """Operation, main type and full type; UNK and types that are not ERRANT's are unchanged in all three."""
    return (kind[0], kind[2:], kind) if kind[:2] in ("M:", "R:", "U:") else (kind, kind, kind)
