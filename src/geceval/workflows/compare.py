"""Significance tests and confidence intervals between systems, under any metrics; public as `geceval.compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import References, check_columns
from geceval.core.options import make_settings
from geceval.core.progress import parts
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.core.warnings import once
from geceval.meta.significance.systems import Settings, SystemEstimate, compare_rows
from geceval.scorers.base import Scorer


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems under one metric.

    Attributes:
        metric: Its name.
        standings: One entry per system, in the order given.
        signature: How the scores were computed.
        test: How the intervals and p-values were computed, in one line.
        guard_reasons: Each system that the metric's guard penalised to why, one reason a sentence, `""` for none.
    """

    metric: str
    standings: list[SystemEstimate]
    signature: str
    test: str
    guard_reasons: Mapping[str, list[str]] = field(default_factory=dict)


def compare(
    metrics: str | Sequence[str],
    sources: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    references: References | None = None,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    predictions_m2: Mapping[str, str | Path] | None = None,
    **test: Any,
) -> dict[str, Comparison]:
    """Score systems and test whether they differ: bootstrap intervals, paired bootstrap, approximate randomisation.

    Args:
        metrics: One or more of `geceval.list_metrics()`.
        sources: One string per sentence.
        systems: Name of each system to its predictions, at least two.
        references: One list of references per sentence, for metrics that need them.
        options: Metric to its settings and run-time options.
        predictions_m2: Name of each system to the M2 file of its edits, for metrics with an option of this name.
        test: Fields of `geceval.meta.significance.systems.Settings`: `methods`, `baseline`, `resamples`, `confidence`,
            `seed`.

    Returns:
        Metric to comparison.

    Raises:
        TypeError: If an option does not exist or a column has the wrong type.
        ValueError: If there are fewer than two systems, columns do not fit together, or an option has a bad value.
    """
    settings = make_settings("compare", Settings, test)
    if not isinstance(systems, Mapping):
        raise InputTypeError(f"compare: systems must be a dict of names and predictions, got {type(systems).__name__}")
    if len(systems) < 2:
        raise InputError("compare: there is nothing to compare: pass at least two systems")
    scorers = registry.make_scorers("compare", metrics, options)
    sources = check_columns("compare", sources, sources).sources
    comparisons = {}
    with once(set()):
        for name in parts(scorers):
            results = registry.score_systems(scorers[name], sources, systems, references, predictions_m2)
            comparisons[name] = compare_results(scorers[name], results, settings)
    return comparisons


def compare_results(scorer: Scorer, results: Mapping[str, Result], settings: Settings | None = None) -> Comparison:
    """Compare systems that have been scored; see `compare`."""
    settings = settings or Settings()
    for name, result in results.items():
        bad = np.flatnonzero(~np.isfinite(result.scores))
        if bad.size and not np.isfinite(result.score):
            raise InputError(f"{scorer.name}: the score of {name} on sentence {bad[0] + 1} is {result.scores[bad[0]]}")
    rows = {name: result.rows() for name, result in results.items()}
    standings = compare_rows(rows, scorer.aggregate, settings, higher_is_better=scorer.higher_is_better)
    line = next(iter(results.values())).signature
    guarded = {
        name: result.details["guard_reasons"] for name, result in results.items() if result.details.get("guarded")
    }
    return Comparison(scorer.name, standings, line, signature("compare", settings, unit="sentence"), guarded)
