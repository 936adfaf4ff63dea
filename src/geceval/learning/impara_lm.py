"""IMPARA-LM: IMPARA's preference between two corrections, expressed by a causal language model, and its training.

The quality of a text Y of n words is q(Y) = t * LL(Y) / sqrt(n), LL its log-likelihood, t learnt. A pair costs
softplus(q(S-) - q(S+)): -log of the probability that S+ is the better text, if a difference of q is a log-odds.
With human ratings, w . h(Y) is added last, h the mean token state after two thirds of the layers.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.options import Count, RunTime
from geceval.learning.cards import impara_lm_card
from geceval.learning.impara import PairCollator, PairRanking, distinct_pairs
from geceval.learning.network import load_trained, new_causal_network, write_network
from geceval.learning.ranked_pairs import RATED_PAIRS, PairJob, RankedPair, read_pairs, read_rated_pairs
from geceval.learning.recipe import Recipe
from geceval.learning.runs import Material, train_network
from geceval.models.causal import CausalModel, QualityHead, head_is_all, log_probs, save_quality_head, start_of
from geceval.models.checkpoints import BUNDLED, Checkpoint, resolve
from geceval.models.loading import read_config
from geceval.models.tokenizers import NOTHING_SPECIAL
from geceval.scorers.impara_lm import qualities
from geceval.scorers.learned.likelihoods import word_counts
from geceval.text.tokenisers import detokenise

SCALE = 0.6  # of t at first
PACE = 10  # AdamW moves every parameter by about the learning rate; t, a single number, must move farther
RATED_GAP = 0.2  # least difference of ratings of a pair that the head learns from
RIDGE = 0.5  # penalty of the head
PARTS = 5  # of rated pairs, for the accuracy of a head on sources that it has not learnt from

# The recipe of `smollm2-impara`; the settings of heads do not apply.
RECIPE = Recipe(
    base="smollm2", lora_rank=16, learning_rate=5e-4, schedule="linear", warmup=0.06, epochs=1, evaluations=2
)


@dataclass(frozen=True, slots=True)
class Job(PairJob):
    """Everything that a training run of IMPARA-LM depends on."""

    recipe: Recipe = RECIPE
    attempts: Count = 4  # more corrections teach more than more attempts at one

    def finished(self, weights: Path) -> tuple[Recipe, Path]:
        """The recipe and the weights of the finished adapter, from the weights that were learnt."""
        return self.recipe, weights


class Tuned(torch.nn.Module):
    """A network with further parameters; its state is what is learnt, so a checkpoint need not hold the base."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network, self.config = network, network.config

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
        """The parameters that learn."""
        learnt = {name for name, value in self.named_parameters() if value.requires_grad}
        return {name: value for name, value in super().state_dict(*args, **options).items() if name in learnt}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Load what `state_dict` gives; the base is not missed."""
        keys = super().load_state_dict(state, strict=False, assign=assign)
        return type(keys)([], keys.unexpected_keys)


class PairLikelihood(Tuned):
    """A causal language model with the scale t of its likelihoods, applied to pairs of texts."""

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        self.log_scale = torch.nn.Parameter(torch.tensor(math.log(SCALE) / PACE))
        self.head_alone = head_is_all(network.get_base_model())

    def scale(self) -> torch.Tensor:
        """The factor t."""
        return torch.exp(PACE * self.log_scale)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """The margins q(S+) - q(S-): [pairs, 2, tokens] and words [pairs, 2] to [pairs]."""
        model = self.network.get_base_model()
        likelihoods, _ = log_probs(model, input_ids.flatten(0, 1), attention_mask.flatten(0, 1), self.head_alone)
        quality = self.scale() * likelihoods.sum(dim=1).view(-1, 2) / words.sqrt()
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
            prose = [detokenise(text) for text in texts]
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


def train_impara_lm(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Make ranked pairs, tune an adapter with each seed, and write the best as a checkpoint with results and card."""
    folder, base = Path(folder), resolve(job.recipe.base)
    runtime = RunTime(dtype=job.recipe.dtype, progress=progress)
    objective = LikelihoodRanking(base.setting("start_token"))

    def read(run: Path) -> Material:
        pairs, counts = read_pairs(job, run, BUNDLED, progress=progress)
        evaluation = {"dev": pairs["dev"]}
        if job.ratings is not None:
            evaluation = {"rated": read_rated_pairs(job.ratings, RATED_PAIRS, RATED_GAP)}
        return Material(pairs["train"], evaluation, counts, pairs["test"])

    def finish(material: Material, weights: Path) -> dict[str, Any]:
        recipe, weights = job.finished(weights)
        model = objective.network(recipe, base)
        load_trained(model, weights)
        settings = {"start_token": objective.start, "scale": round(model.scale().item(), 4)}
        write_network(recipe, base, model.network, folder, settings)
        measured = {}
        if job.ratings is not None:
            layer = round(read_config(base).get_text_config().num_hidden_layers * 2 / 3)
            reader = CausalModel.load(resolve(str(folder)), runtime)
            rated = read_rated_pairs(job.ratings, gap=RATED_GAP)
            scale, head, measured["head"] = learn_head(reader, rated, layer, RIDGE, runtime)
            save_quality_head(head, folder)
            settings |= {"scale": scale, "head_layer": layer}
            write_network(recipe, base, model.network, folder, settings)
        for name, checkpoint in (("test", folder), ("untrained", job.recipe.base)):
            measured[name] = pair_scores(checkpoint, material.test, runtime)
        return measured

    return train_network(job, folder, objective, read, finish, impara_lm_card, progress)


