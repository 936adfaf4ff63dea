"""IMPARA's preference between two corrections, expressed by the likelihoods of a causal language model.

The quality of a text Y of n words is q(Y) = t * LL(Y) / sqrt(n), LL its log-likelihood, t learnt. A pair costs
softplus(q(S-) - q(S+)): -log of the probability that S+ is the better text, if a difference of q is a log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from datasets import Dataset

from geceval.learning.causal_network import new_causal_network
from geceval.learning.impara.objective import PairCollator, PairRanking, distinct_pairs
from geceval.learning.impara.ranked_pairs import RankedPair
from geceval.learning.recipe import Recipe
from geceval.models.causal import head_is_all, log_probs, start_of
from geceval.models.checkpoints import Checkpoint
from geceval.models.tokenizers import NOTHING_SPECIAL, detokenize
from geceval.scorers.learned.likelihoods import word_counts

SCALE = 0.6
PACE = 10
"""AdamW moves every parameter by about the learning rate; t, a single number, must move farther."""


class ScaledLikelihood(torch.nn.Module):
    """A causal language model and the scale t of its likelihoods; its state is what is learnt."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network, self.config = network, network.config
        self.log_scale = torch.nn.Parameter(torch.tensor(math.log(SCALE) / PACE))

    def scale(self) -> torch.Tensor:
        """The factor t."""
        return torch.exp(PACE * self.log_scale)

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
        """What is learnt: a checkpoint need not hold the base."""
        learnt = {name for name, value in self.named_parameters() if value.requires_grad}
        return {name: value for name, value in super().state_dict(*args, **options).items() if name in learnt}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Load what `state_dict` gives; the base is not missed."""
        found = super().load_state_dict(state, strict=False, assign=assign)
        return type(found)([], found.unexpected_keys)


class PairLikelihood(ScaledLikelihood):
    """A causal language model with t, applied to pairs of texts."""

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        self.head_alone = head_is_all(network.get_base_model())

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """The margins q(S+) - q(S-): [pairs, 2, tokens] and words [pairs, 2] to [pairs]."""
        model = self.network.get_base_model()
        found, _ = log_probs(model, input_ids.flatten(0, 1), attention_mask.flatten(0, 1), self.head_alone)
        quality = self.scale() * found.sum(dim=1).view(-1, 2) / words.sqrt()
        return quality[:, 1] - quality[:, 0]


class LikelihoodCollator(PairCollator):
    """Pads the texts of a batch of pairs to the longest, and adds their numbers of words."""

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids and mask, each [pairs, 2, tokens], and words [pairs, 2]."""
        return {**super().__call__(rows), "words": torch.tensor([row["words"] for row in rows]).float()}


class LikelihoodRanking(PairRanking):
    """Minimises the cost of pairs; the best evaluation has the lowest mean loss of the set that selects."""

    collator = LikelihoodCollator

    def __init__(self, start: str | None) -> None:
        self.start = start

    def network(self, recipe: Recipe, base: Checkpoint) -> PairLikelihood:
        """The language model with its adapter, applied to pairs."""
        return PairLikelihood(new_causal_network(recipe, base))

    def model(self, network: PairLikelihood, recipe: Recipe, rows: Sequence[RankedPair]) -> PairLikelihood:
        """The network itself."""
        return network

    def encode(self, rows: Sequence[RankedPair], tokenizer: Any, max_length: int) -> Dataset:
        """Token ids of both texts as prose, after the token that starts a text, and their numbers of words."""
        _, start = start_of(tokenizer, self.start)

        def ids(texts: list[str]) -> list[list[int]]:
            prose = [detokenize(text) for text in texts]
            output = tokenizer(prose, **NOTHING_SPECIAL, truncation=True, max_length=max_length - 1)
            return [[start, *row] for row in output["input_ids"]]

        words = [word_counts((pair.low, pair.high)).tolist() for pair in rows]
        return distinct_pairs(ids([pair.low for pair in rows]), ids([pair.high for pair in rows]), words=words)

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The mean cost of a batch, margins, and ones: the second text of a pair is always the better."""
        margins = model(**batch)
        return torch.nn.functional.softplus(-margins).mean(), margins, torch.ones_like(margins)

    def selection(self, metrics: Mapping[str, float]) -> float:
        """The loss on rated pairs if there are any, else on the dev fold."""
        return metrics.get("rated_loss", metrics.get("dev_loss"))
