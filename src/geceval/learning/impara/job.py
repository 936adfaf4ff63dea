"""Training of IMPARA from parallel text to a checkpoint with its card; what `training/train_impara.py` calls.

The folder of a run holds the finished checkpoint at its top and, below `run/`, what lets a run that was cut off go on:
the settings, the pairs and the state of each seed. `run/` holds sentences of the corpora and is never pushed.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.errors import InputError
from geceval.learning.compression import as_adapter
from geceval.learning.finetuning import Recipe, check_adapter, save
from geceval.learning.impara.card import impara_card
from geceval.learning.impara.corpus_pairs import read_pairs
from geceval.learning.impara.ranked_pairs import ATTEMPTS, PAIRS, RankedPair
from geceval.learning.impara.scale import log_odds, rescale
from geceval.learning.runs import claim, keep_results, read_results
from geceval.meta.judgments.ratings import rated_pairs, read_tmu_gfm
from geceval.models.checkpoints import BUNDLED, CheckpointError, lasting_name, resolve
from geceval.models.encoder import get_encoder
from geceval.scorers.impara import THRESHOLD

logger = logging.getLogger("geceval")

RATED_PAIRS = 1024


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a training run depends on.

    Attributes:
        m2: M2 files; each annotator's edits give pairs of their own.
        train_m2: M2 files all of whose pairs are learnt from, such as those that the detector in `recipe.base` has
            learnt from.
        parallel: (source file, corrected file) with one tokenised sentence a line; ERRANT finds the edits.
        recipe: How to fine-tune; its seed is replaced by each of `seeds`.
        seeds: The network that is best on the selection sets is kept.
        pairs: Ranked pairs from each corpus, 8:1:1 for training, choosing the epoch and testing; from one of `train_m2`
            as many for training as from the others.
        attempts: How many a sentence at most, see `ranked_pairs`.
        parallel_only: Pairs of source and full correction instead of ranked partial corrections.
        ratings: TMU-GFM-Dataset; pairs of its outputs then help to choose epoch and seed.
        nlp: spaCy pipeline for ERRANT, see `geceval.edits.errant.annotate.get_annotator`.
        threshold: Threshold of the similarity estimator, written into the checkpoint; `None` takes that of the
            bundled IMPARA if the base is bundled, else 0.9.
        keep_rank: If not 0, what tuning all weights has changed is kept as an adapter of this rank, see
            `geceval.learning.compression`.
        log_odds: Scale the finished logit so that differences are log-odds on the dev fold, see
            `geceval.learning.impara.scale.log_odds`; otherwise its scale is where training happened to leave it.
    """

    m2: tuple[Path, ...] = ()
    train_m2: tuple[Path, ...] = ()
    parallel: tuple[tuple[Path, Path], ...] = ()
    recipe: Recipe = dataclasses.field(default_factory=Recipe)
    seeds: tuple[int, ...] = (1,)
    pairs: int = PAIRS
    attempts: int = ATTEMPTS
    parallel_only: bool = False
    ratings: Path | None = None
    nlp: str | None = None
    threshold: float | None = None
    keep_rank: int = 0
    log_odds: bool = False

    def __post_init__(self) -> None:
        if not self.m2 and not self.parallel:
            raise InputError("nothing to learn from: give an M2 file, or a source and a corrected file")
        if not self.seeds:
            raise InputError("give at least one seed")
        if self.pairs < 10:
            raise InputError(f"pairs must be at least 10, so that each fold has some, got {self.pairs}")
        if self.keep_rank < 0 or (self.keep_rank and self.recipe.lora_rank):
            raise InputError("keep_rank must be at least 0, and 0 where lora_rank makes an adapter from the start")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"threshold must be a finite number, got {self.threshold}")


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

    from geceval.learning.impara.training import train

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
