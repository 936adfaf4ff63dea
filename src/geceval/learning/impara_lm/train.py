"""Training of IMPARA-LM, from parallel text to an adapter with its card; called by `training/train_impara_lm.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.learning.impara.corpus_pairs import read_pairs
from geceval.learning.impara.ranked_pairs import RankedPair, read_rated_pairs
from geceval.learning.impara_lm.card import impara_lm_card
from geceval.learning.impara_lm.head import learn_head
from geceval.learning.impara_lm.job import Job
from geceval.learning.impara_lm.objective import LikelihoodRanking
from geceval.learning.low_rank import lower_rank
from geceval.learning.network import load_trained, write_network
from geceval.learning.runs import fit_seeds, network_file, train
from geceval.models.causal import CausalModel, save_quality_head
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.loading import read_config
from geceval.scorers.impara_lm import qualities

RATED_PAIRS = 1024  # that choose seed and evaluation; the head learns from all


def train_impara_lm(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Make ranked pairs, tune an adapter with each seed, and write the best as a checkpoint with results and card."""
    folder, base = Path(folder), resolve(job.recipe.base)
    runtime = RunTime(dtype=job.recipe.dtype, progress=progress)
    objective, layer = LikelihoodRanking(base.setting("start_token")), head_layer(job, base)

    def learn(data: Any, run: Path) -> list[dict[str, Any]]:
        pairs = data[0]
        evaluation = {"dev": pairs["dev"]}
        if job.ratings is not None:
            evaluation = {"rated": read_rated_pairs(job.ratings, RATED_PAIRS, job.gap)}
        return fit_seeds(objective, job, job.recipe, pairs["train"], evaluation, run, progress)

    def finish(data: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
        pairs, counts = data
        results = {"data": counts, "runs": runs, "seed": min(runs, key=lambda run: run["selection"])["seed"]}
        recipe, weights = job.recipe, network_file(folder / "run", results["seed"])
        if job.keep_rank:
            small = weights.with_name("adapter.safetensors")
            recipe, weights = lower_rank(recipe, weights, job.keep_rank, small), small
        model = objective.network(recipe, base)
        load_trained(model, weights)
        settings = {"start_token": objective.start, "scale": round(model.scale().item(), 4)}
        write_network(recipe, base, model.network, folder, settings)
        if layer:
            reader = CausalModel.load(resolve(str(folder)), runtime)
            rated = read_rated_pairs(job.ratings, gap=job.gap)
            scale, head, results["head"] = learn_head(reader, rated, layer, job.ridge, runtime)
            save_quality_head(head, folder)
            settings |= {"scale": scale, "head_layer": layer}
            write_network(recipe, base, model.network, folder, settings)
        for name, checkpoint in (("test", folder), ("untrained", job.recipe.base)):
            results[name] = pair_scores(checkpoint, pairs["test"], runtime)
        return results

    return train(job, folder, lambda run: read_pairs(job, run, progress), learn, finish, impara_lm_card)


def head_layer(job: Job, base: Checkpoint) -> int:
    """The number of layers after which the head of a job reads; 0 without a head."""
    if job.ratings is None:
        return 0
    layers = read_config(base).get_text_config().num_hidden_layers
    if job.head_layer is not None and job.head_layer > layers:
        raise InputError(f"head_layer is {job.head_layer}, but the base has {layers} layers")
    return round(layers * 2 / 3) if job.head_layer is None else job.head_layer


def pair_scores(model: str | Path, pairs: Sequence[RankedPair], runtime: RunTime) -> dict[str, Any]:
    """Mean cost and accuracy on ranked pairs of a finished checkpoint, or of a language model that was never tuned."""
    checkpoint = resolve(str(model))
    texts = [text for pair in pairs for text in (pair.low, pair.high)]
    reader = CausalModel.load(checkpoint, runtime)
    found = qualities(reader, checkpoint.setting("scale", 1.0), texts, runtime).reshape(-1, 2)
    margins = found[:, 1] - found[:, 0]
    loss = float(np.logaddexp(0, -margins).mean())
    return {"pairs": len(pairs), "loss": loss, "accuracy": float((margins > 0).mean())}
