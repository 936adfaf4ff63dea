"""Do systems differ under a metric? Bootstrap intervals and paired tests of corpus scores."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, get_args

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError
from geceval.core.options import Options, Range, Seed, check_choice
from geceval.meta.significance.resampling import (
    Aggregate,
    Confidence,
    Method,
    bootstrap_scores,
    interval,
    p_value,
    randomised_differences,
)

METHODS = get_args(Method)


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of p-values and intervals.

    Attributes:
        methods: `"bootstrap"`: paired bootstrap, p = (1 + #(|Δ* - Δ| ≥ |Δ|)) / (B + 1) over B samples of sentences;
            `"randomisation"`: approximate randomisation, p = (1 + #(|Δ*| ≥ |Δ|)) / (B + 1), where the two systems swap
            each sentence with probability ½. Both are two-sided. Intervals are always those of the bootstrap.
        baseline: The system that the others are compared with: its name, `"first"` or `"best"`.
        resamples: Number of resamples, B.
        confidence: Confidence level of the intervals, e.g. 0.95.
        seed: Seed of the resamples; all systems get the same ones.
    """

    methods: str | tuple[str, ...] = METHODS
    baseline: str = "first"
    resamples: Annotated[int, Range(1, 1_000_000)] = 1000
    confidence: Confidence = 0.95
    seed: Seed = 1

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        names = (self.methods,) if isinstance(self.methods, str) else tuple(dict.fromkeys(self.methods))
        object.__setattr__(self, "methods", names)
        if not names:
            raise InputError(f"methods must name at least one of {', '.join(METHODS)}")
        for name in names:
            check_choice("method", name, METHODS)


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """A system's corpus score, its bootstrap interval and its difference from the baseline.

    Attributes:
        system: Its name.
        score: The metric's own corpus score.
        low: Lower end of the bootstrap percentile interval of the score.
        high: Upper end.
        difference: score - score of the baseline.
        visible: The least difference from the baseline, either way, that the paired bootstrap would find at
            p < 1 - confidence; infinite where so few resamples can show no such p, 0 for the baseline itself.
        p: Method to p-value of that difference; 1 for the baseline itself.
        rank: 1 for the best; systems that do not differ share a rank, see `rank_clusters`.
    """

    system: str
    score: float
    low: float
    high: float
    difference: float
    visible: float
    p: dict[str, float]
    rank: int


def compare_rows(
    systems: Mapping[str, np.ndarray],
    aggregate: Aggregate,
    settings: Settings | None = None,
    *,
    higher_is_better: bool = True,
) -> list[SystemEstimate]:
    """Compare systems that were scored on the same sentences."""
    # Metrics that choose an annotator by the totals of the preceding sentences (ERRANT, M2, PT-M2, PT-ERRANT) choose
    # again in every sample; weights that come from all systems together (GoToScorer) stay those of the whole corpus.
    settings = settings or Settings()
    scores = {name: float(aggregate(rows[None])[0]) for name, rows in systems.items()}
    baseline = pick_baseline(scores, settings.baseline, higher_is_better)
    draws = settings.resamples, settings.seed
    samples = {name: bootstrap_scores(rows, aggregate, *draws) for name, rows in systems.items()}
    ranks = rank_clusters(scores, samples, 1 - settings.confidence, higher_is_better=higher_is_better)

    def p(name: str, method: str) -> float:
        if name == baseline:
            return 1.0
        difference = scores[name] - scores[baseline]
        if method == "bootstrap":
            return p_value(difference, samples[name] - samples[baseline], method, "two-sided")
        differences = randomised_differences(systems[baseline], systems[name], aggregate, *draws)
        return p_value(difference, differences, method, "two-sided")

    return [
        SystemEstimate(
            name,
            score,
            *interval(samples[name], settings.confidence),
            difference=score - scores[baseline],
            visible=_visible(score - scores[baseline], samples[name] - samples[baseline], 1 - settings.confidence),
            p={method: p(name, method) for method in settings.methods},
            rank=ranks[name],
        )
        for name, score in scores.items()
    ]


def _visible(difference: float, differences: np.ndarray, level: float) -> float:
    """The least |Δ| that has p < level by `p_value`, if the differences of samples vary about it as about this one."""
    most = math.ceil(round(level * (len(differences) + 1) - 1, 6)) - 1  # hits that leave p < level
    return math.inf if most < 0 else float(np.sort(np.abs(differences - difference))[::-1][most])


def rank_clusters(
    scores: Mapping[str, float], samples: Mapping[str, np.ndarray], level: float, *, higher_is_better: bool = True
) -> dict[str, int]:
    """Ranks that systems share if they do not differ: clusters as in the findings of WMT (Koehn, IWSLT 2012)."""
    # Systems are ordered by score. A cluster ends where every system above differs from every system below; so two that
    # do not differ are never in two clusters, while the ends of a long cluster may differ.
    order = sorted(scores, key=scores.__getitem__, reverse=higher_is_better)

    @lru_cache(maxsize=None)
    def differ(one: str, other: str) -> bool:
        return p_value(scores[one] - scores[other], samples[one] - samples[other], "bootstrap", "two-sided") < level

    ranks: dict[str, int] = {}
    for number, name in enumerate(order):
        apart = all(differ(above, below) for above in order[:number] for below in order[number:])
        ranks[name] = number + 1 if apart else ranks[order[number - 1]]
    return ranks


def pick_baseline(scores: Mapping[str, float], name: str, higher_is_better: bool = True) -> str:
    """The system that a baseline refers to: by its name, `"first"`, or `"best"` (on ties, the first of the best)."""
    if name in scores:
        return name
    if name == "first":
        return next(iter(scores))
    if name == "best":
        return (max if higher_is_better else min)(scores, key=scores.__getitem__)
    raise InputError(f"no system {name!r} to compare with; choose first, best, or one of {', '.join(scores)}")
