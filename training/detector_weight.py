"""How much an error detector should count beside the quality estimator of IMPARA-GED, by pairs of rated outputs.

    python training/detector_weight.py bundled --ratings tmu-gfm-dataset.csv

For each `detector_weight` and `detector_reduction` the share of pairs that the score orders as people do, on two halves
of the sentences: choose on the first, believe the second. Prints a Markdown table; `--output` keeps it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.files import write_text
from geceval.core.options import RunTime
from geceval.learning.cards import table
from geceval.learning.scripts import exit_code
from geceval.meta.judgments.ratings import rated_pairs, read_tmu_gfm
from geceval.models.checkpoints import resolve
from geceval.scorers.learned.detection import REDUCTIONS, load_detector, log_correct
from geceval.scorers.learned.estimators import estimate, get_estimator

WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def differences(model: str, detector: str, pairs: Sequence[tuple[str, str, str]]) -> dict[str, np.ndarray]:
    """Better minus worse output of each pair: of the estimator's logit, and of log P(correct) by reduction.

    Args:
        model: Quality estimator, as `model` of IMPARA-GED.
        detector: Error detector, as `detector` of IMPARA-GED.
        pairs: (source, worse output, better output).

    Returns:
        Name to array [pairs].
    """
    runtime = RunTime()
    texts = [text for pair in pairs for text in pair[1:]]
    estimator = get_estimator(resolve(model, bundled="impara_ged"), runtime, None)
    network = load_detector(detector, runtime, estimator.max_length)
    scores = {"logit": estimate("impara_ged", estimator, texts, runtime)}
    scores |= {reduction: log_correct(network, texts, reduction, runtime) for reduction in REDUCTIONS}
    return {name: values[1::2] - values[::2] for name, values in scores.items()}


def accuracies(found: dict[str, np.ndarray], halves: np.ndarray) -> list[list[Any]]:
    """A row a reduction and weight: its accuracy on each half; an equal pair counts as wrong."""
    rows = []
    for reduction in REDUCTIONS:
        for weight in WEIGHTS:
            right = found["logit"] + weight * found[reduction] > 0
            rows.append([reduction, f"{weight:g}", *(float(right[halves == half].mean()) for half in (0, 1))])
    return rows


def compare(options: argparse.Namespace) -> None:
    """Print the table, and keep it if asked."""
    pairs = rated_pairs(read_tmu_gfm(options.ratings))
    number = {source: place for place, source in enumerate(sorted({pair[0] for pair in pairs}))}
    halves = np.array([number[pair[0]] % 2 for pair in pairs])
    if len(number) < 2:
        raise ValueError(f"{options.ratings}: two sentences with outputs that people rated apart are needed")
    rows = accuracies(differences(options.model, options.detector, pairs), halves)
    counts = [f"{what}, {np.sum(halves == half)} pairs" for half, what in enumerate(("first half", "second half"))]
    text = table(("detector_reduction", "detector_weight", *counts), rows)
    if options.output:
        write_text(options.output, text + "\n")
    print(text)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, score and print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="quality estimator: 'bundled', a folder or a Hub id")
    parser.add_argument("--detector", default="bundled", help="error detector: 'bundled', a folder or a Hub id")
    parser.add_argument("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    parser.add_argument("--output", type=Path, help="file for the table")
    options = parser.parse_args(arguments)
    return exit_code("detector_weight", lambda: compare(options))


if __name__ == "__main__":
    sys.exit(main())
