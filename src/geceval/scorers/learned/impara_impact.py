"""Impact of an edit in IMPARA: how far a correction's embedding moves without it (Maeda et al. 2022, section 2.3)."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from geceval.edits.edit import Edit, leave_one_out

Row = tuple[str, Sequence[Edit]]
Embed = Callable[[list[str]], np.ndarray]


def cosine_impacts(rows: Sequence[Row], embed: Embed) -> list[list[float]]:
    """The impact of each edit: 1 - cos(embed(T), embed(T_-e)), Eq. 5."""
    # Every distinct text is embedded once, in one call.
    texts = [leave_one_out(source, edits) for source, edits in rows]
    index = {text: number for number, text in enumerate(dict.fromkeys(t for group in texts for t in group))}
    if not index:
        return []
    vectors = np.asarray(embed(list(index)), dtype=np.float64)
    with np.errstate(invalid="ignore"):
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return [
        [_impact(vectors[index[full]], vectors[index[text]], full == text) for text in partial]
        for full, *partial in texts
    ]


def _impact(full: np.ndarray, partial: np.ndarray, equal: bool) -> float:
    impact = 0.0 if equal else float(1 - full @ partial)
    return impact if math.isnan(impact) else max(0.0, impact)
