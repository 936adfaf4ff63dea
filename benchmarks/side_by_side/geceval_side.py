"""geceval as a contestant, with the options under which the peer gives the same numbers."""

from __future__ import annotations

import functools
import gc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from side_by_side.process import serve

from geceval import registry
from geceval.core.cache import LRUCache
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder

if TYPE_CHECKING:
    from side_by_side.floor import Floor

BATCH_SIZE = 64


class Geceval:
    """One metric; a round makes a scorer anew over models that stay loaded."""

    def __init__(self, metric: str, models: Mapping[str, Any], workers: int = 1) -> None:
        self.name, self.options, self.workers = metric, options(metric, models, workers), workers
        registry.make_scorer(metric, self.options).load()

    def score(self, columns: Mapping[str, Any]) -> list[float]:
        """The corpus score of each system."""
        gold = {"gold_m2": columns["gold_m2"]} if self.name in ("m2", "cleme") else {}
        scorer = registry.make_scorer(self.name, {**self.options, **gold})
        systems = {str(number): system for number, system in enumerate(columns["systems"])}
        references = columns["references"] if scorer.needs_references() else None
        files = dict(zip(systems, columns["predictions_m2"], strict=True)) if columns["predictions_m2"] else None
        results = registry.score_systems(scorer, columns["sources"], systems, references, files)
        return [result.score for result in results.values()]

    def forget(self) -> None:
        """Empty every memory of texts, and end worker processes; networks and pipelines stay."""
        forget()


class Embedding:
    """The bare encoder over all distinct texts of the systems."""

    workers = 1

    def __init__(self, models: Mapping[str, Any]) -> None:
        self.encoder = Encoder.load(resolve(models["similarity"]), RunTime(device="cpu"))

    def score(self, columns: Mapping[str, Any]) -> list[float]:
        """The mean of all vectors' elements, to have a number."""
        texts = list(dict.fromkeys(text for system in columns["systems"] for text in system))
        return [float(np.abs(self.encoder.embed(texts, RunTime(batch_size=BATCH_SIZE, cache=None))).mean())]

    def forget(self) -> None:
        """Empty every memory of texts."""
        forget()


def options(metric: str, models: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Settings and run-time options of a metric."""
    common = {"device": "cpu", "batch_size": BATCH_SIZE, "workers": workers, "cache": None}
    edits = {"nlp": models["pipeline"]}
    names = {"model": models["quality"], "se_model": models["similarity"], "threshold": models["threshold"]}
    published = {"guard": "off"}
    own = {
        "impara": names | published,
        "some": {"model": models["some"]} | published,
        "green": {"zero_recall": "gec-metrics"},
        "errant": {**edits, "counting": "gec-metrics"},
        "cleme": edits,
        "fluency": {"model": models.get("causal"), "normalization": "ge2018", "detokenize": False} | published,
        "scribendi": {"model": models.get("causal")} | published,
        "pt_errant": {**edits, "model": models["similarity"], "layer": models["layer"], "average": "corpus"},
    }
    return common | own.get(metric, {})


def forget() -> None:
    """Empty all bounded memories but that of networks, the tables that scorers keep, and pools of processes."""
    for thing in gc.get_objects():
        kind = type(thing)
        of_scorers = kind is functools._lru_cache_wrapper and thing.__module__.startswith("geceval.scorers.")
        networks = kind is LRUCache and thing in (Encoder.networks, CausalModel.networks)
        if of_scorers or (kind is LRUCache and not networks):
            thing.cache_clear()
        elif kind.__name__ in ("Annotator", "Pool") and kind.__module__.startswith("geceval.edits."):
            thing.close()


def load(question: Mapping[str, Any]) -> Geceval | Embedding | Floor:
    """What a question asks for: a metric, the bare encoder, or the floor of either."""
    metric, models = question["metric"], question["models"]
    contestant = Embedding(models) if metric == "encoder" else Geceval(metric, models, question.get("workers", 1))
    if not question.get("floor"):
        return contestant
    from side_by_side.floor import Floor  # needs torch, which text metrics do not load

    return Floor(contestant)


if __name__ == "__main__":
    serve(load)
