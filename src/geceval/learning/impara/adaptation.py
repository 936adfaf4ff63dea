"""IMPARA learnt from one's own corrections, with settings that suit the base: what `geceval train impara` does."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.learning.impara.train import pair_scores
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


def bundled_scores(folder: str | Path) -> dict[str, Any]:
    """Loss and accuracy of the bundled IMPARA on the held-out pairs of a run: how good it was before.

    Args:
        folder: Of the checkpoint.
    """
    kept = json.loads((Path(folder) / "run" / "pairs.json").read_text(encoding="utf-8"))
    return pair_scores(BEFORE, [RankedPair(*row) for row in kept["test"]])
