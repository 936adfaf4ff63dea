"""The threshold of IMPARA's similarity estimator (Maeda et al. 2022, section 3.1.1).

The paper takes 0.9 for bert-base-cased because no two different sentences of its data are that similar. Other encoders
have other scales, so the value is derived from data and stored in the checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.errors import InputError

KEPT = 0.995

_ROWS = 512


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold and the data it was derived from; cosines lie in [-1, 1]."""

    threshold: float
    rule: str
    different_sentences: int
    highest_different: float
    different_above: float
    corrections: int
    corrections_kept: float
    kept_at_highest: float


def calibrate(
    different: Sequence[str], corrections: Sequence[tuple[str, str]], embed: Callable[[list[str]], np.ndarray]
) -> Calibration:
    """Find the threshold: above all different sentences if 99.5 % of genuine corrections pass there, else below."""
    sentences = list(dict.fromkeys(different))
    changed = [
        (source, corrected)
        for source, corrected in corrections
        if source != corrected and 2 * len(corrected.split()) >= len(source.split())
    ]
    if len(sentences) < 2 or not changed:
        raise InputError("calibration needs at least two different sentences and one genuine correction")
    vectors = _unit(embed(sentences))
    same = (_unit(embed([s for s, _ in changed])) * _unit(embed([t for _, t in changed]))).sum(axis=1)
    highest = max(float(block.max()) for block in _pairs(vectors))
    kept_at_highest = float((same > highest).mean())
    rule = "different" if kept_at_highest >= KEPT else "corrections"
    bound = highest if rule == "different" else float(np.quantile(same, 1 - KEPT, method="lower"))
    # Rounded towards the side that keeps the promise of the rule; "must exceed" lets equality fail.
    threshold = math.ceil(bound * 1000) / 1000 if rule == "different" else math.ceil(bound * 1000 - 1) / 1000
    above = sum(int((block > threshold).sum()) for block in _pairs(vectors))
    return Calibration(
        threshold=threshold,
        rule=rule,
        different_sentences=len(sentences),
        highest_different=highest,
        different_above=above / (len(sentences) * (len(sentences) - 1) / 2),
        corrections=len(changed),
        corrections_kept=float((same > threshold).mean()),
        kept_at_highest=kept_at_highest,
    )


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _pairs(vectors: np.ndarray) -> Iterator[np.ndarray]:
    """Cosines of all pairs i < j, some rows of the upper triangle at a time."""
    for start in range(0, len(vectors), _ROWS):
        block = vectors[start : start + _ROWS] @ vectors[start:].T
        rows, columns = np.triu_indices(n=block.shape[0], k=1, m=block.shape[1])
        if rows.size:
            yield block[rows, columns]
