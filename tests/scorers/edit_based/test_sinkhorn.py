"""Batched Sinkhorn plans beside POT, one problem at a time, and the properties of the normalised ones."""

from __future__ import annotations

import math
import warnings

import numpy as np
import ot
import pytest
from scipy.spatial.distance import cdist

from geceval.scorers.edit_based.sinkhorn import Problem, bounded_plans, published_plans


def problem(a: np.ndarray, b: np.ndarray) -> Problem:
    """From points on either side, whose masses are their norms."""
    masses = [np.linalg.norm(each, axis=1) for each in (a, b)]
    return Problem(*masses, cdist(a, b), cdist(a, a), cdist(b, b))


def drawn(count: int, seed: int = 0) -> list[Problem]:
    """Problems of many shapes, scales and degrees of likeness, some with masses of zero."""
    draw = np.random.default_rng(seed)
    problems = []
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
        problems.append(problem(a, b))
    return problems


def of_pot(each: Problem) -> np.ndarray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ot.unbalanced.sinkhorn_stabilized_unbalanced(each.a, each.b, each.cost, 0.1, 0.1, reg_type="kl")


def test_the_check_value_of_the_published_program():
    """Sums that POT 0.9.5 gave for these masses and costs."""
    cost = np.array([[0, 1, 2], [1, 0.2, 0.5]])
    each = Problem(np.array([1, 0.5]), np.array([0.8, 0.7, 0.2]), cost)
    (plan,) = published_plans([each])
    assert plan.sum() == pytest.approx(1.1275296660, abs=1e-10)
    assert plan.sum() / each.a.sum() == pytest.approx(0.7516864440, abs=1e-10)
    assert plan.sum() / each.b.sum() == pytest.approx(0.6632527447, abs=1e-10)


def test_published_plans_are_those_of_pot():
    problems = drawn(400)
    for each, plan in zip(problems, published_plans(problems), strict=True):
        if each.cost.size:
            np.testing.assert_allclose(plan, of_pot(each), rtol=0, atol=1e-8)
        else:
            assert plan.shape == each.cost.shape


def test_other_strengths_are_those_of_pot():
    each = drawn(3, seed=5)[2]
    expected = ot.unbalanced.sinkhorn_stabilized_unbalanced(each.a, each.b, each.cost, 0.5, 2.0)
    np.testing.assert_allclose(published_plans([each], 0.5, 2.0)[0], expected, atol=1e-10)


def test_a_target_without_mass_and_far_costs():
    """POT stops at once with scalings that it has moved into its kernel: more is "transported" than there is."""
    cost = np.array([[4.5, 4.2, 4.1], [2.1, 0.1, 0.6]])
    each = Problem(np.array([4.15, 0.61]), np.array([1.99, 0.5, 0.0]), cost)
    (plan,) = published_plans([each])
    np.testing.assert_allclose(plan, of_pot(each), rtol=1e-12)
    assert plan.sum() > 1e4


@pytest.mark.parametrize(("mass", "moved"), [(0.5, 0.3968502630), (1.0, 1.0), (2.0, 2.5198420998)])
def test_one_identical_edit_as_published(mass, moved):
    """m^(4/3), by the optimum of the objective."""
    assert published_plans([Problem(np.array([mass]), np.array([mass]), np.zeros((1, 1)))])[0].sum() == pytest.approx(
        moved, abs=1e-5
    )


def scaled_one_by_one(each: Problem, reg: float = 0.1, reg_m: float = 0.1) -> np.ndarray:
    """The normalised plan by plain loops over numbers, written from the definition in the module's docstring."""

    def own(masses: np.ndarray, cost: np.ndarray) -> list[float]:
        scaling = [math.sqrt(mass) for mass in masses]
        for _ in range(300):
            sums = [sum(math.exp(-cost[i][j] / reg) * s for j, s in enumerate(scaling)) for i in range(len(masses))]
            scaling = [math.sqrt(s * mass / total) for s, mass, total in zip(scaling, masses, sums, strict=True)]
        return scaling

    rows, columns = own(each.a, each.cost_a), own(each.b, each.cost_b)
    kernel = [[r * c * math.exp(-each.cost[i][j] / reg) for j, c in enumerate(columns)] for i, r in enumerate(rows)]
    u, v = [1.0] * len(rows), [1.0] * len(columns)
    power = reg_m / (reg + reg_m)
    for _ in range(20_000):
        before = list(u)
        for i, mass in enumerate(each.a):
            share = mass / sum(kernel[i][j] * v[j] for j in range(len(v)))
            u[i] = min(share, share**power)
        for j, mass in enumerate(each.b):
            share = mass / sum(kernel[i][j] * u[i] for i in range(len(u)))
            v[j] = min(share, share**power)
        if max(abs(math.log(new / old)) for new, old in zip(u, before, strict=True)) < 1e-13:
            break
    return np.array([[u[i] * kernel[i][j] * v[j] for j in range(len(v))] for i in range(len(u))])


