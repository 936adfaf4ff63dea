"""How time and memory of geceval grow with the number of systems and of sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from side_by_side.corpora import stretch
from side_by_side.plans import Bench
from side_by_side.table import Round

METRICS = ("impara", "some", "gleu", "green", "errant", "pt_errant", "m2")
SYSTEMS, SENTENCES, AT_ONCE = (1, 4, 13), (1_000, 10_000, 100_000), 50
QUICK_SENTENCES, QUICK_AT_ONCE = (20, 60), 5

Steps = dict[str, dict[str, dict[str, Round | None]]]
"""Title to metric to step to its round, `None` if it was left out."""


def measure(bench: Bench, metrics: Sequence[str], patience: float) -> Steps:
    """Rising numbers of systems, then of sentences, one process a metric and question, so that peaks are its own.

    Args:
        bench: What all comparisons share.
        metrics: Some of `METRICS`.
        patience: A step that would take more seconds, judged by the one before, is left out.
    """
    gjg15 = bench.works["gjg15"]
    few = gjg15.take(QUICK_AT_ONCE if bench.quick else AT_ONCE)
    file, numbers = few.write(bench.folder), [number for number in SYSTEMS if number <= len(few.systems)]
    systems = {name_of(number, "system"): (number, {"work": file, "systems": number}) for number in numbers}
    whole, sizes = gjg15.take(len(gjg15.sources)), QUICK_SENTENCES if bench.quick else SENTENCES
    sentences = {
        name_of(size, "sentence"): (size, {"work": stretch(whole, size).write(bench.folder)}) for size in sizes
    }
    warm_up = {"work": file, "systems": 1, "sentences": 5}
    series = {few.title: systems, f"{whole.title.partition(',')[0]}, one system, all sentences distinct": sentences}
    return {
        title: {metric: dict(rising(bench, metric, warm_up, steps, patience)) for metric in metrics}
        for title, steps in series.items()
    }


def name_of(number: int, what: str) -> str:
    """1 system, 1,000 sentences."""
    return f"{number:,} {what}" + ("s" if number > 1 else "")


def rising(
    bench: Bench, metric: str, warm_up: object, steps: Mapping[str, tuple[int, object]], patience: float
) -> Iterator[tuple[str, Round | None]]:
    """The steps of one metric: one round each in one process, after a small one that warms up."""
    with bench.ours(metric) as side:
        side.ask(warm_up)
        speed = 0.0
        for name, (size, question) in steps.items():
            found = side.ask(question) if speed * size <= patience else None
            yield name, found
            speed = found["wall"] / size if found else math.inf
