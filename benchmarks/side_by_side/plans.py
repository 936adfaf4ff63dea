"""Which metric is compared on which work, and the comparison itself."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from side_by_side.corpora import Work
from side_by_side.machine import cores
from side_by_side.process import Failed, Side
from side_by_side.table import Round, Row

OURS = "side_by_side.geceval_side"


@dataclass(frozen=True)
class Plan:
    """One comparison.

    Attributes:
        corpus: Whose sentences: a key of `Bench.works`.
        sentences: How many of them; so few where the peer would take hours for all.
        quick: How many to try the run itself.
        target: See `table.Row`.
        against: See `table.Row`.
        tolerance: How much the scores of a system may differ between both sides.
        workers: Whether geceval may use a process a core.
        network: Whether an encoder is behind it, which has a floor.
        causal: Whether it reads the causal language model.
        peer: Whether gec-metrics has it.
    """

    corpus: str
    sentences: int
    quick: int
    target: float | None = None
    against: str = "peer"
    tolerance: float = 1e-9
    workers: bool = False
    network: bool = False
    causal: bool = False
    peer: bool = True


PLANS = {
    "impara": Plan("seeda", 24, 4, 8, tolerance=1e-5, network=True),
    "some": Plan("seeda", 24, 4, 6, tolerance=1e-5, network=True),
    "gleu": Plan("gjg15", 300, 40, 30, tolerance=5e-3),
    "green": Plan("gjg15", 600, 40, 10),
    "errant": Plan("gjg15", 300, 10, 4, workers=True),
    "pt_errant": Plan("gjg15", 12, 2, 10, tolerance=1e-3, workers=True, network=True),
    "fluency": Plan("seeda", 8, 2, 6, tolerance=1e-5, causal=True),
    "scribendi": Plan("seeda", 8, 2, 6, causal=True),
    # what the authors' first version took without loading; the second one takes 22 s
    "cleme": Plan("cleme", 1312, 100, 0.76, against="seconds", peer=False),
    "m2": Plan("gjg15", 400, 40, workers=True, peer=False),
    "i_measure": Plan("gjg15", 150, 10, peer=False),
    "encoder": Plan("seeda", 100, 20, 2, against="floor", network=True, peer=False),
}


@dataclass
class Bench:
    """What all comparisons share.

    Attributes:
        works: Name to corpus.
        models: From `models.export`.
        folder: For files that the processes read.
        peer: What starts the peer, its Python first; empty if there is none.
        rounds: How many are timed.
        quick: Take few sentences.
        versions: Package to version in the peer's environment, once it has run.
    """

    works: Mapping[str, Work]
    models: Mapping[str, Any]
    folder: Path
    peer: Sequence[str]
    rounds: int
    quick: bool = False
    versions: dict[str, str] = field(default_factory=dict)

    def ours(self, metric: str, workers: int = 1, floor: bool = False) -> Side:
        """A process with geceval, or with the floor of one of its metrics."""
        question = {"metric": metric, "models": self.models, "workers": workers, "floor": floor}
        return Side(f"geceval ({metric})", [sys.executable, "-m", OURS], question)

    def theirs(self, metric: str) -> Side:
        """A process with the peer."""
        side = Side(f"the peer ({metric})", self.peer, {"metric": metric, "models": self.models})
        self.versions |= side.ready["versions"]
        return side


def compare(bench: Bench, metric: str) -> Row:
    """Time both sides in turn, after a round that warms them up and whose scores must be equal.

    Raises:
        Failed: If a side fails, its model is not here, or the scores differ by more than the plan allows.
    """
    plan = PLANS[metric]
    if plan.causal and bench.models["obstacle"]:
        raise Failed(f"{metric}: {bench.models['obstacle']}")
    work = bench.works[plan.corpus].take(plan.quick if bench.quick else plan.sentences)
    workers = cores() if plan.workers else 1
    with ExitStack() as stack:
        sides = {"ours": stack.enter_context(bench.ours(metric, workers))}
        if plan.peer and bench.peer:
            sides["peer"] = stack.enter_context(bench.theirs(metric))
        if plan.network:
            sides["floor"] = stack.enter_context(bench.ours(metric, floor=True))
        question = {"work": work.write(bench.folder)}
        first = {name: side.ask(question) for name, side in sides.items()}
        difference = None
        if "peer" in sides:
            difference = check_equal(metric, first["ours"]["scores"], first["peer"]["scores"], plan.tolerance)
        rounds: dict[str, list[Round]] = {name: [] for name in sides}
        for _ in range(bench.rounds):
            for name, side in sides.items():
                rounds[name].append(side.ask(question))
    title = work.title + (f"; {workers} processes" if workers > 1 else "")
    comparable = {"peer": "peer" in sides, "floor": True, "seconds": bool(work.edits) and not bench.quick}
    target = plan.target if comparable[plan.against] else None
    return Row(metric, title, **rounds, target=target, against=plan.against, difference=difference)


def check_equal(metric: str, ours: list[float], theirs: list[float], tolerance: float) -> float:
    """The largest difference of two sides' scores.

    Raises:
        Failed: If it is larger than `tolerance`: times would not be comparable.
    """
    worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    if not worst <= tolerance:
        raise Failed(f"{metric}: scores differ by {worst:.2g}, times are not comparable: {ours} and {theirs}")
    return worst


def time_version(rounds: int) -> Row:
    """`geceval --version`, the start of Python included."""
    command = [sys.executable, "-m", "geceval", "--version"]
    measured = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        measured.append({"wall": time.perf_counter() - start, "processor": math.nan, "peak": math.nan})
    return Row("geceval --version", "one process", measured[1:], target=0.3, against="seconds")
