"""Error detection (GED): token classifiers over the labels of ERRANT edits, their training and card."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.core.f_score import f_beta
from geceval.core.options import Count, Options, Positive, Share
from geceval.edits.edit import Edit, apply, in_order, without_overlaps
from geceval.edits.ged_labels import LABELS, token_labels
from geceval.edits.m2 import read_m2
from geceval.learning.cards import evaluation_tables, front_matter, recipe_rows, run_rows, table
from geceval.learning.loop import Collator, Objective
from geceval.learning.network import save
from geceval.learning.ranked_pairs import FOLDS, Row, split_by_source
from geceval.learning.recipe import Recipe
from geceval.learning.runs import Material, train_network
from geceval.models.batched_model import pad
from geceval.models.checkpoints import is_bundled, resolve
from geceval.models.detector import Detector
from geceval.models.tokenizers import encode_words
from geceval.scorers.learned.detection import MACRO, count, figures_by_class, macro_scores

# The recipe of the published detectors (Yuan et al. 2021; IMPARA-GED, section 4.1).
RECIPE = Recipe(learning_rate=3e-5, schedule="linear", epochs=5)

Labelled = tuple[str, list[int]]
"""A tokenised sentence and the id of the label of each token; id 0 is CORRECT."""

BETA = 0.5
IGNORED = -100  # the label of tokens that the loss leaves out


@dataclass(frozen=True, slots=True)
class Job(Options):
    """Everything that a training run depends on."""

    m2: tuple[Path, ...] = ()
    train_m2: tuple[Path, ...] = ()
    dev_m2: tuple[Path, ...] = ()
    test_m2: tuple[Path, ...] = ()
    classes: Literal[2, 4, 25, 55] = 2
    final_insertion: Literal["last", "lost"] = "last"
    partial: Share = 0.0
    error_weight: Positive = 1.0
    recipe: Recipe = dataclasses.field(default=RECIPE)
    seeds: tuple[int, ...] = (1,)
    limit: Count | None = None

    def __post_init__(self) -> None:
        super(Job, self).__post_init__()
        if not self.m2 and not (self.train_m2 and self.dev_m2):
            raise InputError("nothing to learn from: give M2 files to divide, or M2 files to learn from and for dev")


class TokenCollator(Collator):
    """Pads the sentences of a batch and their labels to the longest."""

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids, their mask and labels, each [rows, tokens]."""
        return {**super().__call__(rows), "labels": pad([row["labels"] for row in rows], IGNORED)}


class Detection(Objective):
    """Cross-entropy over labelled tokens."""

    collator = TokenCollator

    def __init__(self, labels: Sequence[str], error_weight: float = 1.0) -> None:
        self.labels, self.error_weight = labels, error_weight

    def encode(self, rows: Sequence[Labelled], tokenizer: Any, max_length: int) -> Dataset:
        """Token ids and labels of sentences; those without any labelled token are dropped."""
        encoded = encode_words(tokenizer, [source.split() for source, _ in rows], max_length)
        table = []
        for (ids, positions), (_, labels) in zip(encoded, rows, strict=True):
            row = [IGNORED] * len(ids)
            for position, label in zip(positions, labels, strict=True):
                if position is not None:
                    row[position] = label
            if any(label != IGNORED for label in row):
                table.append({"input_ids": ids, "labels": row, "length": len(ids)})
        if not table:
            raise InputError("there is no sentence with a token to learn from")
        return Dataset.from_list(table)

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The weighted mean over the labelled tokens of a batch; predicted ids and labels, [sentences, tokens]."""
        batch = dict(batch)
        labels = batch.pop("labels")
        logits = model(**batch).logits.float()
        weights = torch.full((logits.shape[-1],), self.error_weight, device=logits.device)
        weights[0] = 1.0
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), weights, ignore_index=IGNORED)
        return loss, logits.argmax(-1), labels

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Scores of all labelled tokens."""
        expected = np.asarray(expected)
        labelled = expected != IGNORED
        return detection_scores(np.asarray(answers)[labelled], expected[labelled], len(self.labels))

    def selection(self, metrics: Mapping[str, float]) -> float:
        """F0.5 of INCORRECT with two classes, else the macro one (Yuan et al. 2021; IMPARA-GED, section 4.1)."""
        return metrics["f" if len(self.labels) == 2 else "macro_f"]


