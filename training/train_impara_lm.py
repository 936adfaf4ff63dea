"""Train IMPARA's objective on a causal language model, from parallel text to an adapter.

    python training/train_impara_lm.py --m2 mine.m2 --output my-impara-lm
    python training/train_impara_lm.py --parallel mine.src mine.trg --init-from HuggingFaceTB/SmolLM2-360M --output mine

The defaults are the recipe of the bundled adapter over "smollm2". Killed and started again with the same arguments, it
goes on where it was. `accelerate launch` or `torchrun` in place of `python` trains on several devices, `--batch-size`
on each.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
from safetensors.torch import load_file, save_file

from geceval.core.errors import InputError
from geceval.core.options import Range
from geceval.learning import impara_lm
from geceval.learning.impara_lm import RECIPE, train_impara_lm
from geceval.learning.recipe import Recipe
from recipes import scripts
from recipes.scripts import Script


@dataclass(frozen=True, slots=True)
class Job(impara_lm.Job):
    """A training run whose finished adapter is kept at a lower rank; 0: as it is."""

    keep_rank: Annotated[int, Range(0)] = 0

    def __post_init__(self) -> None:
        super(Job, self).__post_init__()
        if self.keep_rank > self.recipe.lora_rank:
            raise InputError(f"keep_rank must be at most lora_rank, {self.recipe.lora_rank}, got {self.keep_rank}")

    def finished(self, weights: Path) -> tuple[Recipe, Path]:
        """Recipe and weights of the smaller adapter."""
        if not self.keep_rank:
            return self.recipe, weights
        small = weights.with_name("adapter.safetensors")
        lower_rank(weights, self.keep_rank, small)
        return dataclasses.replace(self.recipe, lora_rank=self.keep_rank), small


def lower_rank(weights: Path, rank: int, target: Path) -> None:
    """Replace the change that an adapter makes to each matrix by its best approximation of a lower rank."""
    state = load_file(weights)
    for name in [name for name in state if ".lora_A." in name]:
        other = name.replace(".lora_A.", ".lora_B.")
        left, values, right = torch.linalg.svd(state[other] @ state[name], full_matrices=False)
        state[other] = (left[:, :rank] * values[:rank]).contiguous()
        state[name] = right[:rank].contiguous()
    save_file(state, target)


script = Script(
    "train_impara_lm",
    __doc__,
    Job,
    RECIPE,
    {
        **scripts.PAIRS,
        "keep_rank": "keep the finished adapter at this lower rank",
        **(scripts.RECIPE | scripts.ADAPTER),
    },
    train_impara_lm,
    lambda results: {name: results[name] for name in ("seed", "test", "untrained")},
)
parser, main = script.parser, script.main

if __name__ == "__main__":
    sys.exit(main())
