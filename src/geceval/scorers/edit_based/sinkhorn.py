"""Unbalanced optimal transport with entropic regularisation: Sinkhorn plans of many small problems at once.

A problem has sources with masses a, targets with masses b, and costs M. With the strengths reg = e and reg_m = r, a
plan T >= 0 minimises <T, M> + e KL(T, c) + r KL(T 1, a) + r KL(T' 1, b) by scaling its rows and columns in turn (Chizat
et al., 2018, "Scaling algorithms for unbalanced optimal transport problems"). Two kinds of plans differ in c and in
what they allow:

- `published_plans`: c = a b', the default of POT since version 0.9.5, step by step as its function
  `sinkhorn_stabilized_unbalanced` computes it. Rows and columns may get more than their mass, or less than all of it
  from themselves.
- `bounded_plans`: no row and no column gets more than its mass, and c = v w', where v scales the kernel exp(-M / e) of
  the sources with themselves so that its rows sum to a, and w does so for the targets. So a set of edits answers itself
  completely: T 1 = a if both sides are the same.

Problems of one shape are solved together, and each as if it were alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

ITERATIONS = 1000
CHECK_EVERY = 10
TOLERANCE = 1e-6
_ABSORB = 1e5
_TINY = 1e-16
_SELF_ITERATIONS = 64  # each at least halves the error
_CELLS = 2_000_000  # of a batch


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be transported."""

    a: np.ndarray
    b: np.ndarray
    cost: np.ndarray
    cost_a: np.ndarray | None = None
    cost_b: np.ndarray | None = None


def published_plans(problems: Sequence[Problem], reg: float = 0.1, reg_m: float = 0.1) -> list[np.ndarray]:
    """The plans of POT's stabilised Sinkhorn algorithm, [sources][targets] for each problem."""
    # Where a target has mass 0, POT stops at its first step, warns of numerical errors and returns what it has: a b'
    # exp(-M / reg), or, if it has just moved large scalings into its kernel, a multiple of that by any factor, so that
    # a plan can exceed all masses by orders of magnitude. So does this, without the warning.

    def solve(batch: Sequence[Problem]) -> np.ndarray:
        a, b, cost = (np.stack([getattr(each, name) for each in batch]) for name in ("a", "b", "cost"))
        return _Published(a, b, cost, reg, reg_m).solve()

    return _in_batches(problems, solve)


def bounded_plans(problems: Sequence[Problem], reg: float = 0.1, reg_m: float = 0.1) -> list[np.ndarray]:
    """Plans whose rows sum to at most `a` and whose columns to at most `b`, [sources][targets] for each problem."""
    # What has no mass takes no part. A single source and a single target transport min(a, b, sqrt(a b) exp(-M / (reg +
    # 2 reg_m))).
    parts = [(np.flatnonzero(each.a), np.flatnonzero(each.b)) for each in problems]
    inner = [
        Problem(
            each.a[rows],
            each.b[columns],
            each.cost[np.ix_(rows, columns)],
            each.cost_a[np.ix_(rows, rows)],
            each.cost_b[np.ix_(columns, columns)],
        )
        for each, (rows, columns) in zip(problems, parts, strict=True)
    ]
    solved = _in_batches(inner, lambda batch: _bounded(batch, reg, reg_m))
    plans = [np.zeros(each.cost.shape) for each in problems]
    for plan, (rows, columns), part in zip(plans, parts, solved, strict=True):
        plan[np.ix_(rows, columns)] = part
    return plans


