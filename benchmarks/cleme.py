"""CLEME of many systems with the edits of files: processor and wall time of all of them in one process, after import.

    OMP_NUM_THREADS=1 python benchmarks/cleme.py conll14.errant conll14-*.errant --runs 3

The first file holds the references; each other one a system. Texts are made from the files before the clock starts;
reading and parsing the files is part of the time.
"""

from __future__ import annotations

import argparse
import statistics
import time

import geceval
from geceval.edits.edit import apply
from geceval.edits.m2 import read_m2
from geceval.registry import make_scorer

OPTIONS = {"cleme": {}, "cleme2": {"weights": "length"}, "errant": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    systems = [path for path in arguments.systems if path != arguments.gold]
    sentences = {path: read_m2(path) for path in systems}
    texts = {path: [apply(each.source, each.edits[0]) for each in rows] for path, rows in sentences.items()}
    sources = [each.source for each in next(iter(sentences.values()))]
    for name, options in OPTIONS.items():
        make_scorer(name, options)  # imports
        cpu, wall = [], []
        for _ in range(arguments.runs):
            geceval.clear_caches()
            started = time.process_time(), time.perf_counter()
            for path in systems:
                files = {"gold_m2": arguments.gold, "predictions_m2": path}
                make_scorer(name, {**options, **files}).score(sources, texts[path])
            cpu.append(time.process_time() - started[0])
            wall.append(time.perf_counter() - started[1])
        seconds = f"{statistics.median(cpu):.2f} s (processor), {statistics.median(wall):.2f} s (wall)"
        print(f"{name}: {len(systems)} systems, {len(sources)} sentences: median of {arguments.runs} runs {seconds}")


if __name__ == "__main__":
    main()