def train_ged(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Fine-tune a token classifier with each seed, and write the best as a checkpoint with results and card."""
    folder = Path(folder)
    objective = Detection(LABELS[job.classes], job.error_weight)

    def read(run: Path) -> Material:
        folds, tests, counts = read_folds(job)
        return Material(folds["train"], folds["dev"], counts, tests)

    def finish(material: Material, weights: Path) -> dict[str, Any]:
        save(job.recipe, weights, folder, {}, objective.labels)
        return {"test": {name: evaluate(folder, rows, job.classes) for name, rows in material.test.items()}}

    return train_network(job, folder, objective, read, finish, ged_card, progress)


def evaluate(model: str | Path, rows: list[Labelled], classes: int) -> dict[str, Any]:
    """Scores of a finished detector on labelled sentences."""
    detector = Detector.load(resolve(str(model)))
    predictions = detector.label_ids([source for source, _ in rows])
    predicted = np.array([label for row in predictions for label in row])
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
    """Sources and the edits of their first annotator, as in the published label code."""
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


def partly_corrected(source: str, edits: Sequence[Edit], made: Collection[int]) -> tuple[str, list[Edit]]:
    """Apply some of the edits, given in the order of the sentence; the others can still be applied to the outcome."""
    text = apply(source, [edit for index, edit in enumerate(edits) if index in made])
    left, moved = [], 0
    for index, edit in enumerate(edits):
        if index in made:
            moved += len(edit.correction.split()) - (edit.end - edit.start)
        else:
            left.append(dataclasses.replace(edit, start=edit.start + moved, end=edit.end + moved))
    return text, left


def _label(rows: list[Row], classes: int, final_insertion: str) -> list[Labelled]:
    if final_insertion == "lost":
        rows = [(source, [edit for edit in edits if edit.start < len(source.split())]) for source, edits in rows]
    return [(source, token_labels(source, edits, classes)) for source, edits in rows]


_CARD = """{front}

# Error detector: {title}

A token classifier that says of each word whether it is part of an error ({classes} classes, Yuan et al. 2021). The
label of a word sits on its first sub-token; a missing word is marked at the word to its right, at the end of a sentence
at the last word.

```
geceval detect --model {model} "This are a sentence ."
```

## How it was made

{made}

{data}

## Results

Token-level scores of errors against correct words, and macro scores over the classes, CORRECT included.

On the dev fold, which chose epoch and seed:

{runs}

On sentences that chose nothing:

{tests}
{by_class}{evaluations}
## Limits

- It reads English, tokenised as its training corpora are; words beyond {max_length} word pieces are not looked at.
- It marks what the annotators of its training corpora, learners' essays above all, would correct.
- Its training corpora are for research that is not commercial; ask their owners for other uses.
"""

_TAGS = ["grammatical-error-detection", "grammatical-error-correction", "geceval"]
_SCORES = ("precision", "recall", "f", "macro_f")


def ged_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings = results["settings"]
    bundled = is_bundled(settings["base"])
    base = "an encoder bundled with geceval" if bundled else f"`{settings['base']}`"
    rows = [
        *recipe_rows(settings, f"{base} (`{settings['base']}`)" if bundled else base, results["seed"]),
        ("weight of an error in the loss", f"{settings['error_weight']:g}"),
        ("sentences learnt again with some edits made", f"{settings['partial']:.0%}"),
        ("insertion at the end", settings["final_insertion"]),
    ]
    return _CARD.format(
        front=front_matter(settings["base"], "token-classification", _TAGS),
        title=folder.name,
        model=folder.name,
        classes=settings["classes"],
        made=table(("setting", "value"), rows),
        data=_data(results),
        runs=table(("seed", "best epoch", *_SCORES, "seconds"), run_rows(results["runs"], _SCORES)),
        tests=table(
            ("sentences of", "sentences", "tokens", "errors", *_SCORES),
            [
                (where, found["sentences"], found["tokens"], found["errors"], *(found[name] for name in _SCORES))
                for where, found in results["test"].items()
            ],
        ),
        by_class=_by_class(results["test"]),
        evaluations=evaluation_tables(results),
        max_length=settings["max_length"],
    )


def _data(results: Mapping[str, Any]) -> str:
    settings = results["settings"]
    files = [
        (use, entry["file"], entry["sha256"][:12])
        for use, key in (("divided 8:1:1", "m2"), ("train", "train_m2"), ("dev", "dev_m2"), ("test", "test_m2"))
        for entry in settings[key]
    ]
    counts = [(entry["fold"], entry["sentences"], entry["edits"]) for entry in results["data"]]
    return f"{table(('use', 'file', 'SHA-256'), files)}\n\n{table(('fold', 'sentences', 'edits'), counts)}"


def _by_class(tests: Mapping[str, Any]) -> str:
    parts = []
    for where, found in tests.items():
        if "by_class" in found:
            rows = [(label, s["tokens"], s["precision"], s["recall"], s["f"]) for label, s in found["by_class"].items()]
            parts.append(f"\n{where}:\n\n{table(('class', 'tokens', 'precision', 'recall', 'f'), rows)}\n")
    return "".join(parts)


def detection_scores(predicted: np.ndarray, gold: np.ndarray, classes: int) -> dict[str, float]:
    """Token-level precision, recall and F0.5."""
    row = count(predicted, gold, classes)
    hits, needless, missed = row[:3].tolist()
    precision, recall = hits / max(hits + needless, 1), hits / max(hits + missed, 1)
    macro = dict(zip(MACRO, macro_scores(row, BETA).tolist(), strict=True))
    return {"precision": precision, "recall": recall, "f": f_beta(precision, recall, BETA), **macro}


def class_scores(predicted: np.ndarray, gold: np.ndarray, labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """Precision, recall and F0.5 of each class against all others."""
    row = count(predicted, gold, len(labels))
    return {name: {**figures, "tokens": int(found[2])} for name, figures, found in figures_by_class(row, BETA, labels)}
