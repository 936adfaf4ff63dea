"""Shapley values and simpler shares of players in a gain: the coalitions that each method needs, and the shares.

A coalition of n players is a bit mask: bit i stands for player i. `gains` maps a mask to D, what that coalition gains
over the empty one, so that D(empty) = 0 and D(all) is the total.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

METHODS = ("add", "sub", "shapley", "shapley_sampling")
RESCALES = ("safe", "ratio", "none")
LARGEST_RATIO = 10.0

Orders = Sequence[Sequence[int]]


def draw_orders(players: int, permutations: int, seed: int) -> list[tuple[int, ...]]:
    """Orders in which the players join: all n! orders if there are no more than `permutations`, else random ones."""
    if math.factorial(players) <= permutations:
        return list(itertools.permutations(range(players)))
    generator = np.random.default_rng(seed)
    return [tuple(generator.permutation(players).tolist()) for _ in range(permutations)]


def coalitions(method: str, players: int, orders: Orders = ()) -> list[int]:
    """The masks whose gain a method needs, each once; the empty coalition and that of all players are always there."""
    everyone = (1 << players) - 1
    if method == "add":
        masks = [1 << player for player in range(players)]
    elif method == "sub":
        masks = [everyone ^ 1 << player for player in range(players)]
    elif method == "shapley":
        masks = range(everyone + 1)
    else:
        masks = [mask for order in orders for mask in _growing(order)]
    return list(dict.fromkeys([0, everyone, *masks]))


def shares(method: str, players: int, gains: Mapping[int, float], orders: Orders = ()) -> np.ndarray:
    """The share of each player before any rescaling, `[players]`."""
    everyone = (1 << players) - 1
    if method == "add":
        return np.array([gains[1 << player] for player in range(players)])
    if method == "sub":
        return np.array([gains[everyone] - gains[everyone ^ 1 << player] for player in range(players)])
    if method == "shapley":
        return _shapley(players, np.array([gains[mask] for mask in range(everyone + 1)]))
    found = np.zeros(players)
    for order in orders:
        values = np.array([gains[mask] for mask in _growing(order)])
        found[list(order)] += np.diff(values)
    return found / max(1, len(orders))


def rescaled(raw: np.ndarray, total: float, how: str) -> tuple[np.ndarray, bool]:
    """Make shares sum to the total."""
    if how == "none" or not len(raw):
        return raw, False
    whole = math.fsum(raw)
    if how == "ratio":
        return raw * (total / whole if whole else 0.0), False
    if total * whole > 0 and abs(total) <= LARGEST_RATIO * abs(whole):
        return raw * (total / whole), False
    return raw + (total - whole) / len(raw), not math.isclose(whole, total, abs_tol=1e-9)


def _growing(order: Sequence[int]) -> list[int]:
    """The coalitions as players join, from the empty one to all."""
    return [0, *itertools.accumulate((1 << player for player in order), int.__or__)]


def _shapley(players: int, gains: np.ndarray) -> np.ndarray:
    """Shapley (1953): sum over C without i of |C|! (n - |C| - 1)! / n! (D(C and i) - D(C)); `gains` is `[2 ** n]`."""
    masks = np.arange(len(gains))
    sizes = sum((masks >> player & 1 for player in range(players)), np.zeros_like(masks))
    weights = np.array([1 / (players * math.comb(players - 1, size)) for size in range(players)])
    found = np.empty(players)
    for player in range(players):
        without = masks[masks >> player & 1 == 0]
        found[player] = weights[sizes[without]] @ (gains[without | 1 << player] - gains[without])
    return found
