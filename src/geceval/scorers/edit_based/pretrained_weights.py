"""Edit weights from a pre-trained model, which PT-M2 and PT-ERRANT share (Gong et al., 2022).

The weight of an edit u is w(u) = |PTScore(S + u, R) - PTScore(S, R)|: how far applying u alone moves the source S
towards, or away from, the reference R, measured by BERTScore or BARTScore.
"""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from geceval.core.errors import InputError
from geceval.core.f_score import Counts
from geceval.core.inputs import Columns
from geceval.core.options import Count, FilePath, ModelName, Positive, RunTime
from geceval.core.result import Result
from geceval.core.signature import number_range
from geceval.edits.edit import Edit, apply
from geceval.models.devices import network_facts
from geceval.scorers.bartscore import PUBLISHED, load_seq2seq
from geceval.scorers.base import TextOptions
from geceval.scorers.bertscore import load_matcher
from geceval.scorers.edit_based.edit_scorer import EditScorer
from geceval.scorers.references.annotator_choice import Average

PairScorer = Callable[[Sequence[str], Sequence[str]], np.ndarray]
"""Scores of candidates against references, one text per pair on either side: float [pairs]."""


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings that PT-M2 and PT-ERRANT share; each can change the score.

    Attributes:
        weight: What an edit weighs: `"bertscore"`, `"bartscore"`, or `"self"`, which gives every edit the weight 1 and
            so yields plain M2 or ERRANT.
        model: The checkpoint behind the weights: `"bundled"`, a folder, or a Hub id, optionally with `@revision`;
            `None` takes the bundled encoder for BERTScore and `facebook/bart-large-cnn` for BARTScore.
        layer: Layer of BERTScore, see `geceval.scorers.bertscore.Settings`.
    """

    weight: Literal["bertscore", "bartscore", "self"] = "bertscore"
    model: ModelName | None = None
    layer: Count | None = None
    average: Average = "sentence"
    beta: Positive = 0.5
    gold_m2: FilePath | None = None

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        if self.weight != "bertscore" and self.layer is not None:
            raise InputError(f"layer is an option of weight='bertscore', not of {self.weight!r}")


@dataclass(frozen=True, slots=True)
class EditComparison:
    """A system's edits of one sentence, compared with one annotator's."""

    source: str
    reference: str
    edits: Sequence[Edit]
    gold: Sequence[Edit]
    matches: Sequence[tuple[int, int]]


class WeightedEdits(EditScorer):
    """Precision, recall and F of weighted edits; a subclass extracts the edits and tells which of them match."""

    Settings = Settings

    def _load(self) -> None:
        load_pair_scorer(self.settings, self.runtime)

    @abc.abstractmethod
    def comparisons(self, columns: Columns) -> tuple[list[dict[int, EditComparison]], dict[str, object]]:
        """Annotator to comparison, one mapping per sentence; and further facts for the signature."""

    def _score(self, columns: Columns) -> Result:
        settings = self.settings
        rows, facts = self.comparisons(columns)
        score, model = load_pair_scorer(settings, self.runtime)
        flat = [comparison for options in rows for comparison in options.values()]
        # As in the authors' program, edits of a sentence that all weigh exactly 0 weigh the same instead.
        counts = iter(weighted_counts(flat, score, uniform_when_zero=settings.average == "sentence"))
        chosen = self.choose([{annotator: next(counts) for annotator in options} for options in rows])
        facts = {**model, "refs": number_range(map(len, rows)), **facts}
        return self.result(chosen, facts, annotators=chosen.annotators)


def load_pair_scorer(settings: Settings, runtime: RunTime) -> tuple[PairScorer | None, dict[str, object]]:
    """The scorer of S + u against R (`None` for weight 1), and its facts for the signature."""
    if settings.weight == "self":
        return None, {"model": None}
    facts = network_facts(runtime)
    if settings.weight == "bertscore":
        matcher = load_matcher(settings.model or "bundled", settings.layer, None, runtime)
        facts = {"model": matcher.name, "layer": matcher.layer, **facts}
        return lambda candidates, references: matcher.match(candidates, references, runtime)[:, 2], facts
    translator = load_seq2seq(settings.model or PUBLISHED, None, runtime)
    facts = {"model": translator.name, **facts}
    return lambda candidates, references: translator.log_likelihoods(references, candidates, runtime), facts


def weighted_counts(
    comparisons: Sequence[EditComparison], score: PairScorer | None, *, uniform_when_zero: bool = False
) -> list[Counts]:
    """Weights of the matched edits (TP), of the system's others (FP) and of the annotator's others (FN)."""
    # All distinct pairs of S + u, or S, and R are scored in one call.
    if score is None:
        return [_count(each, dict.fromkeys(map(_plain, (*each.edits, *each.gold)), 1.0)) for each in comparisons]
    rows = []
    for each in comparisons:
        changed = {edit: apply(each.source, [edit]) for edit in map(_plain, (*each.edits, *each.gold))}
        rows.append((each, " ".join(each.source.split()), changed))
    pairs = dict.fromkeys(
        (text, each.reference) for each, source, row in rows if row for text in (source, *row.values())
    )
    values = score([text for text, _ in pairs], [reference for _, reference in pairs]) if pairs else []
    scores = dict(zip(pairs, np.asarray(values).tolist(), strict=True))
    counts = []
    for each, source, changed in rows:
        reference = each.reference
        weights = {edit: abs(scores[text, reference] - scores[source, reference]) for edit, text in changed.items()}
        if uniform_when_zero and not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0 / max(len(weights), 1))
        counts.append(_count(each, weights))
    return counts


def _plain(edit: Edit) -> Edit:
    """The edit without its type, annotator and alternatives, which do not matter here."""
    return Edit(edit.start, edit.end, edit.correction)


def _count(comparison: EditComparison, weights: dict[Edit, float]) -> Counts:
    matched, answered = {index for index, _ in comparison.matches}, {index for _, index in comparison.matches}
    true, false = 0.0, 0.0
    for index, edit in enumerate(comparison.edits):
        if index in matched:
            true += weights[_plain(edit)]
        else:
            false += weights[_plain(edit)]
    missed = sum(weights[_plain(edit)] for index, edit in enumerate(comparison.gold) if index not in answered)
    return Counts(true, false, float(missed))
