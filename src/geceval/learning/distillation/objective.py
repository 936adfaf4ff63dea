"""What a student learns from a teacher's scores: how texts go on, and which version of a sentence is worth more.

At each node of a tree of texts, the divergence of the student's distribution over next tokens from the teacher's: the
likeliest tokens by themselves, all others as one. And for each two texts of a group, the smooth L1 distance between the
teacher's difference of q, clipped, and the student's, and softplus of the latter against the order. The student's q(Y)
is t * LL(Y) / sqrt(n) + w . h(Y), h the mean of its token states after the last layer. Where tokens have no weight, t
is 0: such a student is no language model, and what its output layer says is not computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers

from geceval.learning.distillation.groups import Group
from geceval.learning.distillation.rounding import round_weights
from geceval.learning.distillation.targets import Translation
from geceval.learning.distillation.teacher import Scored, token_rows
from geceval.learning.distillation.trees import pad, prefix_tree
from geceval.learning.impara_lm.objective import PACE, ScaledLikelihood
from geceval.learning.objective import IGNORED, Objective
from geceval.learning.recipe import Recipe
from geceval.models import loading
from geceval.models.causal import start_of
from geceval.models.checkpoints import Checkpoint
from geceval.models.devices import pick_device
from geceval.models.prefix_trees import inputs
from geceval.scorers.learned.likelihoods import word_counts

CLIP = 2.5
"""A greater difference of q is as good as certain, and very long texts have very great ones."""
GAP = 0.4
"""Least difference of two texts that counts in an evaluation."""


class Rated(NamedTuple):
    """Texts of one source with their ratings by people; only their order is meant."""

    group: Group
    values: np.ndarray


class TreeLikelihood(ScaledLikelihood):
    """A causal language model with t and w, applied to trees of texts."""

    def __init__(self, network: Any, likelihood: bool) -> None:
        super().__init__(network)
        self.likelihood = likelihood
        self.log_scale.requires_grad_(likelihood)
        self.slow_head = torch.nn.Parameter(torch.zeros(network.config.get_text_config().hidden_size))

    def scale(self) -> torch.Tensor:
        """The factor t."""
        return super().scale() if self.likelihood else torch.zeros(())

    def head(self) -> torch.Tensor:
        """The weights w: [dimensions]."""
        return PACE * self.slow_head

    def forward(self, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor | None, torch.Tensor]:
        """Log-probabilities of all tokens after each inner node, [inner, tokens], and q of each text, [texts]."""
        tree, path = batch["tree_of"], batch["paths"].float()
        states = self.network.base_model(**inputs(batch, torch.float32), use_cache=False).last_hidden_state
        worth = (path * (states.float() @ self.head())[tree])[:, 1:].sum(dim=1) / path[:, 1:].sum(dim=1).clamp(min=1)
        if not self.likelihood:
            return None, worth
        after = self.network.get_output_embeddings()(states[batch["inner"]]).float().log_softmax(dim=1)
        log_probs = torch.zeros(batch["input_ids"].shape, device=after.device).masked_scatter(
            batch["reached"], after[batch["above"], batch["input_ids"][batch["reached"]]]
        )
        likelihood = (path * log_probs[tree]).sum(dim=1) / batch["words"].sqrt()
        return after, self.scale() * likelihood + worth


class TreeCollator:
    """Makes a batch of trees; its argument, the token to pad with, does not matter, for padding is never seen."""

    def __init__(self, padding: int) -> None:
        pass

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """What `TreeLikelihood.forward` and `Distillation.cost` read, beside what `pad` gives."""
        # `inner` and `reached`, bool [trees, nodes]: nodes with others below or above them. `above` [reached]: number
        # of the node above among inner ones. `tree_of` [texts], `paths`, bool [texts, nodes]: of what a text is made.
        # `pairs` [2, pairs]: texts of one tree. `words`, `values` [texts]. Where there are targets, `ids` and
        # `probabilities` [inner, tokens].
        trees = [row["tree"] for row in rows]
        batch = pad(trees)
        nodes = torch.arange(batch["ends"].shape[1])
        inner, reached = batch["ends"] > nodes + 1, batch["position_ids"] > 0
        above = torch.arange(len(trees))[:, None] * len(nodes) + batch["parents"]
        tree_of, pairs = within_groups([len(tree.last) for tree in trees])
        last = torch.from_numpy(np.concatenate([tree.last for tree in trees]))[:, None]
        batch |= {
            "inner": inner,
            "reached": reached,
            "above": (inner.flatten().cumsum(0) - 1)[above[reached]],
            "tree_of": tree_of,
            "paths": (nodes <= last) & (last < batch["ends"][tree_of]),
            "pairs": pairs,
        }
        names = [name for name in ("words", "values", "ids", "probabilities") if name in rows[0]]
        return batch | {name: torch.from_numpy(np.concatenate([row[name] for row in rows])) for name in names}


def within_groups(counts: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The group of each text, [texts], and all pairs of texts of one group, [2, pairs], from the sizes of groups."""
    sizes = torch.tensor(counts)
    firsts = (sizes.cumsum(0) - sizes).tolist()
    pairs = [torch.combinations(torch.arange(n) + first).T for n, first in zip(counts, firsts, strict=True)]
    return torch.arange(len(counts)).repeat_interleave(sizes), torch.cat(pairs, dim=1)


