"""The bootstrap and approximate randomisation: resamples, p-values and intervals."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal

import numpy as np

from geceval.core.options import Range

EQUAL = 1e-12  # differences of the same numbers, summed in another order, are equal up to this
_BYTES = 64_000_000  # of rows held at once

INSIDE = Range(1e-6, 1 - 1e-6)
Confidence = Annotated[float, INSIDE]
Method = Literal["bootstrap", "randomisation"]
Alternative = Literal["greater", "two-sided"]
Aggregate = Callable[[np.ndarray], np.ndarray]
"""Maps rows, `[samples][sentences][...]`, to corpus scores, `[samples]`."""


def bootstrap_scores(rows: np.ndarray, aggregate: Aggregate, resamples: int, seed: int) -> np.ndarray:
    """Corpus scores of bootstrap samples of sentences, array of shape [resamples]."""
    # Samples keep the order of the corpus, and depend only on seed and shape, so every system gets the same ones.
    draw = np.random.default_rng(seed)
    portions = []
    for size in _chunks(rows, resamples):
        chosen = np.sort(draw.integers(len(rows), size=(size, len(rows))), axis=1)
        portions.append(aggregate(rows[chosen]))
    return np.concatenate(portions)


def randomised_differences(
    first: np.ndarray, second: np.ndarray, aggregate: Aggregate, resamples: int, seed: int
) -> np.ndarray:
    """Differences second - first of corpus scores, with sentences swapped at random; array of shape [resamples]."""
    draw = np.random.default_rng(seed)
    both = np.concatenate([first, second])
    places = np.arange(len(first))
    portions = []
    for size in _chunks(both, resamples):
        swapped = (draw.random((size, len(first))) < 0.5) * len(first)
        portions.append(aggregate(both[places + len(first) - swapped]) - aggregate(both[places + swapped]))
    return np.concatenate(portions)


def _chunks(rows: np.ndarray, resamples: int) -> Iterator[int]:
    """Sizes of the portions in which resamples are made, so that memory stays bounded."""
    most = max(1, _BYTES // max(rows.nbytes, 1))
    for done in range(0, resamples, most):
        yield min(most, resamples - done)


def bootstrap_sums(rows: np.ndarray, resamples: int, draw: np.random.Generator) -> np.ndarray:
    """Sums of bootstrap samples of units, `[resamples, columns]`; equal rows are drawn together, by a multinomial."""
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    return draw.multinomial(counts.sum(), counts / counts.sum(), size=resamples).astype(float) @ kinds


def randomised_sums(
    left: np.ndarray, right: np.ndarray, resamples: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of both sides with units swapped at random; the swaps among equal units are one binomial draw."""
    kinds, counts = np.unique(right - left, axis=0, return_counts=True)
    moved = draw.binomial(counts, 0.5, size=(resamples, len(counts))).astype(float) @ kinds
    return left.sum(axis=0) + moved, right.sum(axis=0) - moved


def ratio(sums: np.ndarray) -> np.ndarray:
    """Numerator divided by denominator, [..., 2]; 0 where a resample holds no pair that counts."""
    value, count = np.moveaxis(sums, -1, 0)
    return np.where(count > 0, value / np.where(count > 0, count, 1), 0.0)


def p_value(difference: float, differences: np.ndarray, method: Method, alternative: Alternative) -> float:
    """The p-value (1 + #(Δ* ≥ Δ)) / (B + 1) of an observed difference Δ, from those of B resamples, Δ*.

    `"bootstrap"`: Δ* is that of a bootstrap sample, shifted by Δ to no difference (Noreen 1989; Riezler and Maxwell
    2005 subtract the mean of all Δ*, which tends to Δ). `"randomisation"`: the two are swapped in each unit with
    probability ½. `"two-sided"` compares |Δ*| and |Δ|.
    """
    null = differences - difference if method == "bootstrap" else differences
    hits = null >= difference - EQUAL if alternative == "greater" else np.abs(null) >= abs(difference) - EQUAL
    return float((1 + hits.sum()) / (len(differences) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values of a family of tests, adjusted by Holm (1979); NaN is no test and stays."""
    values = np.array(p_values, dtype=float)
    order = np.argsort(values)[: np.isfinite(values).sum()]  # NaN comes last
    adjusted = np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1))
    values[order] = np.minimum(adjusted, 1)
    return values.tolist()


def interval(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """The percentile interval of the values of bootstrap samples, array of shape [B]."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail]).tolist()
    return low, high
