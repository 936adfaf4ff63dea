"""Which edit of a system answers which edit of a reference: optimal transport between edit vectors (UOT-ERRANT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.f_score import Counts
from geceval.edits.edit import Edit
from geceval.scorers.edit_based.edit_vectors import EditVectors
from geceval.scorers.edit_based.errant_counts import TypeCounts
from geceval.scorers.edit_based.sinkhorn import Problem, bounded_plans, published_plans

COSTS = ("euclidean", "cosine")
BEHAVIOURS = ("normalised", "published")
TABLE_HEADER = ("sentence", "edit", "type", "mass", "reference_edit", "reference_type", "reference_mass", "transported")
_ROUNDING = 1e-9  # of a mass


@dataclass(frozen=True, slots=True, eq=False)
class TransportPlan:
    """Which edits of a system answer which edits of a reference."""

    edits: Sequence[Edit]
    gold: Sequence[Edit]
    masses: np.ndarray
    gold_masses: np.ndarray
    plan: np.ndarray
    annotator: int = 0

    def shown(self, least: float = 0.01) -> np.ndarray:
        """Which pairs of edits are worth showing, bool [edits][gold]."""
        return (self.plan > 0) & (self.plan >= least * np.minimum(self.masses[:, None], self.gold_masses))

    def pairs(self, least: float = 0.01) -> list[tuple[int | None, int | None, float]]:
        """Index of an edit of the system, of one of the reference, and what is transported."""
        shown = self.shown(least)
        return [
            *((i, j, float(self.plan[i, j])) for i, j in np.argwhere(shown).tolist()),
            *((i, None, 0.0) for i in np.flatnonzero(~shown.any(axis=1)).tolist()),
            *((None, j, 0.0) for j in np.flatnonzero(~shown.any(axis=0)).tolist()),
        ]

    def left(self) -> tuple[list[float], list[float]]:
        """The mass of each edit, of the system and of the reference, that is not transported."""
        return _left(self.masses, self.plan.sum(axis=1)), _left(self.gold_masses, self.plan.sum(axis=0))

    def counts(self) -> TypeCounts:
        """Error type to counts: mass that is transported (tp) or not (fp), by the type of the system's edit, and mass
        of the reference that nothing answers (fn), by its type; see `left`."""
        unanswered, missed = self.left()
        counts: TypeCounts = {}
        of_system = zip(self.edits, self.plan.sum(axis=1).tolist(), unanswered, strict=True)
        of_gold = zip(self.gold, missed, strict=True)
        for kind, more in (
            *((edit.type, Counts(tp, fp, 0.0)) for edit, tp, fp in of_system),
            *((edit.type, Counts(0.0, 0.0, fn)) for edit, fn in of_gold),
        ):
            counts[kind] = counts.get(kind, Counts()) + more
        return counts


def transport(
    pairs: Sequence[tuple[EditVectors, EditVectors]],
    cost: str = "euclidean",
    behaviour: str = "normalised",
    reg: float = 0.1,
    reg_m: float = 0.1,
) -> list[TransportPlan]:
    """The plans of many pairs of a system's edits and a reference's."""
    bounded = behaviour == "normalised"
    own = {id(side): _costs(side.vectors, side.vectors, cost) for pair in pairs for side in pair} if bounded else {}
    problems = [
        Problem(a.masses, b.masses, _costs(a.vectors, b.vectors, cost), own.get(id(a)), own.get(id(b)))
        for a, b in pairs
    ]
    plans = (bounded_plans if bounded else published_plans)(problems, reg, reg_m)
    return [
        TransportPlan(a.edits, b.edits, a.masses, b.masses, plan) for (a, b), plan in zip(pairs, plans, strict=True)
    ]


def plan_table(plans: Sequence[TransportPlan], least: float = 0.01) -> list[tuple[str | int | float, ...]]:
    """Transport plans as rows under `TABLE_HEADER`."""
    nothing = "", "", 0.0
    rows: list[tuple[str | int | float, ...]] = []
    for index, each in enumerate(plans):
        system = [_cells(edit, mass) for edit, mass in zip(each.edits, each.masses.tolist(), strict=True)]
        gold = [_cells(edit, mass) for edit, mass in zip(each.gold, each.gold_masses.tolist(), strict=True)]
        for i, j, moved in each.pairs(least):
            rows.append((index, *(nothing if i is None else system[i]), *(nothing if j is None else gold[j]), moved))
    return rows


def _cells(edit: Edit, mass: float) -> tuple[str, str, float]:
    return str(edit), edit.type, mass


def _left(masses: np.ndarray, taken: np.ndarray) -> list[float]:
    left = masses - taken
    left[np.abs(left) <= _ROUNDING * masses] = 0.0
    return left.tolist()


def _costs(left: np.ndarray, right: np.ndarray, cost: str) -> np.ndarray:
    """How far vectors lie apart, [left][right]; see `transport`."""
    from scipy.spatial.distance import cdist

    if not len(left) or not len(right):
        return np.zeros((len(left), len(right)))
    if cost == "euclidean":
        return cdist(left, right)
    units = [
        np.divide(each, norms, out=np.zeros_like(each), where=norms > 0)
        for each in (left, right)
        for norms in [np.linalg.norm(each, axis=1, keepdims=True)]
    ]
    both_zero = ~units[0].any(axis=1)[:, None] & ~units[1].any(axis=1)
    return np.where(both_zero, 0.0, np.maximum(1 - units[0] @ units[1].T, 0.0))
