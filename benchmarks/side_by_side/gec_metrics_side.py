"""gec-metrics as a contestant; runs in an environment that has it, which need not have geceval.

Two things are changed so that it runs without a GPU and without downloads: `cuda()` of a network does nothing, because
SOME calls it whatever its options say, and ERRANT takes the spaCy pipeline that is given.
"""

from __future__ import annotations

import importlib.metadata
import math
import statistics
from collections.abc import Mapping
from typing import Any

from side_by_side.process import serve

PACKAGES = ("gec-metrics", "bert-score", "errant", "spacy", "torch", "transformers")
CACHES = ("cache_parse", "cache_annotate", "cache_ngram")


class GecMetrics:
    """One metric, asked for all systems by its own method for that."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self.metric = make(question["metric"], question["models"])
        self.versions = {name: importlib.metadata.version(name) for name in PACKAGES}

    def score(self, columns: Mapping[str, Any]) -> list[float]:
        """The corpus score of each system."""
        from gec_metrics.metrics import inputs_handler

        by_annotator = [list(column) for column in zip(*columns["references"], strict=True)]
        inputs = inputs_handler(self.metric, columns["sources"], columns["systems"], by_annotator)
        return [float(score) for score in self.metric.rank_systems(**inputs)]

    def forget(self) -> None:
        """Empty the tables of parses, edits and n-grams."""
        for name in CACHES:
            getattr(self.metric, name, {}).clear()


def make(metric: str, models: Mapping[str, Any]) -> Any:
    """A metric of gec-metrics over the given models."""
    import torch
    from gec_metrics import metrics

    torch.nn.Module.cuda = lambda self, device=None: self
    if metric == "impara":
        names = {"model_qe": models["quality"], "model_se": models["similarity"], "threshold": models["threshold"]}
        return metrics.IMPARA(metrics.IMPARA.Config(**names, no_cuda=True))
    if metric == "some":
        parts = {name: f"{models['some']}/{part}" for name, part in models["parts"].items()}
        return metrics.SOME(metrics.SOME.Config(**parts, no_cuda=True))
    if metric in ("scribendi", "fluency"):
        cls = metrics.Scribendi if metric == "scribendi" else fluency_class()
        return cls(cls.Config(model=models["causal"], no_cuda=True))
    if metric == "gleu":
        return metrics.GLEUOfficial()
    if metric == "green":
        return metrics.GREEN()
    take_pipeline(models["pipeline"])
    if metric == "errant":
        return metrics.ERRANT()
    weights = metrics.BertScore.Config(
        model_type=models["similarity"],
        num_layers=models["layer"],
        rescale_with_baseline=False,
        use_fast_tokenizer=True,
    )
    return metrics.PTERRANT(metrics.PTERRANT.Config(weight_model_config=weights))


def fluency_class() -> type:
    """A metric of 1 / (1 + log perplexity), by the perplexities of Scribendi."""
    from gec_metrics import metrics

    class Fluency(metrics.Scribendi):
        def score_sentence(self, sources: list[str], hypotheses: list[str]) -> list[float]:
            return [1 / (1 + math.log(perplexity)) for perplexity in self.ppl(hypotheses)]

        def score_corpus(self, sources: list[str], hypotheses: list[str]) -> float:
            return statistics.mean(self.score_sentence(sources, hypotheses))

    return Fluency


def take_pipeline(folder: str) -> None:
    """Make `errant.load` take a spaCy pipeline of a folder."""
    import errant
    import spacy

    load, nlp = errant.load, spacy.load(folder)
    errant.load = lambda language: load(language, nlp)


if __name__ == "__main__":
    serve(GecMetrics)
