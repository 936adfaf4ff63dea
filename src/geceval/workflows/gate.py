"""A gate for releases: is a checker worse than before, by more than chance, and where? Public as `geceval.gate`."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from geceval import registry
from geceval.core.errors import InputError
from geceval.core.inputs import References, check_columns
from geceval.core.options import Options, Range, Seed, make_settings
from geceval.core.progress import parts
from geceval.core.result import Result
from geceval.core.warnings import once
from geceval.meta.significance.resampling import INSIDE
from geceval.meta.significance.systems import Settings as TestSettings
from geceval.scorers.base import Scorer
from geceval.workflows.compare import compare_results
from geceval.workflows.error_types import ErrantWithEdits, SentenceEdits

logger = logging.getLogger("geceval")

POINTS = 100  # a point is a hundredth of a metric's score, whatever its range: F0.5 of .5871 is 58.71 points
Kind = Literal["lost", "gained", "new alarm", "alarm gone"]


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """When a gate fails: the drop is larger than `max_drop`, and its p-value is below `p`.

    Attributes:
        max_drop: The drop that is allowed, in points: hundredths of the metric's score, whatever its range.
        p: The bound of the p-value, which is that of the paired bootstrap, two-sided, as in `geceval.compare`.
        resamples: Number of bootstrap samples.
        seed: Seed of the samples.
    """

    max_drop: Annotated[float, Range(0, 1e6)] = 0.5
    p: Annotated[float, INSIDE] = 0.05
    resamples: Annotated[int, Range(1, 1_000_000)] = 1000
    seed: Seed = 1

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        if self.p * (self.resamples + 1) <= 1:
            raise InputError(f"{self.resamples} resamples show no p < {self.p:g}: take more than {1 / self.p - 1:.0f}")


@dataclass(frozen=True, slots=True)
class WorseSentence:
    """A sentence whose score fell: its line, counted from 1, both scores, and the texts."""

    line: int
    before: float
    after: float
    source: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate says by one metric, from the corpus scores `baseline` and `candidate`.

    Attributes:
        drop: How many points the candidate is worse; below 0 where it is better.
        p: P-value of the difference.
        visible: The least drop in points that the test could have found, from the spread of the samples.
        passed: Whether the drop is at most `max_drop`, or may be chance.
        blind: Whether it may be chance only because `visible` is above `max_drop`.
        worse: The sentences whose score fell, the largest fall first.
    """

    metric: str
    baseline: float
    candidate: float
    drop: float
    p: float
    visible: float
    passed: bool
    blind: bool
    worse: list[WorseSentence]
    signature: str


