"""What the benchmarks share: sides that take turns, medians of their times, and peak memory."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence


def interleaved(sides: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 0) -> dict[str, list[float]]:
    """Medians of wall-clock and processor seconds a round, the sides taking turns; rounds of warm-up come first."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for number in range(-warm_up, rounds):
        for name, run in sides.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            if number >= 0:
                times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in times.items()}


def print_medians(medians: Mapping[str, Sequence[float]]) -> None:
    """A line a side with its medians and their ratios to the first side's."""
    first = next(iter(medians.values()))
    width = max(map(len, medians))
    print(f"{'':{width}}{'wall s':>9}{'ratio':>8}{'cpu s':>9}{'ratio':>8}")
    for name, (wall, cpu) in medians.items():
        print(f"{name:{width}}{wall:9.2f}{wall / first[0]:8.2f}{cpu:9.2f}{cpu / first[1]:8.2f}")


def peak_memory() -> float:
    """Peak resident memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
