"""Optimal transport between the edit vectors of a system and of a reference (UOT-ERRANT)."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geceval.core.f_score import Counts
from geceval.edits.edit import Edit, distinct, in_order, leave_one_out, without_overlaps
from geceval.scorers.edit_based.edit_scorer import TypeCounts

Behaviour: TypeAlias = Literal["normalised", "published"]

REG = 0.1  # `reg` and `reg_m` of the authors' program: minimise <T, M> + reg KL(T, c) + reg_m (KL(T1, a) + KL(T'1, b))
_FAR = 60.0  # cap on distances: exp(-_FAR / REG) is above 0, and the mass transported that far negligible
_UNSEEN = 1e-5  # of the norm of a text's vector: how far equal texts may lie apart in float32
_ROUNDING = 1e-9  # of a mass
_SCALING_STEPS = 64  # each at least halves the error


@dataclass(frozen=True, slots=True, eq=False)
class EditVectors:
    """The edits of one side of a sentence as points, `[edits][dimensions]`, whose norms are their masses."""

    edits: Sequence[Edit]
    vectors: np.ndarray
    masses: np.ndarray


def edit_vectors(
    rows: Iterable[tuple[str, Sequence[Edit]]], embed: Callable[[Sequence[str]], np.ndarray]
) -> list[EditVectors]:
    """Edits as vectors: the embedding of the fully edited text minus that without this edit; one call of `embed`."""
    texts = []
    for source, edits in rows:
        counted_edits = in_order(without_overlaps(distinct([edit for edit in edits if edit.type != "UNK"])))
        texts.append((counted_edits, leave_one_out(source, counted_edits) if counted_edits else []))
    index = {text: row for row, text in enumerate(dict.fromkeys(text for _, row in texts for text in row))}
    embedded = np.asarray(embed(list(index)), dtype=np.float64)
    sides = []
    for counted_edits, row in texts:
        points = embedded[[index[text] for text in row]]
        vectors = points[:1] - points[1:]
        masses = np.linalg.norm(vectors, axis=-1)
        unseen = masses <= _UNSEEN * np.linalg.norm(points[:1], axis=-1)
        vectors[unseen], masses[unseen] = 0.0, 0.0
        sides.append(EditVectors(counted_edits, vectors, masses))
    return sides


@dataclass(frozen=True, slots=True, eq=False)
class TransportPlan:
    """A matching of a system's edits with those of a reference: the mass moved between each two."""

    edits: Sequence[Edit]
    gold: Sequence[Edit]
    masses: np.ndarray
    gold_masses: np.ndarray
    plan: np.ndarray
    annotator: int = 0

    def shown(self, least: float = 0.01) -> np.ndarray:
        """The pairs of edits that are worth showing, bool [edits][gold]."""
        return (self.plan > 0) & (self.plan >= least * np.minimum(self.masses[:, None], self.gold_masses))

    def pairs(self, least: float = 0.01) -> list[tuple[int | None, int | None, float]]:
        """Index of the system's edit, index of the reference's, and the transported mass; `None`: nothing matched."""
        shown = self.shown(least)
        return [
            *((i, j, float(self.plan[i, j])) for i, j in np.argwhere(shown).tolist()),
            *((i, None, 0.0) for i in np.flatnonzero(~shown.any(axis=1)).tolist()),
            *((None, j, 0.0) for j in np.flatnonzero(~shown.any(axis=0)).tolist()),
        ]

    def remaining(self) -> tuple[list[float], list[float]]:
        """The mass of each edit, of the system and of the reference, that is not transported."""
        return _remaining(self.masses, self.plan.sum(axis=1)), _remaining(self.gold_masses, self.plan.sum(axis=0))

    def counts(self) -> TypeCounts:
        """Error type to mass: of the system's edits transported (tp) or not (fp), of the reference's missed (fn)."""
        unmatched, missed = self.remaining()
        counts: TypeCounts = {}
        of_system = zip(self.edits, self.plan.sum(axis=1).tolist(), unmatched, strict=True)
        of_gold = zip(self.gold, missed, strict=True)
        for kind, more in (
            *((edit.type, Counts(tp, fp, 0.0)) for edit, tp, fp in of_system),
            *((edit.type, Counts(0.0, 0.0, fn)) for edit, fn in of_gold),
        ):
            counts[kind] = counts.get(kind, Counts()) + more
        return counts


def transport(
    pairs: Sequence[tuple[EditVectors, EditVectors]], behaviour: Behaviour = "normalised"
) -> list[TransportPlan]:
    """The plans of many pairs of a system's edits and a reference's."""
    plan = _normalised if behaviour == "normalised" else _published
    return [TransportPlan(a.edits, b.edits, a.masses, b.masses, plan(a, b)) for a, b in pairs]


def _published(system: EditVectors, reference: EditVectors) -> np.ndarray:
    """The plan of the authors' program."""
    if not len(system.edits) or not len(reference.edits):
        return np.zeros((len(system.edits), len(reference.edits)))
    from ot.unbalanced import sinkhorn_stabilized_unbalanced

    # POT warns of the logarithm of a mass of 0, and where it stops for one.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return sinkhorn_stabilized_unbalanced(
            system.masses, reference.masses, _distances(system.vectors, reference.vectors), REG, REG, reg_type="kl"
        )


def _normalised(system: EditVectors, reference: EditVectors) -> np.ndarray:
    """A plan in which no edit gives or takes more than its mass, and equal sets of edits are matched fully."""
    from ot.unbalanced import sinkhorn_unbalanced

    # The reference measure is v w' instead of a b', where v scales the kernel of the system's edits with themselves
    # such that its rows sum to a, and w does so for the reference. What has no mass takes no part.
    rows, columns = system.masses > 0, reference.masses > 0
    plan = np.zeros((len(rows), len(columns)))
    if rows.any() and columns.any():
        a, left = system.masses[rows], system.vectors[rows]
        b, right = reference.masses[columns], reference.vectors[columns]
        measure = np.outer(_self_scaling(a, left), _self_scaling(b, right))
        cost = np.minimum(_distances(left, right), _FAR)
        moved = sinkhorn_unbalanced(a, b, cost, REG, REG, reg_type="kl", c=measure, stopThr=1e-9)
        with np.errstate(divide="ignore"):
            room = np.minimum((a / moved.sum(axis=1))[:, None], b / moved.sum(axis=0))
        plan[np.ix_(rows, columns)] = moved * np.minimum(room, 1.0)
    return plan


def _self_scaling(masses: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The v for which v_i (K v)_i is the mass of i, with K = exp(-distance / reg) of the points with themselves."""
    kernel = np.exp(-_distances(points, points) / REG)
    scaling = np.sqrt(masses)
    for _ in range(_SCALING_STEPS):
        scaling = np.sqrt(scaling * masses / (kernel @ scaling))
    return scaling


def _distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(left, right)


def _remaining(masses: np.ndarray, taken: np.ndarray) -> list[float]:
    remaining = masses - taken
    remaining[np.abs(remaining) <= _ROUNDING * masses] = 0.0
    return remaining.tolist()
