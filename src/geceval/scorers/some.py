"""SOME (Yoshimura et al., 2020): three regressors trained on human ratings of corrections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from geceval.core.errors import InputError
from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Range
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.models.batched_model import Text
from geceval.models.checkpoints import resolve
from geceval.models.devices import network_facts
from geceval.models.encoder import Encoder
from geceval.models.regressors import StateRegressor, load_regressor
from geceval.scorers.learned.estimators import estimate
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions, GuardedReader, is_ours

PARTS = {"grammaticality": "grammer", "fluency": "fluency", "meaning": "meaning"}
"""Each sub-metric and its folder within a checkpoint, spelt as in the published one."""

SUBMETRICS = tuple(PARTS)

Weights: TypeAlias = tuple[float, float, float]
"""Weights of grammaticality, fluency and meaning."""

WEIGHTS = {"sentence": (0.55, 0.43, 0.02), "system": (0.01, 0.98, 0.01)}
"""Table 1 of the paper: tuned on sentences (what its published code uses) and on systems."""


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of SOME; each can change the score.

    Attributes:
        model: `"bundled"`, `"smollm2-some"` (three heads over the large model `smollm2`), a folder, or a Hub id,
            optionally with `@revision`, that holds three regressors in sub-folders `grammer` (sic), `fluency` and
            `meaning`.
        weights: Weights of grammaticality, fluency and meaning: `"sentence"` (.55, .43, .02), `"system"` (.01, .98,
            .01), or three non-negative numbers. The score is their weighted sum, not divided by their total;
            weights that add up to 1 keep the range of the sub-scores.
        max_length: As of other metrics; the regressor of meaning may read source and prediction together.
    """

    model: ModelName = "bundled"
    weights: Literal["sentence", "system"] | Weights = "sentence"
    max_length: Annotated[int, Range(4)] | None = None  # a pair has three special tokens

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        weights_of(self.weights, WEIGHTS)


class Some(GuardedReader):
    """Score(X, Y) = w_g·n(g(Y)) + w_f·n(f(Y)) + w_m·n(m(X, Y)), n(x) = (x - 1) / 3; the corpus score is the mean.

    Nothing is clipped: an answer beyond the scale of the ratings, 1 to 4, gives a sub-score beyond [0, 1].
    """

    name = "some"
    description = "Grammaticality, fluency and meaning as people would rate them, reference-free."
    extra = "neural"
    Settings = Settings
    bounds = (None, None)
    effect = Effect(unit=0.025, lowest=0.0, reward_range=(-0.5, 1.5))

    _loaded: dict[str, Encoder | StateRegressor] | None = None

    def _load(self) -> None:
        if self._loaded is not None:
            return
        checkpoints = {
            part: resolve(self.settings.model, bundled=self.name, part=folder) for part, folder in PARTS.items()
        }
        self.guards_by_default = all(map(is_ours, checkpoints.values()))
        self._loaded = {
            part: load_regressor(checkpoint, self.runtime, self.settings.max_length)
            for part, checkpoint in checkpoints.items()
        }

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        normalised = {part: (values - 1) / 3 for part, values in self._read_ahead(columns).items()}
        weights = weights_of(self.settings.weights, WEIGHTS)
        scores, details = weighted_sum(normalised, weights)
        return self._result(columns, scores, self._signature(), details)

    def _read(self, sources: Sequence[str], predictions: Sequence[str]) -> dict[str, np.ndarray]:
        """The answers of each regressor, on the scale of the ratings: [sentences]."""
        texts: dict[str, Sequence[Text]] = dict.fromkeys(PARTS, predictions)
        texts["meaning"] = list(zip(sources, predictions, strict=True))
        order = sorted(PARTS, key=lambda part: part != "meaning")  # first: its batch caches the others' texts
        return {
            part: estimate(self.name, self._loaded[part], texts[part], self.runtime, f"the regressor of {part}")
            for part in order
        }

    def _signature(self) -> str:
        lengths = list(dict.fromkeys(encoder.max_length for encoder in self._loaded.values()))
        return signature(
            self.name,
            self.settings,
            model=[encoder.name for encoder in self._loaded.values()],
            weights=weights_of(self.settings.weights, WEIGHTS),
            guard=self._guard_facts(),
            max_length=lengths if len(lengths) == 1 else [encoder.max_length for encoder in self._loaded.values()],
            **network_facts(self.runtime),
        )


def weights_of(weights: str | Weights, published: Mapping[str, Weights]) -> Weights:
    """Weights by the name of a published choice, or three numbers, none negative, at least one positive."""
    if isinstance(weights, str):
        return published[weights]
    if len(weights) != len(SUBMETRICS):
        raise InputError(f"weights must be {', '.join(map(repr, published))} or three numbers, got {weights!r}")
    for part, weight in zip(SUBMETRICS, weights, strict=True):
        Range(0, 1e6).check(f"the weight of {part}", weight)
    if not any(weights):
        raise InputError("at least one of the weights must be positive")
    grammaticality, fluency, meaning = map(float, weights)
    return grammaticality, fluency, meaning


def weighted_sum(parts: Mapping[str, np.ndarray], weights: Weights) -> tuple[np.ndarray, dict[str, Any]]:
    """The weighted sums of sub-scores, [sentences] each, and the details."""
    scores = sum(weight * parts[part] for part, weight in zip(SUBMETRICS, weights, strict=True))
    details = {part: float(values.mean()) for part, values in parts.items()}
    details |= {f"{part}_scores": values.tolist() for part, values in parts.items()}
    return scores, details
