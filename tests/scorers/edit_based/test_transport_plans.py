"""Vectors of edits by hand, and the properties of the plans between them."""

import math

import numpy as np
import pytest

from geceval.edits.edit import Edit
from geceval.scorers.edit_based.transport_plans import EditVectors, edit_vectors, transport

# The source "x y z" and what becomes of it by y -> b, by z -> c, and by both; in the plane.
TABLE = {"x y z": (1.0, 0.0), "x b z": (1.0, 2.0), "x y c": (4.0, 0.0), "x b c": (4.0, 2.5), "x B z": (1.0, 0.0)}
B, C = Edit(1, 2, "b", "R:NOUN"), Edit(2, 3, "c", "R:VERB")


def embed(texts):
    return np.array([TABLE[text] for text in texts])


def test_vectors_and_masses_by_hand():
    (side,) = edit_vectors([("x y z", [B, C])], embed)
    assert side.vectors.tolist() == [[0.0, 2.5], [3.0, 0.5]]  # both - c alone, both - b alone
    assert side.masses.tolist() == pytest.approx([2.5, math.hypot(3, 0.5)])


def test_edits_that_do_not_count():
    """Noops, edits without a correction, repeated ones, and those that overlap an earlier one."""
    noop = Edit(-1, -1, "-NONE-", "noop")
    (side,) = edit_vectors([("x y z", [noop, Edit(0, 1, "x", "UNK"), C, B, B, Edit(1, 3, "q", "R:OTHER")])], embed)
    assert side.edits == [B, C]


def test_counts_by_type_by_hand():
    """The system makes b alone, of length 2; the reference b and c, as vectors (0, 2.5) and (3, .5).

    From b to b: the distance is .5; what c takes, at a distance of sqrt(9 + 2.25), is below 1e-4. That leaves
    sqrt(2 * 2.5) exp(-.5 / .3), since the reference's own kernel is diagonal to 1e-15.
    """
    system, reference = edit_vectors([("x y z", [B]), ("x y z", [B, C])], embed)
    (plan,) = transport([(system, reference)])
    moved, mass_of_c = math.sqrt(2 * 2.5) * math.exp(-0.5 / 0.3), math.hypot(3, 0.5)
    noun, verb = (plan.counts()[kind] for kind in ("R:NOUN", "R:VERB"))
    assert (noun.tp, noun.fp, noun.fn) == pytest.approx((moved, 2 - moved, 2.5 - moved), abs=1e-4)
    assert (verb.tp, verb.fp, verb.fn) == pytest.approx((0.0, 0.0, mass_of_c), abs=1e-4)
    assert plan.pairs() == [(0, 0, pytest.approx(moved, abs=1e-4)), (None, 1, 0.0)]


@pytest.mark.parametrize("behaviour", ["normalised", "published"])
def test_an_edit_that_the_encoder_does_not_see(behaviour):
    (unseen, seen) = edit_vectors([("x y z", [Edit(1, 2, "B", "R:ORTH")]), ("x y z", [B])], embed)
    assert unseen.masses.tolist() == [0.0]
    plans = transport([(unseen, seen), (seen, unseen), (unseen, unseen)], behaviour)
    assert [plan.plan.tolist() for plan in plans] == [[[0.0]]] * 3


def side(vectors) -> EditVectors:
    vectors = np.array(vectors, dtype=float)
    return EditVectors([B] * len(vectors), vectors, np.linalg.norm(vectors, axis=1))


def plan_of(system: EditVectors, reference: EditVectors, behaviour: str = "normalised") -> np.ndarray:
    return transport([(system, reference)], behaviour)[0].plan


def drawn(count: int, seed: int) -> list[tuple[EditVectors, EditVectors]]:
    """Sides of many sizes, scales and degrees of likeness, some with masses of zero."""
    draw = np.random.default_rng(seed)
    pairs = []
    for number in range(count):
        rows, columns = draw.integers(0 if number % 20 == 0 else 1, 8, 2)
        scale = draw.choice([0.2, 0.5, 1, 2, 5])
        a, b = (draw.normal(size=(size, 5)) * scale for size in (rows, columns))
        shared = min(rows, columns)
        if number % 2:
            b[:shared] = a[:shared] + draw.normal(size=(shared, 5)) * draw.choice([0, 0.05]) * scale
        if number % 7 == 0:
            a[:1] = 0
        if number % 11 == 0:
            b[-1:] = 0
        pairs.append((side(a), side(b)))
    return pairs


@pytest.mark.parametrize(("mass", "moved"), [(0.5, 0.3968502630), (1.0, 1.0), (2.0, 2.5198420998)])
def test_one_identical_edit_as_published(mass, moved):
    """m^(4/3), by the optimum of the objective."""
    assert plan_of(side([[mass]]), side([[mass]]), "published").sum() == pytest.approx(moved, abs=1e-5)


@pytest.mark.parametrize(
    ("a", "b", "moved"),
    [
        ([1.0, 0.0], [1.0, 0.0], 1.0),
        ([1.0, 0.0], [1.3, 0.0], math.sqrt(1.3) * math.exp(-1)),  # sqrt(a b) exp(-M / 0.3)
        ([4.0, 0.0], [3.99, 0.0], math.sqrt(4.0 * 3.99) * math.exp(-0.01 / 0.3)),
        ([1.0, 0.0], [0.0, 0.0], 0.0),
        ([500.0, 0.0], [-500.0, 0.0], 0.0),  # exp(-M / reg) underflows
    ],
)
def test_one_edit_on_either_side(a, b, moved):
    assert plan_of(side([a]), side([b])).tolist() == [[pytest.approx(moved, abs=1e-5)]]


def test_a_side_answers_itself_completely():
    for system, _ in drawn(100, seed=2):
        plan = plan_of(system, system)
        np.testing.assert_allclose(plan.sum(axis=1), system.masses, rtol=1e-12)
        np.testing.assert_allclose(plan.sum(axis=0), system.masses, rtol=1e-12)


def test_nothing_gives_or_takes_more_than_its_mass_and_the_sides_are_alike():
    for system, reference in drawn(100, seed=3):
        plan = plan_of(system, reference)
        assert (plan >= 0).all()
        assert (plan.sum(axis=1) <= system.masses * (1 + 1e-12)).all()
        assert (plan.sum(axis=0) <= reference.masses * (1 + 1e-12)).all()
        np.testing.assert_allclose(plan, plan_of(reference, system).T, rtol=0, atol=1e-4)
