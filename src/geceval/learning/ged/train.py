"""Training of an error detector, from M2 files to a checkpoint with its card; called by `training/train_ged.py`.

Only the first annotator of each sentence is used, as in the published label code.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.errors import InputError
from geceval.edits.edit import in_order, partly_corrected, without_overlaps
from geceval.edits.ged_labels import LABELS, token_labels
from geceval.edits.m2 import read_m2
from geceval.learning.ged.card import ged_card
from geceval.learning.ged.job import Job
from geceval.learning.ged.objective import Detection, Labelled
from geceval.learning.impara.ranked_pairs import Row, split_by_source
from geceval.learning.network import save
from geceval.learning.runs import fit_seeds, network_file, train
from geceval.models.checkpoints import resolve
from geceval.scorers.learned.detection import class_scores, detection_scores

FOLDS = ("train", "dev", "test")


def train_ged(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Fine-tune a token classifier with each seed, and write the best as a checkpoint with results and card."""
    folder = Path(folder)
    objective = Detection(LABELS[job.classes], job.error_weight)

    def learn(data: Any, run: Path) -> list[dict[str, Any]]:
        return fit_seeds(objective, job, job.recipe, data[0]["train"], data[0]["dev"], run, progress)

    def finish(data: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
        _, tests, counts = data
        seed = max(runs, key=lambda run: run["selection"])["seed"]
        save(job.recipe, network_file(folder / "run", seed), folder, {}, objective.labels)
        test = {name: evaluate(folder, rows, job.classes) for name, rows in tests.items()}
        return {"data": counts, "runs": runs, "seed": seed, "test": test}

    return train(job, folder, lambda run: read_folds(job), learn, finish, ged_card)


def evaluate(model: str | Path, rows: list[Labelled], classes: int) -> dict[str, Any]:
    """Scores of a finished detector on labelled sentences."""
    from geceval.models.detector import Detector

    detector = Detector.load(resolve(str(model)))
    found = detector.label_ids([source for source, _ in rows])
    predicted = np.array([label for row in found for label in row])
    gold = np.array([label for _, labels in rows for label in labels])
    counts = {"sentences": len(rows), "tokens": len(gold), "errors": int((gold > 0).sum())}
    by_class = {"by_class": class_scores(predicted, gold, LABELS[classes])} if classes > 2 else {}
    return {**counts, **detection_scores(predicted, gold, classes), **by_class}


def evaluate_files(folder: Path, settings: Mapping[str, Any], files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """What `evaluate` gives for each M2 file, by its name, with the label scheme of a finished detector's settings."""
    classes, final_insertion = settings["classes"], settings["final_insertion"]
    return {path.name: evaluate(folder, _label(_rows(path), classes, final_insertion), classes) for path in files}


def read_folds(job: Job) -> tuple[dict[str, list[Labelled]], dict[str, list[Labelled]], list[dict[str, Any]]]:
    """Labelled sentences of the training and dev folds, those of each test by name, and a few counts of each file."""
    divided: dict[str, list[Row]] = {fold: [] for fold in FOLDS}
    rows = [row for path in job.m2 for row in _rows(path)]
    for corrected in (True, False):  # train_impara divides the corrected sentences alone
        some = [row for row in rows if bool(row[1]) == corrected]
        for fold, part in zip(FOLDS, split_by_source(some), strict=True):
            divided[fold] += part
    train = divided["train"] + [row for path in job.train_m2 for row in _rows(path)]
    dev = [row for path in job.dev_m2 for row in _rows(path)] or divided["dev"]
    tests = {"test fold": divided["test"]} if job.m2 else {}
    tests |= {path.name: _rows(path) for path in job.test_m2}
    random.Random(1).shuffle(train)
    folds = {"train": _with_partial(train[: job.limit], job.partial), "dev": dev}
    counts = {"train": folds["train"], "dev": dev, **tests}
    data = [
        {"fold": name, "sentences": len(part), "edits": sum(len(e) for _, e in part)} for name, part in counts.items()
    ]
    labelled = {name: _label(part, job.classes, job.final_insertion) for name, part in counts.items()}
    for name, part in labelled.items():  # now, and not when the network has been trained
        if not any(labels for _, labels in part):
            hint = "; more sentences fill every fold" if job.m2 and name in (*FOLDS, "test fold") else ""
            raise InputError(f"{name}: there is no sentence with a token among {len(part)}{hint}")
    return {fold: labelled[fold] for fold in folds}, {name: labelled[name] for name in tests}, data


def _rows(path: Path) -> list[Row]:
    """Sources and the edits of their first annotator."""
    return [(sentence.source, next(iter(sentence.edits.values()))) for sentence in read_m2(path)]


def _with_partial(rows: list[Row], share: float) -> list[Row]:
    """The rows and, for a share of those with edits, a second row with a random part of the edits applied."""
    generator = random.Random(1)
    more = []
    for source, edits in rows:
        usable = in_order(without_overlaps(edits))
        if usable and generator.random() < share:
            made = generator.sample(range(len(usable)), generator.randint(1, len(usable)))
            more.append(partly_corrected(source, usable, made))
    return rows + more


def _label(rows: list[Row], classes: int, final_insertion: str) -> list[Labelled]:
    return [(source, token_labels(source, edits, classes, final_insertion)) for source, edits in rows]
