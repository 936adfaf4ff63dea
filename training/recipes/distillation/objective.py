"""What a student learns from a teacher's values: which version of a sentence is worth more, and by how much.

The student's q(Y) is w . h(Y), h the mean of its token states after the last layer. For each two texts of a group, it
pays the smooth L1 distance between the teacher's difference of q, clipped, and its own, and softplus of the latter
against the order. Its matrices are rounded as its file will hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import transformers
from torch.nn.utils import parametrize

from geceval.learning.impara_lm import PACE, Tuned
from geceval.learning.loop import Objective
from geceval.learning.network import causal_network
from geceval.learning.recipe import Recipe
from geceval.models.causal import start_of
from geceval.models.checkpoints import Checkpoint
from geceval.models.prefix_trees import inputs
from recipes.distillation.teacher import Scored, pad, prefix_tree, token_rows
from recipes.quantising import is_quantisable, rounded

BITS = 4  # of a weight in the student's file
IGNORED = -100.0  # where a group has no more pairs; the `Trainer` fills up with it, too
CLIP = 2.5  # a greater difference of q is as good as certain, and very long texts have very great ones
GAP = 0.4  # least difference of two texts that counts in an evaluation


class Rounded(torch.nn.Module):
    """A matrix as `geceval.models.quantised` stores it."""

    def forward(self, weights: torch.Tensor) -> torch.Tensor:
        """The rounded weights, [rows, columns]."""
        # Gradients pass as if it were not rounded (the straight-through estimator of Bengio et al. 2013).
        return weights + (rounded(weights.detach(), BITS) - weights.detach())


def round_weights(network: Any) -> None:
    """Let a network compute with rounded matrices from now on."""
    for module in list(network.modules()):
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)) and is_quantisable(module.weight):
            parametrize.register_parametrization(module, "weight", Rounded())


def restore_weights(network: Any) -> None:
    """Undo `round_weights`; the network then has the weights as they were learnt."""
    for module in list(network.modules()):
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)


class TreeModel(Tuned):
    """A causal language model with w, applied to trees of texts."""

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        self.slow_head = torch.nn.Parameter(torch.zeros(network.config.get_text_config().hidden_size))

    def head(self) -> torch.Tensor:
        """The weights w: [dimensions]."""
        return PACE * self.slow_head

    def forward(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """q of each text: [texts]."""
        tree, path = batch["tree_of"], batch["paths"].float()
        states = self.network.base_model(**inputs(batch, torch.float32), use_cache=False).last_hidden_state
        products = (states.float() @ self.head())[tree]
        return (path * products)[:, 1:].sum(dim=1) / path[:, 1:].sum(dim=1).clamp(min=1)


class TreeCollator:
    """Makes a batch of trees; its argument, the token to pad with, does not matter, for padding is never seen."""

    def __init__(self, padding: int) -> None:
        pass

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Nodes of trees; the tree of each text and its nodes, bool [texts, nodes]; pairs of texts of one tree."""
        trees = [row["tree"] for row in rows]
        batch = pad(trees)
        nodes = torch.arange(batch["ends"].shape[1])
        tree_of, pairs = within_groups([len(tree.last) for tree in trees])
        last = torch.from_numpy(np.concatenate([tree.last for tree in trees]))[:, None]
        return batch | {
            "tree_of": tree_of,
            "paths": (nodes <= last) & (last < batch["ends"][tree_of]),
            "pairs": pairs,
            "values": torch.from_numpy(np.concatenate([row["values"] for row in rows])),
            "by_people": torch.tensor([row["by_people"] for row in rows]),
        }


def within_groups(counts: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The group of each text, [texts], and all pairs of texts of one group, [2, pairs], from the sizes of groups."""
    sizes = torch.tensor(counts)
    firsts = (sizes.cumsum(0) - sizes).tolist()
    pairs = [torch.combinations(torch.arange(n) + first).T for n, first in zip(counts, firsts, strict=True)]
    return torch.arange(len(counts)).repeat_interleave(sizes), torch.cat(pairs, dim=1)


class Distillation(Objective):
    """Minimises the losses of differences and of their order; its answers are differences of q."""

    greater_is_better = False
    collator = TreeCollator

    def __init__(self, start: str) -> None:
        self.start = start

    def network(self, recipe: Recipe, base: Checkpoint) -> TreeModel:
        """The student in float32, all of whose weights learn, rounded as its file will hold them."""
        network = causal_network(base)
        round_weights(network)
        transformers.set_seed(recipe.seed)
        return TreeModel(network)

    def encode(self, rows: Sequence[Scored], tokenizer: Any, max_length: int) -> list[dict[str, Any]]:
        """Trees of the student's tokens, and the values of texts."""
        _, start = start_of(tokenizer, self.start)
        return [self._encode(row, tokenizer, start, max_length) for row in rows]

    def _encode(self, row: Scored, tokenizer: Any, start: int, max_length: int) -> dict[str, Any]:
        ids = token_rows(tokenizer, start, row.group.texts)
        if row.by_people:
            ids = [some[:max_length] for some in ids]
        tree = prefix_tree(ids)
        return {
            "input_ids": tree.ids,  # by whose length rows are put together
            "tree": tree,
            "values": row.values.astype(np.float32),
            "by_people": row.by_people,
        }

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The sum of the losses (of ratings, that of order); differences of q in each tree, and expected ones."""
        quality = model(batch)
        left, right = batch["pairs"]
        margins, expected = quality[left] - quality[right], batch["values"][left] - batch["values"][right]
        ordered = expected != 0
        loss = torch.nn.functional.softplus(-margins * expected.sign())[ordered].sum() / ordered.sum().clamp(min=1)
        if not batch["by_people"].all():
            loss = distance(margins, expected) + loss
        groups = len(batch["by_people"])
        return loss, *(_by_group(pairs, batch["tree_of"][left], groups) for pairs in (margins, expected))

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Share of pairs in the expected order, of those that differ by at least `GAP`."""
        counted = (expected != IGNORED) & (np.abs(expected) >= GAP - 1e-6)
        return {"accuracy": float((answers * expected > 0)[counted].mean())}

    def selection(self, metrics: Mapping[str, float]) -> float:
        """The loss of groups kept apart, or the share of pairs in the wrong order if people rated some, too."""
        # There are so few rated pairs that alone they choose by chance.
        if "rated_accuracy" not in metrics:
            return metrics["held_loss"]
        return 1 - (metrics["held_accuracy"] + metrics["rated_accuracy"]) / 2


def distance(margins: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The smooth L1 distance to the clipped difference; nothing where both lie beyond the clip."""
    losses = torch.nn.functional.smooth_l1_loss(margins, expected.clamp(-CLIP, CLIP), reduction="none")
    return losses.masked_fill((expected.abs() >= CLIP) & (margins * expected.sign() >= CLIP), 0).mean()


def _by_group(pairs: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """Values of pairs as one row a group: [pairs] to [groups, most pairs], the remainder `IGNORED`."""
    counts = torch.bincount(group, minlength=groups)
    column = torch.arange(len(pairs), device=pairs.device) - (counts.cumsum(0) - counts)[group]
    rows = torch.full((groups, int(counts.max())), IGNORED, device=pairs.device)
    rows[group, column] = pairs.float()
    return rows
