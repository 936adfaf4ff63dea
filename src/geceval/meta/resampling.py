"""Do systems differ under a metric? Bootstrap intervals and paired tests from what was scored sentence by sentence.

Nothing is scored again: a metric says once what its corpus score is made of, sentence by sentence (n-gram counts, true
and false positives, or just scores), and turns any sample of these rows into a corpus score. So the tests are of the
corpus score itself and not of a mean of sentence scores.

A bootstrap sample keeps its sentences in the order of the corpus. Metrics that choose an annotator by the totals of the
sentences before (ERRANT, M2, PT-M2, PT-ERRANT) choose anew in every sample, as they would in a corpus of these
sentences; weights that come from all systems together (GoToScorer) stay those of the whole corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from geceval.core.checks import check_choice, check_count
from geceval.core.errors import InputError
from geceval.meta.paired import check_confidence, p_value

METHODS = ("bootstrap", "randomisation")
_BYTES = 64_000_000  # of rows held at once

Aggregate = Callable[[np.ndarray], np.ndarray]
"""From rows, `[samples][sentences][...]`, to corpus scores, `[samples]`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the p-values and intervals depend on.

    Attributes:
        methods: `"bootstrap"`: paired bootstrap, p = (1 + #(|Δ* - Δ| ≥ |Δ|)) / (B + 1) over B samples of sentences;
            `"randomisation"`: approximate randomisation, p = (1 + #(|Δ*| ≥ |Δ|)) / (B + 1), where the two systems swap
            each sentence with probability ½. Both are two-sided. Intervals are always those of the bootstrap.
        baseline: The system that the others are compared with: its name, `"first"` or `"best"`.
        resamples: B.
        confidence: Of the intervals, e.g. 0.95.
        seed: Of the resamples; all systems see the same ones.
    """

    methods: tuple[str, ...] = METHODS
    baseline: str = "first"
    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 1

    def __post_init__(self) -> None:
        names = (self.methods,) if isinstance(self.methods, str) else tuple(dict.fromkeys(self.methods))
        object.__setattr__(self, "methods", names)
        if not names:
            raise InputError(f"methods must name at least one of {', '.join(METHODS)}")
        for name in names:
            check_choice("method", name, METHODS)
        check_count("resamples", self.resamples, most=1_000_000)
        check_count("seed", self.seed, least=0)
        check_confidence(self.confidence)


@dataclass(frozen=True, slots=True)
class Standing:
    """One system beside the baseline.

    Attributes:
        system: Its name.
        score: The metric's own corpus score.
        low: Lower end of the bootstrap percentile interval of the score.
        high: Upper end.
        difference: score - score of the baseline.
        p: Method to p-value of that difference; 1 for the baseline itself.
    """

    system: str
    score: float
    low: float
    high: float
    difference: float
    p: dict[str, float]


def compare_rows(
    systems: Mapping[str, np.ndarray],
    aggregate: Aggregate,
    settings: Settings | None = None,
    *,
    higher_is_better: bool = True,
) -> list[Standing]:
    """Compare systems that were scored on the same sentences.

    Args:
        systems: Name of each system to the rows of its result, `[sentences][...]`.
        aggregate: The metric's way from rows to corpus scores.
        settings: See `Settings`.
        higher_is_better: The metric's direction, for the baseline `"best"`.

    Returns:
        One entry a system, in the order given.

    Raises:
        ValueError: If there are fewer than two systems, their sentences differ in number, the baseline is none of
            them, or a corpus score is not finite.
    """
    settings = settings or Settings()
    scores = _own_scores(systems, aggregate)
    baseline = pick_baseline(scores, settings.baseline, higher_is_better)
    samples = {name: _bootstrap(rows, aggregate, settings.resamples, settings.seed) for name, rows in systems.items()}
    tail = (1 - settings.confidence) / 2
    standings = []
    for name, rows in systems.items():
        low, high = np.quantile(samples[name], [tail, 1 - tail]).tolist()
        difference = scores[name] - scores[baseline]
        p = {method: 1.0 for method in settings.methods}
        if name != baseline:
            for method in settings.methods:
                if method == "bootstrap":
                    found = samples[name] - samples[baseline]
                else:
                    found = _randomise(systems[baseline], rows, aggregate, settings.resamples, settings.seed)
                kind = "shifted" if method == "bootstrap" else method
                p[method] = p_value(difference, found, kind, "two-sided")
        standings.append(Standing(name, scores[name], low, high, difference, p))
    return standings


def pick_baseline(scores: Mapping[str, float], name: str, higher_is_better: bool = True) -> str:
    """The system that a baseline stands for: itself, `"first"`, or `"best"`, of equal ones the first.

    Raises:
        ValueError: If there is no such system.
    """
    if name in scores:
        return name
    if name == "first":
        return next(iter(scores))
    if name == "best":
        return (max if higher_is_better else min)(scores, key=scores.__getitem__)
    raise InputError(f"no system {name!r} to compare with; choose first, best, or one of {', '.join(scores)}")


def _own_scores(systems: Mapping[str, np.ndarray], aggregate: Aggregate) -> dict[str, float]:
    if len(systems) < 2:
        raise InputError("there is nothing to compare: pass at least two systems")
    sizes = {name: len(rows) for name, rows in systems.items()}
    first = next(iter(sizes))
    for name, size in sizes.items():
        if size != sizes[first]:
            raise InputError(f"{name} has {size} sentences but {first} has {sizes[first]}; they must be the same ones")
    if not sizes[first]:
        raise InputError("there is nothing to compare: the systems have no sentences")
    scores = {name: float(aggregate(rows[None])[0]) for name, rows in systems.items()}
    for name, score in scores.items():
        if not np.isfinite(score):
            raise InputError(f"the score of {name} is {score}; resampling needs finite scores")
    return scores


def _bootstrap(rows: np.ndarray, aggregate: Aggregate, resamples: int, seed: int) -> np.ndarray:
    """Corpus scores of samples with replacement, [resamples]; the same samples for every system."""
    draw = np.random.default_rng(seed)
    found = []
    for size in _chunks(rows, resamples):
        chosen = np.sort(draw.integers(len(rows), size=(size, len(rows))), axis=1)
        found.append(aggregate(rows[chosen]))
    return np.concatenate(found)


def _randomise(first: np.ndarray, second: np.ndarray, aggregate: Aggregate, resamples: int, seed: int) -> np.ndarray:
    """Differences second - first when the systems swap sentences at random, [resamples]."""
    draw = np.random.default_rng(seed)
    both = np.concatenate([first, second])
    places = np.arange(len(first))
    found = []
    for size in _chunks(both, resamples):
        swapped = (draw.random((size, len(first))) < 0.5) * len(first)
        found.append(aggregate(both[places + len(first) - swapped]) - aggregate(both[places + swapped]))
    return np.concatenate(found)


def _chunks(rows: np.ndarray, resamples: int) -> Iterator[int]:
    """Sizes of the portions in which resamples are made, so that memory stays bounded."""
    most = max(1, _BYTES // max(rows.nbytes, 1))
    for done in range(0, resamples, most):
        yield min(most, resamples - done)