class GroupObjective(Objective):
    """Of students, whose answers are differences of q."""

    greater_is_better = False

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Share of pairs in the expected order, of those that differ by at least `GAP`."""
        told = (expected != IGNORED) & (np.abs(expected) >= GAP - 1e-6)
        return {"accuracy": float((answers * expected > 0)[told].mean())}

    def selection(self, metrics: Mapping[str, float]) -> float:
        """The loss of groups kept apart."""
        # There are so few rated pairs that alone they choose by chance.
        if "rated_accuracy" not in metrics:
            return metrics["held_loss"]
        return 1 - (metrics["held_accuracy"] + metrics["rated_accuracy"]) / 2


class Distillation(GroupObjective):
    """Minimises the losses of tokens, differences and order."""

    collator = TreeCollator

    def __init__(self, teacher: Any, start: str, weights: Sequence[float], bits: int) -> None:
        self.teacher, self.start, self.weights, self.bits = teacher, start, weights, bits

    def network(self, recipe: Recipe, base: Checkpoint) -> TreeLikelihood:
        """The student in float32, all of whose weights learn, rounded as its file will hold them."""
        config = loading.read_config(base)
        if pick_device("auto").type == "cpu":
            config._attn_implementation = "eager"  # several times faster backward
        network, missing = loading.read_model(transformers.AutoModelForCausalLM, base, config)
        loading.check_missing(base, missing)
        round_weights(network, self.bits)
        transformers.set_seed(recipe.seed)
        return TreeLikelihood(network, likelihood=self.weights[0] > 0)

    def model(self, network: TreeLikelihood, recipe: Recipe, rows: Sequence[Scored]) -> TreeLikelihood:
        """The network itself."""
        return network

    def encode(self, rows: Sequence[Scored | Rated], tokenizer: Any, max_length: int) -> list[dict[str, Any]]:
        """Trees of the student's tokens, words and values of texts, and targets at inner nodes of scored groups."""
        _, start = start_of(tokenizer, self.start)
        translation = Translation(self.teacher, tokenizer)
        return [self._encode(row, tokenizer, start, translation, max_length) for row in rows]

    def _encode(
        self, row: Scored | Rated, tokenizer: Any, start: int, translation: Translation, max_length: int
    ) -> dict[str, Any]:
        ids = token_rows(tokenizer, start, row.group.texts)
        if isinstance(row, Rated):
            ids = [some[:max_length] for some in ids]
        tree = prefix_tree(ids)
        encoded = {
            "input_ids": tree.ids,  # by whose length rows are put together
            "tree": tree,
            "words": word_counts(row.group.texts).astype(np.float32),
            "values": row.values.astype(np.float32),
        }
        if isinstance(row, Scored):
            ids, probabilities = translation.targets(row, tree)
            encoded |= {"ids": ids, "probabilities": probabilities}
        return encoded

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The weighted sum of the losses; differences of q within each tree, the student's and the expected ones."""
        after, quality = model(batch)
        losses, found, wanted = group_losses(quality, batch, len(batch["inner"]))
        if "ids" not in batch:
            return losses.order, found, wanted
        tokens, differences, ranking = self.weights
        loss = differences * losses.differences + ranking * losses.order
        if after is not None:
            loss = loss + tokens * token_loss(after, batch["ids"].long(), batch["probabilities"].float())
        return loss, found, wanted


class GroupLosses(NamedTuple):
    """Means over all pairs of texts of one group: of the distance to the teacher's difference, and of the order."""

    differences: torch.Tensor
    order: torch.Tensor


def group_losses(
    quality: torch.Tensor, batch: Mapping[str, Any], groups: int
) -> tuple[GroupLosses, torch.Tensor, torch.Tensor]:
    """What the q of texts cost; differences of q within each group, the student's and the expected ones."""
    left, right = batch["pairs"]
    found, wanted = quality[left] - quality[right], batch["values"][left] - batch["values"][right]
    ordered = wanted != 0
    order = torch.nn.functional.softplus(-found * wanted.sign())[ordered].sum() / ordered.sum().clamp(min=1)
    clipped = wanted.clamp(-CLIP, CLIP)
    distance = torch.nn.functional.smooth_l1_loss(found, clipped, reduction="none")
    distance = distance.masked_fill((wanted.abs() >= CLIP) & (found * wanted.sign() >= CLIP), 0).mean()
    rows = [_by_group(some, batch["tree_of"][left], groups) for some in (found, wanted)]
    return GroupLosses(distance, order), *rows


def token_loss(after: torch.Tensor, ids: torch.Tensor, probabilities: torch.Tensor) -> torch.Tensor:
    """The mean divergence from the teacher's distribution, over tokens with a probability and the rest as one token."""
    found = after.gather(1, ids)
    rest = (1 - probabilities.sum(dim=1)).clamp(min=0)
    own_rest = (1 - (found.exp() * (probabilities > 0)).sum(dim=1)).clamp(min=1e-4)
    entropy = torch.special.entr(probabilities).sum(dim=1) + torch.special.entr(rest)
    return -((probabilities * found).sum(dim=1) + rest * own_rest.log() + entropy).mean()


def _by_group(pairs: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """Values of pairs as one row a group: [pairs] to [groups, most pairs], the remainder `IGNORED`."""
    counts = torch.bincount(group, minlength=groups)
    column = torch.arange(len(pairs), device=pairs.device) - (counts.cumsum(0) - counts)[group]
    found = torch.full((groups, int(counts.max())), float(IGNORED), device=pairs.device)
    found[group, column] = pairs.float()
    return found
