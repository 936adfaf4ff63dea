"""Time GLEU and GREEN (beside gec-metrics, in one run) and the I-measure on the systems of an M2 test set.

    python benchmarks/ngrams.py GOLD.m2 SYSTEM... [--peer PYTHON] [--runs 5] [--metrics gleu green]

PYTHON is the interpreter of an environment that has gec-metrics; it runs this file as a worker, so that its imports
are not timed. Runs of geceval and of the peer alternate. Times are CPU seconds over all systems: both work in one
thread, and what else runs on the machine then counts for neither. Each SYSTEM holds one sentence a line; the first
reference is repeated where an annotator is missing, because the peer wants the same number for every sentence.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from timing import peak_memory, read_columns

Columns = tuple[list[str], list[list[str]], list[list[str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--peer", help="interpreter of an environment with gec-metrics")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--metrics", nargs="+", help="only those whose name begins so")
    arguments = parser.parse_args()
    columns = read_columns(arguments.gold, arguments.systems)
    print(f"{len(columns[0])} sentences, {len(columns[1])} systems, medians of {arguments.runs} runs")
    peer = Peer(arguments.peer, columns) if arguments.peer else None
    wanted = tuple(arguments.metrics or [""])
    for name, ours in own_metrics(arguments.gold, columns).items():
        if name.startswith(wanted):
            report(name, ours, peer, arguments.runs)
    print(f"peak memory: geceval {peak_memory():.0f} MiB" + (f", gec-metrics {peer.peak():.0f} MiB" if peer else ""))


def own_metrics(gold: str, columns: Columns) -> dict[str, Callable[[], list[float]]]:
    from geceval.scorers import gleu, green, i_measure
    from geceval.scorers.gleu import draw_references

    sources, systems, references = columns

    def score(metric, with_references=True) -> list[float]:
        return [metric.score(sources, system, references if with_references else None).score for system in systems]

    def score_gleu(sampler: str) -> list[float]:
        draw_references.cache_clear()
        return score(gleu.Gleu(gleu.Settings(sampler=sampler)))

    return {
        "gleu": lambda: score_gleu("python2"),
        "gleu, draws of Python 3": lambda: score_gleu("python3"),
        "green": lambda: score(green.Green(green.Settings(zero_recall="gec-metrics"))),
        "i_measure, one reference an annotator": lambda: score(i_measure.IMeasure()),
        "i_measure, mixed": lambda: score(i_measure.IMeasure(i_measure.Settings(gold_m2=gold)), with_references=False),
    }


def report(name: str, ours: Callable[[], list[float]], peer: Peer | None, runs: int) -> None:
    mine, theirs = [], []
    found, other = [], []
    for _ in range(runs):
        start = time.process_time()
        found = ours()
        mine.append(time.process_time() - start)
        if peer and name in PEER_METRICS:
            seconds, other = peer.run(name)
            theirs.append(seconds)
    line = f"{name}: geceval {statistics.median(mine):.3f} s, scores {' '.join(f'{x:.6f}' for x in found)}"
    if theirs:
        ratio = statistics.median(theirs) / statistics.median(mine)
        worst = max(abs(a - b) for a, b in zip(found, other, strict=True))
        line += (
            f", gec-metrics {statistics.median(theirs):.3f} s, {ratio:.1f} times; scores differ by at most {worst:.6f}"
        )
    print(line, flush=True)


class Peer:
    """gec-metrics in an interpreter of its own."""

    def __init__(self, python: str, columns: Columns) -> None:
        command = [python, str(Path(__file__).resolve()), "--worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(columns)

    def ask(self, question: object) -> object:
        """Send one line of JSON and read one."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def run(self, name: str) -> tuple[float, list[float]]:
        """Seconds for all systems, and their scores."""
        return self.ask(name)

    def peak(self) -> float:
        """Peak memory in MiB."""
        return self.ask("peak")


PEER_METRICS = {"gleu": "gleuofficial", "green": "green"}


def work() -> None:
    from gec_metrics import get_metric

    sources, systems, references = json.loads(sys.stdin.readline())
    by_annotator = [list(column) for column in zip(*references, strict=True)]
    metrics = {name: get_metric(peer)() for name, peer in PEER_METRICS.items()}
    answer = sys.stdout
    print(json.dumps("ready"), file=answer, flush=True)
    for line in sys.stdin:
        name = json.loads(line)
        if name == "peak":
            print(json.dumps(peak_memory()), file=answer, flush=True)
            continue
        start = time.process_time()
        scores = [float(metrics[name].score_corpus(sources, system, by_annotator)) for system in systems]
        print(json.dumps([time.process_time() - start, scores]), file=answer, flush=True)


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--worker"] else main()
