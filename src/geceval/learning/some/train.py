"""Training of SOME's three regressors, from human ratings to one checkpoint with its card."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.core.options import RunTime
from geceval.corpora.ratings import Rating, read_tmu_gfm, split_ratings
from geceval.learning.network import save
from geceval.learning.runs import fit_seeds, network_file, train
from geceval.learning.some.card import some_card
from geceval.learning.some.heads import check_layer, learn_head, save_head
from geceval.learning.some.job import Job
from geceval.learning.some.objective import Regression, correlations
from geceval.models.checkpoints import resolve
from geceval.models.regressors import load_regressor
from geceval.scorers.some import PARTS


def train_some(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Fine-tune three regressors with each seed, and write the best as one checkpoint with results and card."""
    folder = Path(folder)

    def read(run: Path) -> dict[str, list[Rating]]:
        for part in PARTS:
            base = resolve(job.recipe_of(part).base)  # said before the first of them has been trained
            check_layer(base, job.head_layer or 0)
        return split_ratings(read_tmu_gfm(job.ratings), job.dev, job.test, job.fold_seed)

    runtime = RunTime(dtype=job.recipe.dtype, progress=progress)

    def learn(folds: dict[str, list[Rating]], run: Path) -> dict[str, Any]:
        learnt = {}
        for part in sorted(PARTS, key=lambda part: part != "meaning"):  # it reads the texts of the others too
            rows, dev = (rated_texts(folds[fold], part) for fold in ("train", "dev"))
            recipe = job.recipe_of(part)
            if job.head_layer is None:
                learnt[part] = fit_seeds(Regression(), job, recipe, rows, dev, run / part, progress)
            else:
                learnt[part] = learn_head(recipe.base, job.head_layer, job.ridge, rows, dev, runtime)
        return learnt

    def finish(folds: dict[str, list[Rating]], learnt: dict[str, Any]) -> dict[str, Any]:
        counts = [
            {"fold": fold, "outputs": len(rows), "sources": len({rating.source for rating in rows})}
            for fold, rows in folds.items()
        ]
        return {
            "data": counts,
            "parts": {part: _finish(job, folder, part, learnt[part], folds["test"]) for part in PARTS},
        }

    return train(job, folder, read, learn, finish, some_card)


def rated_texts(ratings: Sequence[Rating], part: str) -> list[tuple[str | tuple[str, str], float]]:
    """The texts that the regressor of one sub-metric reads, with mean ratings; for meaning, (source, output) pairs."""
    return [
        ((rating.source, rating.output) if part == "meaning" else rating.output, getattr(rating, part))
        for rating in ratings
    ]


def evaluate(folder: str | Path, part: str, ratings: Sequence[Rating]) -> dict[str, float]:
    """Pearson, Spearman and the mean squared error of one regressor of a finished checkpoint."""
    texts, gold = zip(*rated_texts(ratings, part), strict=True)
    regressor = load_regressor(resolve(folder, part=PARTS[part]))
    return correlations(regressor.logits(texts)[:, 0], gold)


def evaluate_fold(folder: Path, settings: Mapping[str, Any], ratings: Path) -> dict[str, dict[str, dict[str, float]]]:
    """What `evaluate` gives on the test fold, by sub-metric, for texts as they are and with spaced tokens."""
    sizes = (settings[name] for name in ("dev", "test", "fold_seed"))
    test = split_ratings(read_tmu_gfm(ratings), *sizes)["test"]
    return {part: _evaluate_test(folder, part, test) for part in PARTS}


def _evaluate_test(folder: Path, part: str, test: Sequence[Rating]) -> dict[str, dict[str, float]]:
    return {"test": evaluate(folder, part, test), "test_tokenised": evaluate(folder, part, tokenised(test))}


def tokenised(ratings: Sequence[Rating]) -> list[Rating]:
    """The same texts with a space around every token, by spaCy's rules for English."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer

    def spaced(text: str) -> str:
        return " ".join(token.text for token in tokenizer(text) if not token.is_space)

    return [dataclasses.replace(r, source=spaced(r.source), output=spaced(r.output)) for r in ratings]


def _finish(job: Job, folder: Path, part: str, learnt: Any, test: Sequence[Rating]) -> dict[str, Any]:
    """Write the best network, or the head, of one sub-metric as a checkpoint, and evaluate it on the test fold."""
    target = folder / PARTS[part]
    target.mkdir(exist_ok=True)
    recipe = job.recipe_of(part)
    if job.head_layer is None:
        best = max(learnt, key=lambda run: run["selection"])
        save(recipe, network_file(folder / "run" / part, best["seed"]), target, {})
        facts = {"runs": learnt, "seed": best["seed"]}
    else:
        head, found = learnt
        save_head(head, recipe.base, target)
        facts = {"head": found}
    return {"base": recipe.base, **facts, **_evaluate_test(folder, part, test)}