@dataclass(frozen=True, slots=True)
class Change:
    """An edit that only one of the two makes.

    Attributes:
        kind: Whose it is: the baseline's, as some annotator has it (`"lost"`) or none (`"alarm gone"`); the
            candidate's, as some has it (`"gained"`) or none (`"new alarm"`).
        type: ERRANT's type.
        line: The line of its sentence, counted from 1.
        correct: Whether no annotator changes the sentence.
        edit: What it replaces and with what, `go → goes`.
        source: The sentence, as it was compared.
    """

    kind: Kind
    type: str
    line: int
    correct: bool
    edit: str
    source: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict of each metric, and with `errant` among them the changes of edits; whether all metrics passed."""

    passed: bool
    settings: Settings
    verdicts: list[Verdict]
    changes: list[Change]


def gate(
    metrics: str | Sequence[str],
    sources: Sequence[str],
    baseline: Sequence[str],
    candidate: Sequence[str],
    references: References | None = None,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **test: Any,
) -> Gate:
    """Tell whether a candidate is worse than a baseline by more than is allowed, and by more than chance.

    A metric fails where the drop is larger than `max_drop` points *and* p is below `p`. A point is a hundredth of the
    metric's score, whatever its range: from .5871 to .5771 of F0.5 is one, and so is from 1.27 to 1.26 of `impara_lm`.
    Where a drop of `max_drop` could not have been seen, since too few sentences differ in too different ways, the
    metric passes with a warning that says what could have been. Of n sentences that differ no test by signs gives a p
    below 2^(1-n); where that is not below `p`, p is 1.

    Args:
        metrics: One or more of `geceval.list_metrics()`; each is a gate of its own.
        sources: One string per sentence.
        baseline: What was predicted before, one string per sentence.
        candidate: What is predicted now.
        references: One list of references per sentence, for metrics that need them.
        options: Metric to its settings and run-time options.
        test: Fields of `geceval.workflows.gate.Settings`: `max_drop`, `p`, `resamples`, `seed`.

    Raises:
        TypeError: If an option does not exist or a column has the wrong type.
        ValueError: If columns do not fit together, or an option has a bad value.
    """
    settings = make_settings("gate", Settings, test)
    scorers = registry.make_scorers("gate", metrics, options)
    if "errant" in scorers:
        scorers["errant"] = ErrantWithEdits(scorers["errant"].settings, scorers["errant"].runtime)
    systems = {
        name: check_columns(f"gate, {name}", sources, texts, warn=False).predictions
        for name, texts in {"baseline": baseline, "candidate": candidate}.items()
    }
    verdicts, changes = [], []
    with once(set()):
        for name in parts(scorers):
            results = registry.score_systems(scorers[name], sources, systems, references)
            verdicts.append(_verdict(scorers[name], results, settings, sources, systems))
            if name == "errant":
                edits = [results[system].details["sentences"] for system in systems]
                changes = [each for row in enumerate(zip(*edits, strict=True), 1) for each in _changes(row[0], *row[1])]
    return Gate(all(verdict.passed for verdict in verdicts), settings, verdicts, changes)


def _verdict(
    scorer: Scorer,
    results: Mapping[str, Result],
    settings: Settings,
    sources: Sequence[str],
    systems: Mapping[str, Sequence[str]],
) -> Verdict:
    test = TestSettings("bootstrap", "first", settings.resamples, 1 - settings.p, settings.seed)
    before, after = compare_results(scorer, results, test).standings
    sign = 1 if scorer.higher_is_better else -1
    drop, visible, p = sign * POINTS * (before.score - after.score), POINTS * after.visible, after.p["bootstrap"]
    changed = sum(old != new for old, new in zip(*systems.values(), strict=True))
    if changed > 0 and 2.0 ** (1 - changed) >= settings.p:  # samples of so few sentences hardly differ
        p, visible = 1.0, math.inf
    blind = p >= settings.p and visible > settings.max_drop
    if blind:
        logger.warning(
            "%s: cannot see a drop of %g at p < %g: %s",
            *(scorer.name, settings.max_drop, settings.p, _least_drop(visible)),
        )
    rows = zip(*(result.scores for result in results.values()), sources, *systems.values(), strict=True)
    worse = [WorseSentence(line, *row) for line, row in enumerate(rows, 1) if sign * (row[1] - row[0]) < 0]
    worse.sort(key=lambda each: sign * (each.after - each.before))
    passed = not (drop > settings.max_drop and p < settings.p)
    scores = before.score, after.score
    return Verdict(scorer.name, *scores, drop, p, visible, passed, blind, worse, results["candidate"].signature)


def _least_drop(visible: float) -> str:
    if visible == math.inf:
        return "too few sentences differ to show a drop of any size"
    return f"smallest visible {visible:.2f}; more sentences would show smaller ones"


def _changes(line: int, before: SentenceEdits, after: SentenceEdits) -> Iterator[Change]:
    gold = {key: types for annotated in before.gold.values() for key, types in annotated.items()}
    sides: Sequence[tuple[SentenceEdits, SentenceEdits, Kind, Kind]]
    sides = (before, after, "lost", "alarm gone"), (after, before, "gained", "new alarm")
    for each, other, right, wrong in sides:
        for key in (key for key in each.system if key not in other.system):
            start, end, *more = key if isinstance(key, tuple) else (key, key + 1)
            edit = f"{' '.join(each.source.split()[start:end])} → {more[-1] if more else '…'}".strip()
            kind, types = (right, gold[key]) if key in gold else (wrong, each.system[key])
            yield Change(kind, types[0], line, each.clean, edit, each.source)
