"""Fine-tuning of a token classifier for grammatical error detection (GED).

The label of a word sits on its first sub-token; the loss is the cross-entropy over the words of a batch, in which
errors may weigh more. The best epoch is the one with the highest F0.5 on the dev fold: of the class INCORRECT with two
classes, else from macro precision and recall, CORRECT included (Yuan et al. 2021; IMPARA-GED, section 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.learning.loop import SELECTION, LossTrainer, arguments, finished, fit, start
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.models.words import encode_words
from geceval.scorers.learned.detection_counts import detection_scores

Labelled = tuple[str, list[int]]
"""A tokenised sentence and the id of the label of each token; id 0 is CORRECT."""

_IGNORED = -100


class DetectionTrainer(LossTrainer):
    """Cross-entropy over labelled tokens; an error weighs `error_weight` times a correct token."""

    def __init__(self, *args: Any, error_weight: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self.error_weight = error_weight

    def cost(self, model: Any, inputs: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The weighted mean over the labelled tokens of one batch; predicted ids and labels, [sentences, tokens]."""
        inputs = dict(inputs)
        labels = inputs.pop("labels")
        logits = model(**inputs).logits.float()
        weights = torch.full((logits.shape[-1],), self.error_weight, device=logits.device)
        weights[0] = 1.0
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), weights, ignore_index=_IGNORED)
        return loss, logits.argmax(-1), labels


class WordCollator:
    """Pads the sentences of a batch to the longest."""

    def __init__(self, padding: int) -> None:
        self.padding = padding

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids, mask and labels, each [sentences, tokens]."""

        def pad(name: str, value: int) -> torch.Tensor:
            return torch.nn.utils.rnn.pad_sequence([torch.tensor(row[name]) for row in rows], True, value)

        lengths = torch.tensor([row["length"] for row in rows])
        ids = pad("input_ids", self.padding)
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        return {"input_ids": ids, "attention_mask": mask, "labels": pad("labels", _IGNORED)}


def encode_labelled(rows: Sequence[Labelled], tokenizer: Any, max_length: int) -> Dataset:
    """Token ids and labels of sentences; those without any labelled token are dropped.

    Raises:
        ValueError: If nothing is left.
    """
    encoded = encode_words(tokenizer, [source.split() for source, _ in rows], max_length)
    table = []
    for (ids, places), (_, labels) in zip(encoded, rows, strict=True):
        row = [_IGNORED] * len(ids)
        for place, label in zip(places, labels, strict=True):
            if place is not None:
                row[place] = label
        if any(label != _IGNORED for label in row):
            table.append({"input_ids": ids, "labels": row, "length": len(ids)})
    if not table:
        raise InputError("there is no sentence with a token to learn from")
    return Dataset.from_list(table)


def selection(scores: Mapping[str, float], classes: int) -> float:
    """What chooses the epoch: F0.5 of INCORRECT with two classes, else the macro one."""
    return scores["f" if classes == 2 else "macro_f"]


def train(
    recipe: Recipe,
    labels: Sequence[str],
    rows: Sequence[Labelled],
    dev: Sequence[Labelled],
    folder: Path,
    error_weight: float = 1.0,
    progress: bool = True,
) -> dict[str, Any]:
    """Fine-tune a detector with one seed, see `geceval.learning.loop.fit`.

    Args:
        recipe: How; its pooling and pooler do not matter.
        labels: Names of the classes by id, CORRECT first.
        rows: What to learn from.
        dev: What chooses the epoch.
        folder: Of this run.
        error_weight: Weight of a token in an error in the loss; above 1, more tokens are marked.
        progress: Show a bar on standard error.

    Returns:
        What `fit` returns; `history` has the scores of `detection_scores` on the dev fold after each epoch.

    Raises:
        CheckpointError: If the base cannot be used.
        ValueError: If there is nothing to learn from, or `max_length` is beyond what the network can read.
    """
    if (result := finished(folder)) is not None:
        return result
    network, tokenizer = start(recipe, resolve(recipe.base), labels)

    def metrics(output: Any) -> dict[str, float]:
        gold = np.asarray(output.label_ids)
        counted = gold != _IGNORED
        scores = detection_scores(np.asarray(output.predictions)[counted], gold[counted], len(labels))
        return {**scores, SELECTION: selection(scores, len(labels))}

    trainer = DetectionTrainer(
        model=network,
        args=arguments(recipe, folder, progress, greater_is_better=True),
        data_collator=WordCollator(tokenizer.pad_token_id or 0),
        train_dataset=encode_labelled(rows, tokenizer, recipe.max_length),
        eval_dataset=encode_labelled(dev, tokenizer, recipe.max_length),
        compute_metrics=metrics,
        processing_class=tokenizer,
        error_weight=error_weight,
    )
    return fit(trainer, network, recipe.seed, lambda scores: selection(scores, len(labels)))
