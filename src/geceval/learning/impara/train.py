"""Training of IMPARA, from parallel text to a checkpoint with its card; called by `training/train_impara.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.files import read_json
from geceval.core.progress import bar
from geceval.learning.impara.card import impara_card
from geceval.learning.impara.corpus_pairs import read_pairs
from geceval.learning.impara.job import Job
from geceval.learning.impara.objective import PairRanking
from geceval.learning.impara.ranked_pairs import RankedPair, read_rated_pairs
from geceval.learning.impara.scale import log_odds, rescale
from geceval.learning.low_rank import as_adapter
from geceval.learning.network import portable_name, save
from geceval.learning.runs import fit_seeds, network_file, train
from geceval.models.checkpoints import BUNDLED, CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.scorers.impara import THRESHOLD

RATED_PAIRS = 1024


def train_impara(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Make ranked pairs, fine-tune with each seed, and write the best as a checkpoint with results and card."""
    folder = Path(folder)

    def learn(data: Any, run: Path) -> list[dict[str, Any]]:
        evaluation = {"dev": data[0]["dev"]}
        if job.ratings is not None:
            evaluation["rated"] = read_rated_pairs(job.ratings, RATED_PAIRS)
        return fit_seeds(PairRanking(), job, job.recipe, data[0]["train"], evaluation, run, progress)

    def finish(data: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
        pairs, counts = data
        best = min(runs, key=lambda run: run["selection"])
        _write_checkpoint(job, best["seed"], folder)
        results = {"data": counts, "runs": runs, "seed": best["seed"]}
        if job.log_odds:
            scale, shift = log_odds(*_logits(folder, pairs["dev"], progress))
            rescale(folder, scale, shift)
            results["log_odds"] = {"scale": scale, "shift": shift}
        return {**results, "test": pair_scores(folder, pairs["test"], progress)}

    return train(job, folder, lambda run: read_pairs(job, run, progress), learn, finish, impara_card)


def pair_scores(model: str | Path, pairs: Sequence[RankedPair], progress: bool = False) -> dict[str, Any]:
    """Loss (Eq. 4) and accuracy of a finished checkpoint on ranked pairs."""
    low, high = _logits(model, pairs, progress)
    return {
        "pairs": len(pairs),
        "loss": float(np.mean(1 / (1 + np.exp(high - low)))),
        "accuracy": float(np.mean(high > low)),
    }


def bundled_scores(folder: str | Path) -> dict[str, Any]:
    """Loss and accuracy of the bundled IMPARA on the held-out pairs of a run."""
    saved = read_json(Path(folder) / "run" / "pairs.json")
    return pair_scores(f"{BUNDLED}:impara", [RankedPair(*row) for row in saved["test"]])


def _logits(model: str | Path, pairs: Sequence[RankedPair], progress: bool) -> tuple[np.ndarray, np.ndarray]:
    """Logits of the worse and of the better text of each pair."""
    encoder = Encoder.load(resolve(str(model)), head=True)
    texts = [text for pair in pairs for text in (pair.low, pair.high)]
    with bar(progress, "scores of pairs"):
        low, high = encoder.logits(texts)[:, 0].reshape(-1, 2).T.astype(float)
    return low, high


def _write_checkpoint(job: Job, seed: int, folder: Path) -> None:
    recipe, weights = job.recipe, network_file(folder / "run", seed)
    if job.keep_rank:
        small = weights.with_name("adapter.safetensors")
        recipe, weights = as_adapter(recipe, weights, job.keep_rank, small), small
    # The similarity estimator is the encoder as it was before fine-tuning (section 2.5).
    similarity = {"threshold": _threshold(job), "se_model": portable_name(job.recipe.base, folder)}
    save(recipe, weights, folder, similarity)


def _threshold(job: Job) -> float:
    """The threshold of the similarity estimator."""
    if job.threshold is not None:
        return job.threshold
    if job.recipe.base == BUNDLED:
        with contextlib.suppress(CheckpointError):  # while the bundled IMPARA itself is trained
            return resolve(BUNDLED, bundled="impara").setting("threshold", THRESHOLD)
    return THRESHOLD
