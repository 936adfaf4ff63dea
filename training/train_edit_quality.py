"""Train the judge of single edits, a small head over the bundled language model.

    python training/train_edit_quality.py --m2 mine.m2 --gmeg GMEG --output my-judge

then `geceval.load("edit_quality", model="my-judge")`. The language model reads each text once; with the environment
variable GECEVAL_CACHE set to a folder, further runs find what it said there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geceval.core.files import file_sha256, write_text
from geceval.core.options import RunTime
from geceval.learning.runs import write_results
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve, weights_sha256
from geceval.models.edit_judge import EditJudge, features
from recipes import edit_quality as recipe
from recipes.scripts import exit_code

BASE = "bundled:impara_lm"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train by the given arguments; 2 if they are wrong."""
    options = parser().parse_args(arguments)
    return exit_code("train_edit_quality", lambda: train(options))


def parser() -> argparse.ArgumentParser:
    """The arguments of this script."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--m2", type=Path, nargs="+", required=True, help="M2 files with the edits of annotators")
    made.add_argument("--sentences", type=int, default=360, help="of each M2 file")
    made.add_argument("--gmeg", type=Path, help="folder of GMEG: edits of systems, four references, ratings")
    made.add_argument("--ratings", type=Path, help="TMU-GFM-Dataset")
    made.add_argument("--gold", type=Path, help="M2 file with the gold edits of the sentences of --outputs")
    made.add_argument("--outputs", type=Path, nargs="*", default=[], help="outputs of systems, a sentence a line")
    made.add_argument("--edits", type=int, default=700, help="of each system or domain, in a reference and in none")
    made.add_argument("--labels", type=Path, help="checkout of SEEDA: labels of edits, measured and not learnt")
    made.add_argument("--output", type=Path, required=True, help="folder of the finished judge")
    return made


def train(options: argparse.Namespace) -> None:
    """Make cases, read them, fit the head, and write it with its results and card."""
    cases = recipe.annotated_cases(options.m2, options.sentences)
    cases += recipe.gmeg_cases(options.gmeg, options.edits) if options.gmeg else []
    cases += recipe.tmu_cases(options.ratings) if options.ratings else []
    cases += recipe.gold_cases(options.gold, options.outputs, options.edits) if options.gold else []
    base, runtime = resolve(BASE), RunTime()
    rows = features(CausalModel.load(base, runtime), [(case.before, case.after) for case in cases], runtime)
    options.output.mkdir(parents=True, exist_ok=True)
    head = recipe.fit(rows, cases)
    shift = recipe.shift_to_systems(head, rows, cases, [path.name for path in options.outputs])
    head.tensors["output.bias"] += shift
    recipe.save(head, options.output)
    config = {"geceval_base": BASE, "geceval_base_sha256": weights_sha256(base)}
    write_text(options.output / "config.json", json.dumps(config, indent=2) + "\n")
    paths = [*options.m2, *filter(None, [options.ratings, options.gold]), *options.outputs]
    files = [{"file": path.name, "sha256": file_sha256(path)} for path in paths]
    results: dict[str, Any] = {"files": files, "gmeg": bool(options.gmeg), "shift": shift}
    results["folds"] = recipe.measured(rows, cases)
    if options.labels:
        judge = EditJudge.load(resolve(str(options.output)), runtime)
        results["labels"] = recipe.labelled(judge, options.labels, runtime)
    write_results(options.output, results, recipe.edit_quality_card)
    print(json.dumps(results["folds"]["sets"], indent=2))


if __name__ == "__main__":
    sys.exit(main())
