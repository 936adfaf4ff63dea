"""Training of IMPARA from parallel text to a checkpoint with its card; what `training/train_impara.py` calls.

The folder of a run holds the finished checkpoint at its top and, below `run/`, what lets a run that was cut off go on:
the settings, the pairs and the state of each seed. `run/` holds sentences of the corpora and is never pushed.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval.learning.compression import as_adapter
from geceval.learning.impara.card import impara_card
from geceval.learning.impara.corpus_pairs import read_pairs
from geceval.learning.impara.job import Job
from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.learning.impara.scale import log_odds, rescale
from geceval.learning.network import check_adapter, save
from geceval.learning.runs import claim, keep_results, read_results
from geceval.meta.judgments.ratings import rated_pairs, read_tmu_gfm
from geceval.models.checkpoints import BUNDLED, CheckpointError, lasting_name, resolve
from geceval.models.encoder import get_encoder
from geceval.scorers.impara import THRESHOLD

logger = logging.getLogger("geceval")

RATED_PAIRS = 1024


def train_impara(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Make ranked pairs, fine-tune with each seed, and write the best as a checkpoint with results and card.

    A second call with the same arguments continues where the first was cut off, or returns its results. Under
    `torchrun` or `accelerate launch` the processes share the work.

    Args:
        job: What to do.
        folder: Where the checkpoint goes, see the module's docstring.
        progress: Show progress on standard error.

    Returns:
        The content of `results.json`.

    Raises:
        OSError: If a file cannot be read or written.
        ValueError: If a file is malformed, no pairs can be made, the base cannot be used, or the folder holds a run
            with other settings.
    """
    from accelerate import PartialState

    from geceval.learning.impara.objective import train

    folder = Path(folder)
    state = PartialState()
    with state.main_process_first():
        settings = claim(job, folder / "run")
        if (folder / "results.json").is_file():
            return read_results(folder)
        check_adapter(job.keep_rank, resolve(job.recipe.base))  # made only when all seeds have been trained
        pairs, data = read_pairs(job, folder / "run", progress)
    evaluation = {"dev": pairs["dev"]}
    if job.ratings is not None:
        rated = rated_pairs(read_tmu_gfm(job.ratings), RATED_PAIRS)
        evaluation["rated"] = [RankedPair(*row) for row in rated]
    runs = []
    for seed in job.seeds:
        recipe = dataclasses.replace(job.recipe, seed=seed)
        runs.append(train(recipe, pairs["train"], evaluation, folder / "run" / f"seed-{seed}", progress))
    if state.is_main_process:
        best = min(runs, key=lambda run: run["selection"])
        _write_checkpoint(job, best["seed"], folder)
        results = {"settings": settings, "data": data, "runs": runs, "seed": best["seed"]}
        if job.log_odds:
            scale, shift = log_odds(*_logits(folder, pairs["dev"], progress))
            rescale(folder, scale, shift)
            results["log_odds"] = {"scale": scale, "shift": shift}
        results["test"] = pair_scores(folder, pairs["test"], progress)
        write_results(folder, results)
    state.wait_for_everyone()
    return read_results(folder)


def pair_scores(model: str | Path, pairs: Sequence[RankedPair], progress: bool = False) -> dict[str, Any]:
    """Loss (Eq. 4) and accuracy of a finished checkpoint on ranked pairs."""
    low, high = _logits(model, pairs, progress)
    return {
        "pairs": len(pairs),
        "loss": float(np.mean(1 / (1 + np.exp(high - low)))),
        "accuracy": float(np.mean(high > low)),
    }


def _logits(model: str | Path, pairs: Sequence[RankedPair], progress: bool) -> tuple[np.ndarray, np.ndarray]:
    """Logits of the worse and of the better text of each pair."""
    encoder = get_encoder(resolve(str(model)), head=True)
    texts = [text for pair in pairs for text in (pair.low, pair.high)]
    low, high = encoder.logits(texts, progress=progress)[:, 0].reshape(-1, 2).T.astype(float)
    return low, high


def write_results(folder: Path, results: Mapping[str, Any]) -> None:
    """Write `results.json` and the card that is made from it."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    keep_results(folder, results, impara_card(results, config, folder.name))


def _write_checkpoint(job: Job, seed: int, folder: Path) -> None:
    recipe = dataclasses.replace(job.recipe, seed=seed)
    weights = folder / "run" / f"seed-{seed}" / "network.safetensors"
    if job.keep_rank:
        small = weights.with_name("adapter.safetensors")
        recipe, weights = as_adapter(recipe, weights, job.keep_rank, small), small
    save(recipe, weights, folder, _similarity(job))


def _similarity(job: Job) -> dict[str, Any]:
    """The similarity estimator and its threshold: the encoder as it was before fine-tuning (section 2.5)."""
    threshold = job.threshold
    if threshold is None and job.recipe.base == BUNDLED:
        try:
            threshold = resolve(BUNDLED, bundled="impara").setting("threshold")
        except CheckpointError:
            threshold = None  # the bundled IMPARA itself is being trained
    return {"threshold": THRESHOLD if threshold is None else threshold, "se_model": lasting_name(job.recipe.base)}
