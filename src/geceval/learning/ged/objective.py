"""The loss and the scores of grammatical error detection (GED) as token classification.

The label of a word is that of its first sub-token; a causal model reads the sentence twice, and the label is that of
the word's last sub-token in the second copy. The loss is the cross-entropy over the words of a batch, in which errors
may weigh more. The best epoch is the one with the highest F0.5 on the dev fold: of the class INCORRECT with two
classes, else from macro precision and recall, CORRECT included (Yuan et al. 2021; IMPARA-GED, section 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.learning.objective import IGNORED, Objective
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import Checkpoint
from geceval.models.tokenizers import encode_words
from geceval.scorers.learned.detection import detection_scores

Labelled = tuple[str, list[int]]
"""A tokenised sentence and the id of the label of each token; id 0 is CORRECT."""


class Detection(Objective):
    """Cross-entropy over labelled tokens."""

    def __init__(self, labels: Sequence[str], error_weight: float = 1.0) -> None:
        self.labels, self.error_weight, self.twice = labels, error_weight, False

    def network(self, recipe: Recipe, base: Checkpoint) -> Any:
        """A token classifier; from now on sentences are encoded as it reads them."""
        network = super().network(recipe, base)
        self.twice = hasattr(network.config, "geceval_border")
        return network

    def encode(self, rows: Sequence[Labelled], tokenizer: Any, max_length: int) -> Dataset:
        """Token ids and labels of sentences; those without any labelled token are dropped."""
        encoded = encode_words(tokenizer, [source.split() for source, _ in rows], max_length, self.twice)
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
        """`detection_scores` of all labelled tokens."""
        expected = np.asarray(expected)
        labelled = expected != IGNORED
        return detection_scores(np.asarray(answers)[labelled], expected[labelled], len(self.labels))

    def selection(self, metrics: Mapping[str, float]) -> float:
        """F0.5 of INCORRECT with two classes, else the macro one."""
        return metrics["f" if len(self.labels) == 2 else "macro_f"]
