"""How many sentences a second of processor time a metric scores in one process, its models loaded.

The sentences are those of the example corpus (22 tokens on average with what is put in), made distinct by a number so
that nothing is found in a cache.

    python benchmarks/throughput.py impara errant --sentences 1000
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import geceval
from geceval import registry
from geceval.core.files import read_lines

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"


def distinct(name: str, size: int) -> list[str]:
    """Lines of a file of the example corpus, again and again, each with a number before its last token."""
    lines = read_lines(EXAMPLE / name)
    rows = [lines[number % len(lines)].rsplit(" ", 1) for number in range(size)]
    return [f"{text} in {number} {end}" for number, (text, end) in enumerate(rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", nargs="+")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="float32")
    options = parser.parse_args()
    names = ("source.txt", "systems/strong.txt", "reference_0.txt", "reference_1.txt")
    sources, predictions, *references = (distinct(name, options.sentences) for name in names)
    rows = [list(row) for row in zip(*references, strict=True)]
    tokens = sum(len(text.split()) for text in sources) / len(sources)
    print(f"{options.sentences} sentences of {tokens:.1f} tokens, two references")
    for name in options.metrics:
        scorer = registry.make_scorer(name, {"device": options.device, "dtype": options.dtype, "cache": None})
        scorer.score(sources[:2], predictions[:2], rows[:2])
        wall, processor = time.perf_counter(), time.process_time()
        scorer.score(sources, predictions, rows)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        speeds = options.sentences / processor, options.sentences / wall
        print(f"{name}: {speeds[0]:.0f} sentences a second of processor time, {speeds[1]:.0f} a second")


if __name__ == "__main__":
    main()
