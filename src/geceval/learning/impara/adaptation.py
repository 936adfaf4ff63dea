"""IMPARA learnt from one's own corrections, with settings that suit the base: what `geceval train impara` does."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import warnings
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError
from geceval.learning.impara.job import Job
from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.learning.impara.train import pair_scores, train_impara
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import BUNDLED, is_bundled, resolve

SMALL = Recipe(
    pooler="identity",
    head_deviation=0.2,
    lora_rank=16,
    learning_rate=1e-3,
    schedule="linear",
    warmup=0.06,
    epochs=3,
)
"""What the bundled IMPARA was trained with; its base, a sentence encoder, learns little at the paper's rate."""

BEFORE = f"{BUNDLED}:impara"


def suited(base: str) -> tuple[Recipe, bool]:
    """The recipe for a base, and whether to scale the finished logit to log-odds.

    Args:
        base: `"bundled"` or another bundled encoder: an adapter over it, as the bundled IMPARA is one. Any other
            network: all weights, as Maeda et al. (2022) have it.

    Raises:
        CheckpointError: If there is no such checkpoint.
    """
    if is_bundled(base) and resolve(base).base is None:
        return dataclasses.replace(SMALL, base=base), True
    resolve(base)
    return Recipe(base=base), False


def adapt(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """`train_impara` in a folder of its own, which does not stay behind if nothing could be learnt from the files.

    Args:
        job: What to do.
        folder: Where the checkpoint goes: a new folder, an empty one, or that of the same job, which then continues.
        progress: Show progress on standard error.

    Returns:
        The content of `results.json`.

    Raises:
        OSError: If a file cannot be read or written.
        ValueError: If the folder holds anything else, a file is malformed, or no pairs can be made.
    """
    folder = Path(folder)
    run = folder / "run"
    fresh = not (run / "settings.json").is_file()
    if fresh and folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: not empty and no training run; choose a new folder")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of transformers and peft about each other
            return train_impara(job, folder, progress)
    except (OSError, ValueError):
        if fresh and not (run / "pairs.json").is_file():
            _clear(folder)
        raise


def _clear(folder: Path) -> None:
    """Remove what a run leaves that has made no pairs yet."""
    (folder / "run" / "settings.json").unlink(missing_ok=True)
    for empty in (folder / "run", folder):
        with contextlib.suppress(OSError):
            empty.rmdir()


def bundled_scores(folder: str | Path) -> dict[str, Any]:
    """Loss and accuracy of the bundled IMPARA on the held-out pairs of a run: how good it was before.

    Args:
        folder: Of `adapt`.
    """
    kept = json.loads((Path(folder) / "run" / "pairs.json").read_text(encoding="utf-8"))
    return pair_scores(BEFORE, [RankedPair(*row) for row in kept["test"]])