def _in_batches(problems: Sequence[Problem], solve: Callable[[Sequence[Problem]], np.ndarray]) -> list[np.ndarray]:
    """Solve problems of equal shape together; without sources or targets nothing is transported."""
    plans = [np.zeros(each.cost.shape) for each in problems]
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for index, each in enumerate(problems):
        if each.cost.size:
            by_shape.setdefault(each.cost.shape, []).append(index)
    for (rows, columns), indices in by_shape.items():
        size = max(1, _CELLS // max(rows, columns) ** 2)
        for start in range(0, len(indices), size):
            chosen = indices[start : start + size]
            for index, plan in zip(chosen, solve([problems[index] for index in chosen]), strict=True):
                plans[index] = plan
    return plans


class _Published:
    """POT's `sinkhorn_stabilized_unbalanced` for problems of one shape: its steps, in its order, in its arithmetic."""

    def __init__(self, a: np.ndarray, b: np.ndarray, cost: np.ndarray, reg: float, reg_m: float) -> None:
        self.reg, self.softness, self.power = reg, reg + reg_m, reg_m / (reg + reg_m)
        with np.errstate(divide="ignore"):
            self.base = cost - reg * np.log(a[:, :, None] * b[:, None, :])
        self.a, self.b = a, b
        self.kernel = np.exp(-self.base / reg)
        self.u, self.v = np.ones_like(a), np.ones_like(b)
        self.alpha, self.beta = np.zeros((len(a), 1)), np.zeros((len(a), 1))  # one number for all rows, as in POT
        self.index = np.arange(len(a))

    def solve(self) -> np.ndarray:
        plans = np.zeros_like(self.base)
        for iteration in range(ITERATIONS):
            done = self._step(check=iteration % CHECK_EVERY == 0, first=iteration == 0)
            if iteration == ITERATIONS - 1:
                done[:] = True
            if done.any():
                plans[self.index[done]] = self._plans(done)
                for name in ("base", "a", "b", "kernel", "u", "v", "alpha", "beta", "index"):
                    setattr(self, name, getattr(self, name)[~done])
            if not len(self.index):
                break
        return plans

    def _step(self, check: bool, first: bool) -> np.ndarray:
        """One iteration of the problems that are left; which of them are done."""
        u, v = self.u, self.v
        with np.errstate(over="ignore", invalid="ignore"):
            out = (self.kernel @ v[:, :, None])[:, :, 0]
            self.u = (self.a / (out + _TINY)) ** self.power * np.exp(-self.alpha / self.softness)
            back = (self.u[:, None, :] @ self.kernel)[:, 0, :]
            self.v = (self.b / (back + _TINY)) ** self.power * np.exp(-self.beta / self.softness)
        absorbed = (self.u > _ABSORB).any(axis=1) | (self.v > _ABSORB).any(axis=1)
        if absorbed.any():
            self._absorb(absorbed)
        finite = np.isfinite(self.u).all(axis=1) & np.isfinite(self.v).all(axis=1)
        broken = (back == 0).any(axis=1) | ~finite
        change = np.abs(self.u - u).max(axis=1)
        scale = np.maximum(np.maximum(np.abs(self.u).max(axis=1), np.abs(u).max(axis=1)), 1.0)
        self.u[broken], self.v[broken] = u[broken], v[broken]
        checked = ~absorbed | first if check else np.zeros_like(broken)
        return broken | (checked & ~(change / scale > TOLERANCE))

    def _absorb(self, rows: np.ndarray) -> None:
        """Move large scalings into the kernel."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            self.alpha[rows] += self.reg * np.log(self.u[rows].max(axis=1, keepdims=True))
            self.beta[rows] += self.reg * np.log(self.v[rows].max(axis=1, keepdims=True))
            moved = (self.alpha + self.beta)[rows, :, None]
            self.kernel[rows] = np.exp((moved - self.base[rows]) / self.reg)
        self.v[rows] = 1.0

    def _plans(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            u = self.alpha[rows] / self.reg + np.log(self.u[rows])
            v = self.beta[rows] / self.reg + np.log(self.v[rows])
        return np.exp(u[:, :, None] + v[:, None, :] - self.base[rows] / self.reg)


def _bounded(batch: Sequence[Problem], reg: float, reg_m: float) -> np.ndarray:
    """The plans of `bounded_plans` for problems of one shape without zero masses; all in logarithms."""
    # With s = K v for the rows, u = (a / s)^(reg_m / (reg_m + reg)) is the step of the KL penalty alone; u = a / s is
    # where the row gets all its mass, which it must not exceed.
    a, b, cost, cost_a, cost_b = (
        np.stack([getattr(each, name) for each in batch]) for name in ("a", "b", "cost", "cost_a", "cost_b")
    )
    power = reg_m / (reg + reg_m)
    log_a, log_b = np.log(a), np.log(b)
    own = _self_scaling(log_a, cost_a / reg)[:, :, None] + _self_scaling(log_b, cost_b / reg)[:, None, :]
    kernel, index = own - cost / reg, np.arange(len(batch))
    u, v = np.zeros_like(a), np.zeros_like(b)
    plans = np.zeros_like(cost)
    for iteration in range(ITERATIONS):
        previous = u
        room = log_a - _log_sum(kernel + v[:, None, :], axis=2)
        u = np.minimum(room, power * room)
        room = log_b - _log_sum(kernel + u[:, :, None], axis=1)
        v = np.minimum(room, power * room)
        if iteration % CHECK_EVERY and iteration < ITERATIONS - 1:
            continue
        done = (np.abs(u - previous).max(axis=1) <= TOLERANCE) | (iteration == ITERATIONS - 1)
        if done.any():
            plans[index[done]] = np.exp(kernel[done] + u[done][:, :, None] + v[done][:, None, :])
            kernel, index, u, v, log_a, log_b = (each[~done] for each in (kernel, index, u, v, log_a, log_b))
        if not len(index):
            break
    # Before the scalings have settled entirely, a row may get a little more than its mass.
    sums = plans.sum(axis=2)
    return plans * np.minimum(1.0, np.divide(a, sums, out=np.ones_like(a), where=sums > 0))[:, :, None]


def _self_scaling(log_mass: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """log w of a symmetric kernel exp(-cost), such that w_i (exp(-cost) w)_i is the mass of i: [problems][points]."""
    scaling = log_mass / 2
    for _ in range(_SELF_ITERATIONS):
        scaling = (scaling + log_mass - _log_sum(scaling[:, None, :] - cost, axis=2)) / 2
    return scaling


def _log_sum(values: np.ndarray, axis: int) -> np.ndarray:
    """The logarithm of the sum of exponentials along an axis."""
    largest = values.max(axis=axis, keepdims=True)
    return np.log(np.exp(values - largest).sum(axis=axis)) + largest.squeeze(axis)