def pair_scores(model: str | Path, pairs: Sequence[RankedPair], runtime: RunTime) -> dict[str, Any]:
    """Mean cost and accuracy on ranked pairs of a finished checkpoint, or of a language model that was never tuned."""
    checkpoint = resolve(str(model))
    texts = [text for pair in pairs for text in (pair.low, pair.high)]
    reader = CausalModel.load(checkpoint, runtime)
    values = qualities(reader, checkpoint.setting("scale", 1.0), texts, runtime).reshape(-1, 2)
    margins = values[:, 1] - values[:, 0]
    loss = float(np.logaddexp(0, -margins).mean())
    return {"pairs": len(pairs), "loss": loss, "accuracy": float((margins > 0).mean())}


def learn_head(
    model: CausalModel, pairs: Sequence[RankedPair], layer: int, ridge: float, runtime: RunTime, scale: float = 1.0
) -> tuple[float, QualityHead, dict[str, Any]]:
    """Fit the head on rated pairs, and measure by cross-validation what it brings."""
    features, rows = _features(model, pairs, layer, runtime, scale)
    differences = np.stack([features[rows[pair.high]] - features[rows[pair.low]] for pair in pairs])
    fold_of = folds([pair.source for pair in pairs])
    margins = np.zeros(len(pairs))
    for fold in range(PARTS):
        held_out = fold_of == fold
        margins[held_out] = differences[held_out] @ fit(differences[~held_out], ridge)
    weights = fit(differences, ridge)
    measured = {
        "pairs": len(pairs),
        "gap": RATED_GAP,
        "ridge": ridge,
        "accuracy": float((differences[:, 0] > 0).mean()),
        "accuracy_with_head": float((margins > 0).mean()),
    }
    return float(weights[0]), QualityHead(layer, torch.from_numpy(weights[1:]).float()), measured


def fit(differences: np.ndarray, ridge: float) -> np.ndarray:
    """The weights with the least cost; the first is free."""
    deviation = differences.std(axis=0) + 1e-6
    rows = torch.from_numpy(differences / deviation)
    weights = torch.zeros(rows.shape[1], dtype=rows.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.softplus(-rows @ weights).mean() + ridge * (weights[1:] ** 2).sum()
        value.backward()
        return value

    optimizer.step(cost)
    return weights.detach().numpy() / deviation


def _features(
    model: CausalModel, pairs: Sequence[RankedPair], layer: int, runtime: RunTime, scale: float
) -> tuple[np.ndarray, dict[str, int]]:
    """q without the new head and mean state of each distinct text, and the row of each text."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.low, pair.high)))
    states = model.mean_states([detokenise(text) for text in texts], layer, runtime)
    features = np.column_stack([qualities(model, scale, texts, runtime), states.astype(np.float64)])
    return features, {text: row for row, text in enumerate(texts)}


def folds(sources: Sequence[str]) -> np.ndarray:
    """The fold of each row, of `PARTS`: rows of one source are in one fold."""
    distinct = sorted(set(sources))
    random.Random(1).shuffle(distinct)
    fold = {source: index % PARTS for index, source in enumerate(distinct)}
    return np.array([fold[source] for source in sources])