def test_normalised_plans_are_those_of_plain_loops():
    problems = [each for each in drawn(120, seed=1) if each.cost.size and each.a.all() and each.b.all()]
    assert len(problems) > 60
    for each, plan in zip(problems, bounded_plans(problems), strict=True):
        np.testing.assert_allclose(plan, scaled_one_by_one(each), rtol=0, atol=1e-5 * max(each.a.max(), 1))


@pytest.mark.parametrize(
    ("a", "b", "cost", "moved"),
    [
        (1.0, 1.0, 0.0, 1.0),
        (0.5, 0.5, 0.3, 0.5 * math.exp(-1)),  # sqrt(a b) exp(-M / 0.3)
        (4.0, 1.0, 0.0, 1.0),  # no more than there is on either side
        (4.0, 1.0, 0.6, 2 * math.exp(-2)),
        (1.0, 0.0, 0.0, 0.0),
    ],
)
def test_one_edit_on_either_side(a, b, cost, moved):
    one = np.zeros((1, 1))
    each = Problem(np.array([a]), np.array([b]), np.array([[cost]]), one, one)
    assert bounded_plans([each])[0].tolist() == [[pytest.approx(moved, abs=1e-6)]]


def test_edits_that_the_encoder_cannot_tell_apart():
    """Three of mass 1 at one point beside one of mass 2 there: the two sides share no more than 2."""
    each = Problem(np.ones(3), np.array([2.0]), np.zeros((3, 1)), np.zeros((3, 3)), np.zeros((1, 1)))
    assert bounded_plans([each])[0].ravel().tolist() == pytest.approx([2 / 3] * 3, abs=1e-6)


def test_a_side_answers_itself_completely():
    problems = [Problem(each.a, each.a, *[each.cost_a] * 3) for each in drawn(200, seed=2)]
    for each, plan in zip(problems, bounded_plans(problems), strict=True):
        np.testing.assert_allclose(plan.sum(axis=1), each.a, rtol=1e-12)
        np.testing.assert_allclose(plan.sum(axis=0), each.a, rtol=1e-12)


def test_nothing_gives_or_takes_more_than_its_mass_and_the_sides_are_alike():
    problems = drawn(400, seed=3)
    plans = bounded_plans(problems)
    turned = bounded_plans([Problem(each.b, each.a, each.cost.T, each.cost_b, each.cost_a) for each in problems])
    for each, plan, other in zip(problems, plans, turned, strict=True):
        assert (plan >= 0).all()
        assert (plan.sum(axis=1) <= each.a * (1 + 1e-12)).all()
        assert (plan.sum(axis=0) <= each.b * (1 + 1e-12)).all()
        np.testing.assert_allclose(plan, other.T, rtol=0, atol=1e-4)


@pytest.mark.parametrize("solve", [published_plans, bounded_plans])
def test_a_problem_is_solved_as_if_it_were_alone(solve):
    problems = drawn(60, seed=4)
    for each, plan in zip(problems, solve(problems), strict=True):
        np.testing.assert_allclose(plan, solve([each])[0], rtol=1e-12, atol=1e-15)


def test_edits_that_are_very_far_apart():
    """exp(-M / reg) underflows: nothing is transported, and no number is lost."""
    a, b = np.array([[500.0, 0.0], [0.0, 3.0]]), np.array([[-500.0, 0.0], [0.0, 3.0]])
    plan = bounded_plans([problem(a, b)])[0]
    np.testing.assert_allclose(plan, [[0, 0], [0, 3]], atol=1e-9)
