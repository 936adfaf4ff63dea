"""Compare the scores of a finished checkpoint with people, and write the tables into its results and card.

    python training/evaluate_checkpoint.py impara_ged CHECKPOINT --seeda SEEDA --gjg15 GJG15
    python training/evaluate_checkpoint.py ged CHECKPOINT --test-m2 fce-test.m2
    python training/evaluate_checkpoint.py some CHECKPOINT --ratings tmu-gfm-dataset.csv

Look at these figures once, when nothing is left to choose. `SEEDA` and `GJG15` are checkouts of the data sets, see
`geceval.corpora.judgments`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval import registry
from geceval.corpora.judgments import read_human
from geceval.learning.cards import impara_card, impara_lm_card
from geceval.learning.runs import read_results, write_results
from geceval.meta.aggregation import aggregate
from geceval.meta.agreement import agreement, judged_pairs
from geceval.meta.correlation import correlate_systems
from geceval.meta.judgments import HumanData, system_set
from recipes.distillation.run import distillation_card
from recipes.ged import evaluate_files, ged_card
from recipes.scripts import exit_code, script_parser
from recipes.some import evaluate_fold, some_card


def lm_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card of an IMPARA-LM checkpoint, trained on pairs or a student of another one."""
    return (distillation_card if "vocabulary" in results["settings"] else impara_lm_card)(results, folder)


CARDS = {
    "impara": impara_card,
    "impara_ged": impara_card,
    "impara_lm": lm_card,
    "some": some_card,
    "ged": ged_card,
}
OPTIONS = {"ged": {"task": "sentence"}}  # how well a sentence reads to the detector; others are evaluated unguarded
HUMAN = {"seeda": (("sent", "ts_sent"), ("edit", "ts_edit")), "gjg15": (("all", "ts"), ("all", "ew"))}


def score_systems(data: HumanData, metric: str, checkpoint: Path) -> dict[str, list[float]]:
    """Sentence scores of every system."""
    options = {"model": str(checkpoint), "progress": True, **OPTIONS.get(metric, {"guard": "off"})}
    results = registry.score_systems(registry.make_scorer(metric, options), data.sources, data.outputs)
    return {system: result.scores for system, result in results.items()}


def ranking(
    data: HumanData, metric: str, scores: dict[str, list[float]], human: Sequence[str], command: str
) -> dict[str, Any]:
    """All systems by their mean score, beside human scores."""
    means = {system: float(np.mean(values)) for system, values in scores.items()}
    rows = [
        [rank, system, means[system], *(data.scores[name].get(system, "") for name in human)]
        for rank, system in enumerate(sorted(means, key=means.__getitem__, reverse=True), start=1)
    ]
    columns = ["rank", "system", metric, *human]
    return {"title": f"Systems of {data.name}", "command": command, "columns": columns, "rows": rows}


def agreements(data: HumanData, scores: dict[str, list[float]], systems: list[str], command: str) -> dict[str, Any]:
    """System-level correlations of means and of TrueSkill, and sentence-level accuracy and Kendall's tau."""
    matrix = np.array([scores[system] for system in systems])
    rows = []
    for kind, human in HUMAN[data.name]:
        cells: list[Any] = [human]
        for how in ("average", "trueskill"):
            values = dict(zip(systems, aggregate(matrix, how), strict=True))
            correlations = correlate_systems(values, data.scores[human], systems)
            cells += [correlations.pearson, correlations.spearman]
        sentence = agreement(judged_pairs(data.judgments[kind], systems), matrix)
        rows.append([*cells, sentence.accuracy, sentence.kendall, sentence.pairs])
    return {
        "title": f"Agreement with people on {data.name}, {len(systems)} systems",
        "command": command,
        "columns": [
            *("human", "Pearson of means", "Spearman of means", "Pearson of TrueSkill", "Spearman of TrueSkill"),
            *("sentence accuracy", "Kendall", "pairs"),
        ],
        "rows": rows,
    }


def evaluate(metric: str, checkpoint: Path, corpora: Sequence[tuple[HumanData, list[str]]]) -> list[dict[str, Any]]:
    """Score the systems of each corpus, and write the tables into the results and the card of the checkpoint."""
    # Tables of other corpora that are there already stay.
    results = read_results(checkpoint)
    tables = []
    for data, systems in corpora:
        scores = score_systems(data, metric, checkpoint)
        command = f"training/evaluate_checkpoint.py {metric} {checkpoint.name} --{data.name} DATA"
        tables.append(agreements(data, scores, systems, command))
        tables.append(ranking(data, metric, scores, [human for _, human in HUMAN[data.name]], command))
    if tables:
        by_title = {table["title"]: table for table in [*results.get("evaluations", []), *tables]}
        write_results(checkpoint, {**results, "evaluations": list(by_title.values())}, CARDS[metric])
    return tables


def test_again(metric: str, checkpoint: Path, m2: Sequence[Path], ratings: Path | None) -> None:
    """Measure anew, and write, what a training script measured in the end: for weights that have been rounded since."""
    results = read_results(checkpoint)
    if m2:
        results["test"] = evaluate_files(checkpoint, results["settings"], m2)
    if ratings:
        for part, scores in evaluate_fold(checkpoint, results["settings"], ratings).items():
            results["parts"][part] |= scores
    write_results(checkpoint, results, CARDS[metric])


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, score and write; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("metric", choices=sorted(CARDS))
    parser.add_argument("checkpoint", type=Path, help="folder written by a training script")
    parser.add_argument("--seeda", type=Path)
    parser.add_argument("--gjg15", type=Path)
    parser.add_argument("--test-m2", type=Path, nargs="+", default=[], help="for ged: the files to test it on")
    parser.add_argument("--ratings", type=Path, help="for some: TMU-GFM-Dataset, with the test fold of the training")
    options = parser.parse_args(arguments)
    if (options.test_m2 and options.metric != "ged") or (options.ratings and options.metric != "some"):
        parser.error("--test-m2 is for ged, --ratings for some")
    judged = ((options.seeda, "base"), (options.gjg15, "all"))

    def evaluate_and_print() -> None:
        if options.test_m2 or options.ratings:
            test_again(options.metric, options.checkpoint, options.test_m2, options.ratings)
        corpora = [(data := read_human(folder), system_set(data, chosen)) for folder, chosen in judged if folder]
        print(json.dumps(evaluate(options.metric, options.checkpoint, corpora), indent=2))

    return exit_code("evaluate_checkpoint", evaluate_and_print)


if __name__ == "__main__":
    sys.exit(main())
