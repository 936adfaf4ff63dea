"""Human ratings of single outputs (TMU-GFM), and the ordered pairs of outputs that follow from them."""

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import read_csv

_COLUMNS = ("source", "output", "ave_g", "ave_f", "ave_m")


@dataclass(frozen=True, slots=True)
class Rating:
    """Mean human ratings of one output."""

    source: str
    output: str
    grammaticality: float
    fluency: float
    meaning: float


def read_tmu_gfm(path: str | Path) -> list[Rating]:
    """Read TMU-GFM-Dataset (Yoshimura et al. 2020), the CSV file as its authors published it."""
    ratings = []
    for where, row in read_rows(path, _COLUMNS):
        means = [number(row[name]) for name in _COLUMNS[2:]]
        if not all(map(math.isfinite, means)):
            raise InputError(f"{where}: a mean rating is no number")
        ratings.append(Rating(row["source"], row["output"], *means))
    return ratings


def read_rows(path: str | Path, columns: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Read a CSV file that has these columns."""
    header, rows = read_csv(path)
    for name in columns:
        if name not in header:
            raise InputError(f"{path}: no column {name!r}; expected the columns {', '.join(columns)}")
    return rows


def number(text: str) -> float:
    """A number, NaN where the text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def rated_outputs(ratings: Iterable[Rating]) -> dict[str, dict[str, float]]:
    """Source to output to the mean of grammaticality and fluency; of two equal outputs the last rating counts."""
    quality: dict[str, dict[str, float]] = {}
    for rating in ratings:
        quality.setdefault(rating.source, {})[rating.output] = (rating.grammaticality + rating.fluency) / 2
    return quality


def rated_pairs(
    ratings: list[Rating], limit: int | None = None, seed: int = 1, gap: float = 0.0
) -> list[tuple[str, str, str]]:
    """Pairs of outputs of one source that differ in the mean of grammaticality and fluency."""
    pairs = []
    for source, outputs in rated_outputs(ratings).items():
        for left, right in itertools.combinations(outputs, 2):
            difference = abs(outputs[left] - outputs[right])
            if difference > 0 and difference >= gap - 1e-9:  # means of ratings are no exact decimals
                worse, better = sorted((left, right), key=outputs.__getitem__)
                pairs.append((source, worse, better))
    if not pairs:
        raise InputError(f"no two outputs of one source are rated differently, by at least {gap:g}")
    random.Random(seed).shuffle(pairs)
    return pairs[:limit]
