"""Training of SOME's three regressors from human ratings to one checkpoint with its card.

The folder of a run is that of `geceval.learning.runs`, with the three networks in sub-folders of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.learning.network import save
from geceval.learning.runs import claim, keep_results, read_results
from geceval.learning.some.card import some_card
from geceval.learning.some.job import Job
from geceval.meta.judgments.ratings import Rating, read_tmu_gfm, split_ratings
from geceval.models.checkpoints import resolve
from geceval.models.encoder import get_encoder
from geceval.scorers.some import PARTS


def train_some(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Fine-tune three regressors with each seed, and write the best as one checkpoint with results and card.

    A second call with the same arguments continues where the first was cut off, or returns its results. Under
    `torchrun` or `accelerate launch` the processes share the work.

    Args:
        job: What to do.
        folder: Where the checkpoint goes: sub-folders `grammer`, `fluency` and `meaning`, results and card.
        progress: Show progress on standard error.

    Returns:
        The content of `results.json`.

    Raises:
        OSError: If a file cannot be read or written.
        ValueError: If the ratings are malformed or too few, a base cannot be used, or the folder holds a run with
            other settings.
    """
    from accelerate import PartialState

    from geceval.learning.some.objective import train

    folder = Path(folder)
    state = PartialState()
    with state.main_process_first():
        settings = claim(job, folder / "run")
    if (folder / "results.json").is_file():
        return read_results(folder)
    for part in PARTS:
        resolve(job.recipe_of(part, job.seeds[0]).base)  # said before the first of them has been trained
    folds = split_ratings(read_tmu_gfm(job.ratings), job.dev, job.test, job.fold_seed)
    runs: dict[str, list[dict[str, Any]]] = {}
    for part in PARTS:
        rows = {fold: rated_texts(folds[fold], part) for fold in ("train", "dev")}
        runs[part] = [
            train(job.recipe_of(part, seed), rows["train"], rows["dev"], _place(folder, part, seed), progress)
            for seed in job.seeds
        ]
    if state.is_main_process:
        parts = {part: _finish(job, folder, part, runs[part], folds["test"]) for part in PARTS}
        results = {"settings": settings, "data": _counts(folds), "parts": parts}
        write_results(folder, results)
    state.wait_for_everyone()
    return read_results(folder)


def write_results(folder: Path, results: Mapping[str, Any]) -> None:
    """Write `results.json` and the card that is made from it."""
    keep_results(folder, results, some_card(results, folder.name))


def rated_texts(ratings: Sequence[Rating], part: str) -> list[tuple[str | tuple[str, str], float]]:
    """What the regressor of one sub-metric reads, with its mean rating: outputs, for meaning (source, output)."""
    return [
        ((rating.source, rating.output) if part == "meaning" else rating.output, getattr(rating, part))
        for rating in ratings
    ]


def evaluate(folder: str | Path, part: str, ratings: Sequence[Rating]) -> dict[str, float]:
    """Pearson, Spearman and the mean squared error of one regressor of a finished checkpoint."""
    from geceval.learning.some.objective import correlations

    texts, gold = zip(*rated_texts(ratings, part), strict=True)
    encoder = get_encoder(resolve(folder, part=PARTS[part]), head=True)
    return correlations(encoder.logits(texts)[:, 0], gold)


def tokenised(ratings: Sequence[Rating]) -> list[Rating]:
    """The same texts with a space around every token, by spaCy's rules for English."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer

    def spaced(text: str) -> str:
        return " ".join(token.text for token in tokenizer(text) if not token.is_space)

    return [dataclasses.replace(r, source=spaced(r.source), output=spaced(r.output)) for r in ratings]


def _place(folder: Path, part: str, seed: int) -> Path:
    return folder / "run" / part / f"seed-{seed}"


def _finish(job: Job, folder: Path, part: str, runs: list[dict[str, Any]], test: Sequence[Rating]) -> dict[str, Any]:
    """Write the best network of one sub-metric as a checkpoint, and look at the test fold."""
    best = max(runs, key=lambda run: run["selection"])
    target = folder / PARTS[part]
    target.mkdir(exist_ok=True)
    recipe = job.recipe_of(part, best["seed"])
    save(recipe, _place(folder, part, best["seed"]) / "network.safetensors", target, {})
    return {
        "base": recipe.base,
        "runs": runs,
        "seed": best["seed"],
        "test": evaluate(folder, part, test),
        "test_tokenised": evaluate(folder, part, tokenised(test)),
    }


def _counts(folds: dict[str, list[Rating]]) -> list[dict[str, Any]]:
    return [
        {"fold": fold, "outputs": len(rows), "sources": len({rating.source for rating in rows})}
        for fold, rows in folds.items()
    ]
