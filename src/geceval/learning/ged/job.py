"""What a training run of an error detector depends on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from geceval.core.checks import check_count, check_positive
from geceval.core.errors import InputError
from geceval.core.options import check_types
from geceval.edits.ged_labels import label_ids
from geceval.learning.recipe import Recipe

RECIPE = Recipe(learning_rate=3e-5, schedule="linear", epochs=5)
"""The recipe of the published detectors (Yuan et al. 2021; IMPARA-GED, section 4.1)."""


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a training run depends on.

    Attributes:
        m2: M2 files that are divided 8:1:1 by source into training, dev and test folds. Corrected sentences go into the
            same folds as with `train_impara` on the same files, so that a quality estimator trained on the detector is
            never tested on sentences that the detector has learnt from.
        train_m2: M2 files that are used entirely for training.
        dev_m2: M2 files that choose epoch and seed, in place of the dev fold of `m2`.
        test_m2: M2 files on which the finished checkpoint is tested, each separately, besides the test fold of
            `m2`.
        classes: 2, 4, 25 or 55, see `geceval.edits.ged_labels`.
        final_insertion: `"last"` or `"lost"`, see `token_labels`.
        partial: Share of the training sentences with edits that are learnt a second time, with a random part of the
            edits applied and only the others labelled, like a corrected sentence with remaining errors.
        error_weight: Weight in the loss of a token that is in error.
        recipe: How to fine-tune; its seed is replaced by each of `seeds`.
        seeds: One run each; the network that is best on the dev fold is kept.
        limit: The largest number of training sentences, drawn at random; `None` takes all.
    """

    m2: tuple[Path, ...] = ()
    train_m2: tuple[Path, ...] = ()
    dev_m2: tuple[Path, ...] = ()
    test_m2: tuple[Path, ...] = ()
    classes: int = 2
    final_insertion: str = "last"
    partial: float = 0.0
    error_weight: float = 1.0
    recipe: Recipe = dataclasses.field(default=RECIPE)
    seeds: tuple[int, ...] = (1,)
    limit: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        label_ids(self.classes)
        if not self.m2 and not (self.train_m2 and self.dev_m2):
            raise InputError("nothing to learn from: give M2 files to divide, or M2 files to learn from and for dev")
        if not 0 <= self.partial <= 1:
            raise InputError(f"partial must be a share in [0, 1], got {self.partial}")
        check_positive("error_weight", self.error_weight)
        if self.limit is not None:
            check_count("limit", self.limit)
