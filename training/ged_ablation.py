"""What learning to detect errors first does for IMPARA: no detection, 2, 4, 25 and 55 classes, several seeds each.

    python training/ged_ablation.py --train-m2 fce.train.m2 --dev-m2 fce.dev.m2 --m2 conll2013.m2 \\
        --ratings tmu-gfm-dataset.csv --seeda SEEDA --output ablation

For every seed and label scheme a detector is trained from the bundled encoder, and from it a quality estimator with
mean pooling and no similarity estimator; without detection, the quality estimator starts from the bundled encoder
itself. All other settings are equal. Prints a Markdown table with means and standard deviations over the seeds. Killed
and started again with the same arguments, it goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from geceval import registry
from geceval.corpora.judgments import read_human
from geceval.edits.ged_labels import LABELS
from geceval.learning.cards import table
from geceval.learning.impara import Job as QualityJob
from geceval.learning.impara import train_impara
from geceval.learning.recipe import Recipe
from geceval.meta.agreement import agreement, judged_pairs
from geceval.meta.judgments import HumanData, system_set
from recipes.ged import Job as DetectorJob
from recipes.ged import train_ged
from recipes.scripts import exit_code, script_parser

COLUMNS = ("GED dev F0.5", "pairs, test fold", "rated pairs", "SEEDA sentence (S)", "SEEDA sentence (E)")


def train_one(options: argparse.Namespace, human: HumanData, classes: int, seed: int) -> dict[str, float]:
    """Detector and quality estimator of one row and seed; without `classes` there is no detector."""
    shared = {"dtype": "bfloat16", "dropout": 0.0, "schedule": "linear", "warmup": 0.06, "epochs": 1}
    folder = options.output / f"{classes}-{seed}"
    measured = {}
    base = "bundled"
    if classes:
        base = str(folder / "ged")
        job = DetectorJob(
            train_m2=(options.train_m2,),
            dev_m2=(options.dev_m2,),
            classes=classes,
            error_weight=2.0,
            limit=options.limit,
            recipe=Recipe(learning_rate=2e-4, freeze_embeddings=True, **shared),
            seeds=(seed,),
        )
        measured[COLUMNS[0]] = train_ged(job, base)["runs"][0]["history"][-1]["f"]
    job = QualityJob(
        m2=(options.m2,),
        recipe=Recipe(base=base, pooling="mean", head_deviation=0.2, lora_rank=16, learning_rate=1e-3, **shared),
        pairs=options.pairs,
        seeds=(seed,),
        ratings=options.ratings,
        threshold=-2.0,
        log_odds=True,
    )
    results = train_impara(job, folder / "impara_ged")
    measured[COLUMNS[1]] = results["test"]["accuracy"]
    measured[COLUMNS[2]] = results["runs"][0]["history"][-1]["rated_accuracy"]
    return {**measured, **_seeda(folder / "impara_ged", human)}


def _seeda(checkpoint: Path, data: HumanData) -> dict[str, float]:
    systems = system_set(data, "base")
    scorer = registry.make_scorer("impara_ged", {"model": str(checkpoint), "guard": "off"})
    outputs = {system: data.outputs[system] for system in systems}
    scores = registry.score_systems(scorer, data.sources, outputs)
    matrix = np.array([scores[system].scores for system in systems])
    return {
        column: agreement(judged_pairs(data.judgments[kind], systems), matrix).accuracy
        for column, kind in zip(COLUMNS[3:], ("sent", "edit"), strict=True)
    }


def ablate(options: argparse.Namespace) -> str:
    """Train everything and make the table."""
    human = read_human(options.seeda)  # said before the first detector has been trained, should it not be there
    rows = []
    for classes in (0, *LABELS):
        runs = []
        for seed in options.seeds:
            runs.append(train_one(options, human, classes, seed))
            print(json.dumps({"classes": classes, "seed": seed, **runs[-1]}), flush=True)
        rows.append([classes or "none", *(spread([run[name] for run in runs if name in run]) for name in COLUMNS)])
    return table(("classes", *COLUMNS), rows)


def spread(values: Sequence[float]) -> str:
    """The mean and, of several values, the standard deviation."""
    if not values:
        return ""
    deviation = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{deviation}"


def parser() -> argparse.ArgumentParser:
    """The options of the script."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--output", type=Path, required=True, help="folder of all checkpoints")
    add("--train-m2", type=Path, required=True, help="ERRANT-typed edits that the detectors learn from")
    add("--dev-m2", type=Path, required=True, help="and are measured on")
    add("--m2", type=Path, required=True, help="edits that the quality estimators learn from")
    add("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    add("--seeda", type=Path, required=True, help="a checkout of SEEDA")
    add("--limit", type=int, default=6000, help="sentences that a detector learns from")
    add("--pairs", type=int, default=1536, help="ranked pairs, of which 8 in 10 are learnt from")
    add("--seeds", type=int, nargs="+", default=[1, 2, 3])
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, train and print; the exit code."""
    options = parser().parse_args(arguments)
    return exit_code("ged_ablation", lambda: print(ablate(options)))


if __name__ == "__main__":
    sys.exit(main())
