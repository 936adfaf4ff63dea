"""How far 16 bits move the scores of the neural metrics: the example corpus, bundled checkpoints.

OMP_NUM_THREADS=1 python benchmarks/dtype.py [METRIC ...] [--dtype bfloat16] [--device cpu]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import geceval
from geceval import registry
from geceval.core.files import read_lines

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
METRICS = ["impara", "impara_ged", "some", "ged", "bertscore", "pt_m2", "pt_errant"]


def scored(name: str, options: dict[str, str], systems: dict[str, list[str]]) -> tuple[list[float], np.ndarray, float]:
    """Corpus scores, sentence scores [systems, sentences], and the seconds of processor time they took."""
    sources = read_lines(EXAMPLE / "source.txt")
    rows = [list(row) for row in zip(*(read_lines(EXAMPLE / f"reference_{n}.txt") for n in (0, 1)), strict=True)]
    own = {**registry.scorer_class(name).correction_settings, **options}
    scorer = registry.make_scorer(name, {**own, "cache": None})
    scorer.load()
    start = time.process_time()
    results = registry.score_systems(scorer, sources, systems, rows if scorer.needs_references() else None).values()
    seconds = time.process_time() - start
    return [result.score for result in results], np.array([result.scores for result in results]), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", nargs="*", default=METRICS)
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    systems = {path.stem: read_lines(path) for path in sorted((EXAMPLE / "systems").glob("*.txt"))}
    table = Table("metric", "largest", "mean", "corpus", "same ranking", "seconds", "float32")
    for name in options.metrics:
        exact, sentences, before = scored(name, {"device": options.device}, systems)
        corpus, moved, after = scored(name, {"device": options.device, "dtype": options.dtype}, systems)
        change = np.abs(moved - sentences)
        same = np.argsort(exact, kind="stable").tolist() == np.argsort(corpus, kind="stable").tolist()
        figures = [change.max(), change.mean(), np.abs(np.subtract(corpus, exact)).max()]
        times = [f"{after:.1f}", f"{before:.1f}"]
        table.add_row(name, *(f"{figure:.4f}" for figure in figures), "yes" if same else "no", *times)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
