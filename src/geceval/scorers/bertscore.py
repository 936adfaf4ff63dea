"""BERTScore (Zhang et al., 2020): token similarity of a prediction to its references."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from geceval.core.errors import InputError
from geceval.core.inputs import Columns
from geceval.core.options import Count, ModelName, Range, RunTime
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.models.checkpoints import resolve
from geceval.models.devices import network_facts
from geceval.models.greedy_matching import Matcher, default_layer
from geceval.models.loading import read_config, readable_length
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.references.annotator_choice import best_of_references


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of BERTScore; each can change the score.

    Attributes:
        layer: The layer whose token states are compared, from 1; `None` takes the one published for the model (9 for
            bert-base-uncased, 18 for bert-large-uncased, 5 for distilbert-base-uncased, 17 for roberta-large), else
            five sixths of the way up.
        max_length: Tokens beyond which a text is cut; `None` takes as many as the network can read, 512 at most.
    """

    model: ModelName = "bundled"
    layer: Count | None = None
    max_length: Annotated[int, Range(3)] | None = None  # [CLS], [SEP] and a token


class Bertscore(Scorer):
    """F1 of greedily matched tokens; with several references, the best precision, recall and F1, each independently."""

    name = "bertscore"
    description = (
        "BERTScore: token similarity of a correction to its references, by any encoder, offline with the bundled one."
    )
    extra = "neural"
    Settings = Settings
    form = "sources"
    bounds = (None, 1.0)

    def _load(self) -> None:
        self._matcher = load_matcher(self.settings.model, self.settings.layer, self.settings.max_length, self.runtime)

    def _score(self, columns: Columns) -> Result:
        self.load()
        matcher = self._matcher
        best = best_of_references(columns, lambda left, right: matcher.match(left, right, self.runtime))
        figures = np.ascontiguousarray(best.T, dtype=np.float64)
        precision, recall, f = figures.mean(axis=1).tolist()
        details = {"precision": precision, "recall": recall, "f": f}
        details |= {"precisions": best[:, 0].tolist(), "recalls": best[:, 1].tolist()}
        facts = {"layer": matcher.layer, "refs": number_range(map(len, columns.references))}
        line = signature(self.name, self.settings, **facts, **network_facts(self.runtime, matcher))
        return Result(f, best[:, 2].tolist(), line, details)


def load_matcher(model: str, layer: int | None, max_length: int | None, runtime: RunTime) -> Matcher:
    """The matcher of a checkpoint; arguments as in `Settings`."""
    checkpoint = resolve(model)
    count = read_config(checkpoint).num_hidden_layers
    chosen = layer or default_layer(model, count)
    if chosen > count:
        raise InputError(f"{checkpoint.identity}: there is no layer {chosen}; choose 1 to {count}")
    return Matcher.load(checkpoint, runtime, max_length or readable_length(checkpoint, 512), layer=chosen)
