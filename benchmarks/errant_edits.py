"""Time ERRANT on the systems of an M2 test set: geceval with one and more processes, and gec-metrics, in one run.

    python benchmarks/errant_edits.py GOLD.m2 SYSTEM... [--peer PYTHON] [--workers 2] [--runs 3] [--sentences N]

Every run is a process of its own, with empty caches and the pipeline that comes with geceval; the tools take turns.
Timed is the scoring of all systems, one after the other, without imports and without loading the pipeline, but with
the start of worker processes. PYTHON is the interpreter of an environment that has gec-metrics. Wall time is what a
user waits; CPU time (of all processes) depends less on what else runs on the machine. The first reference is repeated
where an annotator is missing, because the peer wants the same number for every sentence.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from timing import read_columns

Scorer = Callable[[list[str]], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--peer", help="interpreter of an environment with gec-metrics")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sentences", type=int)
    arguments = parser.parse_args()
    from geceval.edits.pipeline import BUNDLED

    columns = read_columns(arguments.gold, arguments.systems, arguments.sentences)
    question = json.dumps([*columns, str(BUNDLED)])
    tools = {"geceval, 1 process": (sys.executable, 1)}
    tools[f"geceval, {arguments.workers} workers"] = (sys.executable, arguments.workers)
    if arguments.peer:
        tools["gec-metrics"] = (arguments.peer, 0)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in tools}
    for _ in range(arguments.runs):
        for name, (python, workers) in tools.items():
            command = [python, str(Path(__file__).resolve()), "--measure", str(workers)]
            output = subprocess.run(command, input=question, stdout=subprocess.PIPE, text=True, check=True).stdout
            found[name].append(json.loads(output.splitlines()[-1]))
    Console(soft_wrap=True).print(table_of(found))


def table_of(found: dict[str, list[dict[str, Any]]]) -> Table:
    first = next(iter(found.values()))[0]
    title = (
        f"{first['sentences']} sentences, {len(first['wall'])} systems, medians of {len(found[next(iter(found))])} runs"
    )
    table = Table("", "wall s", "first system", "CPU s", "wall ratio", "CPU ratio", "peak MiB", title=title)
    slowest = list(found.values())[-1]
    for name, runs in found.items():
        wall, cpu = (statistics.median(measure(run) for run in runs) for measure in (total_wall, total_cpu))
        ratios = [
            statistics.median(measure(run) for run in slowest) / value
            for measure, value in ((total_wall, wall), (total_cpu, cpu))
        ]
        figures = [wall, statistics.median(run["wall"][0] for run in runs), cpu, *ratios]
        table.add_row(name, *(f"{figure:.1f}" for figure in figures), f"{max(run['peak'] for run in runs):.0f}")
        worst = max(abs(a - b) for a, b in zip(runs[0]["scores"], first["scores"], strict=True))
        table.caption = f"{table.caption or ''}{name}: scores differ by at most {worst:.6f}. "
    return table


def total_wall(run: dict[str, Any]) -> float:
    return sum(run["wall"])


def total_cpu(run: dict[str, Any]) -> float:
    return run["cpu"]


def measure(workers: int) -> None:
    """Score what stands on standard input, with `workers` processes of geceval or, if 0, with gec-metrics."""
    sources, systems, rows, pipeline = json.load(sys.stdin)
    scorer = own(sources, rows, pipeline, workers) if workers else peer(sources, rows, pipeline)
    before, wall, scores = cpu_seconds(), [], []
    for system in systems:
        start = time.perf_counter()
        scores.append(float(scorer(system)))
        wall.append(time.perf_counter() - start)
    if workers:
        from geceval.edits.annotate import get_annotator

        get_annotator(pipeline).close()  # only the CPU time of processes that have ended is known
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = peaks[0] + max(workers, 1) * peaks[1] if workers > 1 else peaks[0]
    result = {"wall": wall, "cpu": cpu_seconds() - before, "scores": scores, "peak": peak / 1024}
    print(json.dumps({**result, "sentences": len(sources)}))


def own(sources: list[str], rows: list[list[str]], pipeline: str, workers: int) -> Scorer:
    from geceval.core.options import RunTime
    from geceval.scorers.errant import Errant, Settings

    scorer = Errant(Settings(nlp=pipeline), RunTime(workers=workers))
    scorer.load()
    return lambda system: scorer.score(sources, system, rows).score


def peer(sources: list[str], rows: list[list[str]], pipeline: str) -> Scorer:
    import errant
    import spacy

    load, nlp = errant.load, spacy.load(pipeline)
    errant.load = lambda language: load(language, nlp)
    from gec_metrics.metrics import ERRANT

    metric = ERRANT()
    by_annotator = [list(column) for column in zip(*rows, strict=True)]
    return lambda system: metric.score_corpus(sources, system, by_annotator)


def cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    measure(int(sys.argv[2])) if sys.argv[1:2] == ["--measure"] else main()
