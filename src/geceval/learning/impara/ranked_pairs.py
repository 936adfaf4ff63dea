"""Edit impacts, and the ranked pairs of sentences that IMPARA learns from (Maeda et al. 2022, sections 2.3 and 2.4).

A row is a source with the edits that correct it. Leaving out one edit e of the corrected text T gives T_-e; how far
the embedding moves is the impact of e. Two random subsets of the edits give two partly corrected texts; the one whose
edits have more impact counts as the better one.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from geceval.core.options import check_count
from geceval.corpora.ratings import rated_pairs, read_tmu_gfm
from geceval.edits.edit import Edit, apply, in_order, without_overlaps
from geceval.scorers.learned.edit_impact import Embed, Row, edit_impacts

logger = logging.getLogger("geceval")

PAIRS = 4096
ATTEMPTS = 30
TIE = 1e-6  # cosines of float32 vectors differ by about 1e-7 for nothing


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two versions of one sentence, the worse and the better."""

    source: str
    low: str
    high: str


def ranked_pairs(
    rows: Iterable[Row], embed: Embed, *, total: int = PAIRS, per_row: int = ATTEMPTS, seed: int = 1
) -> list[RankedPair]:
    """Pairs of partly corrected sentences, ranked by impact (section 2.4)."""
    # For each row, up to `per_row` times: E1 is a random subset of k edits, k uniform on 1..n; E2 is E1 with the
    # membership of every edit flipped with probability 1/n. A pair is dropped if E1 = E2, if the subsets or the texts
    # repeat an earlier pair, if the texts are equal or one is empty, if the sums of impacts are equal, or if an impact
    # is NaN. Edits that overlap an earlier one of their row are left out first. The pairs that remain are shuffled over
    # all rows.
    check_count("total", total)
    check_count("per_row", per_row)
    usable = _usable(rows)
    rng = random.Random(seed)
    drawn = [(number, *subsets) for number, row in enumerate(usable) for subsets in _subsets(len(row[1]), per_row, rng)]
    rng.shuffle(drawn)
    pairs: dict[RankedPair, None] = {}
    impacts: dict[int, list[float]] = {}
    start = 0
    while start < len(drawn) and len(pairs) < total:
        chunk = drawn[start : start + total - len(pairs)]
        start += len(chunk)
        missing = [number for number in dict.fromkeys(d[0] for d in chunk) if number not in impacts]
        impacts.update(zip(missing, edit_impacts([usable[number] for number in missing], embed), strict=True))
        for number, one, other in chunk:
            pair = _rank(usable[number], impacts[number], one, other)
            if pair is not None:
                pairs[pair] = None
    return _enough(list(pairs), total)


def parallel_pairs(rows: Iterable[Row], *, total: int = PAIRS, seed: int = 1) -> list[RankedPair]:
    """Pairs of source and full correction, the paper's ablation "parallel data only" (section 3.2)."""
    check_count("total", total)
    found = ((" ".join(source.split()), apply(source, edits)) for source, edits in _usable(rows))
    pairs = list(dict.fromkeys(RankedPair(low, low, high) for low, high in found if low != high and low and high))
    random.Random(seed).shuffle(pairs)
    return _enough(pairs[:total], total)


def read_rated_pairs(path: Path, limit: int | None = None, gap: float = 0.0) -> list[RankedPair]:
    """The outputs of TMU-GFM-Dataset in pairs, ranked by people in place of impacts, see `rated_pairs`."""
    return [RankedPair(*row) for row in rated_pairs(read_tmu_gfm(path), limit, gap=gap)]


def split_by_source(rows: Iterable[Row], parts: Sequence[int] = (8, 1, 1), seed: int = 1) -> list[list[Row]]:
    """Divide rows so that no source is in two folds; the rows of one source (annotators) stay together."""
    rows = list(rows)
    keys = [" ".join(source.split()) for source, _ in rows]
    shuffled = sorted(set(keys))
    random.Random(seed).shuffle(shuffled)
    ends = [len(shuffled) * sum(parts[: number + 1]) // sum(parts) for number in range(len(parts))]
    fold = {key: sum(index >= end for end in ends) for index, key in enumerate(shuffled)}
    return [[row for key, row in zip(keys, rows, strict=True) if fold[key] == number] for number in range(len(parts))]


def _usable(rows: Iterable[Row]) -> list[tuple[str, list[Edit]]]:
    cleaned = [(source, in_order(without_overlaps(edits))) for source, edits in rows]
    return [(source, edits) for source, edits in cleaned if edits]


def _subsets(size: int, attempts: int, rng: random.Random) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Distinct unordered pairs of different subsets of range(size)."""
    seen = set()
    for _ in range(attempts):
        one = frozenset(rng.sample(range(size), rng.randint(1, size)))
        other = one ^ {index for index in range(size) if rng.random() < 1 / size}
        pair = frozenset((one, other))
        if one != other and pair not in seen:
            seen.add(pair)
            yield one, other


def _rank(row: Row, impacts: list[float], one: frozenset[int], other: frozenset[int]) -> RankedPair | None:
    source, edits = row
    difference = sum(impacts[index] for index in one) - sum(impacts[index] for index in other)
    if not abs(difference) > TIE:  # also true for NaN
        return None
    low, high = (one, other) if difference < 0 else (other, one)
    texts = [apply(source, [edits[index] for index in sorted(subset)]) for subset in (low, high)]
    if texts[0] == texts[1] or not all(texts):
        return None
    return RankedPair(" ".join(source.split()), *texts)


def _enough(pairs: list[RankedPair], total: int) -> list[RankedPair]:
    if len(pairs) < total:
        logger.warning("only %d of the %d pairs asked for could be made; more sentences give more", len(pairs), total)
    return pairs
