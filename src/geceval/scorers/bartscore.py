"""BARTScore (Yuan et al., 2021): the probability of the prediction, given the reference, under a model."""

from dataclasses import dataclass
from typing import Annotated

from geceval.core.inputs import Columns
from geceval.core.options import ModelName, Range, RunTime
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.models.checkpoints import BUNDLED, CheckpointError, resolve
from geceval.models.devices import network_facts
from geceval.models.seq2seq import Seq2SeqModel
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.references.annotator_choice import best_of_references

PUBLISHED = "facebook/bart-large-cnn"


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of BARTScore; each can change the score.

    Attributes:
        model: The sequence-to-sequence model: a folder or a Hub id, optionally with `@revision`. None is bundled.
        max_length: Tokens beyond which a text is cut; `None` takes as many as the network reads, 1,024 at most.
    """

    model: ModelName = PUBLISHED
    max_length: Annotated[int, Range(3)] | None = None  # <s>, </s> and a token


class Bartscore(Scorer):
    """Mean log-probability of the prediction's tokens given a reference; with several references, the best counts."""

    name = "bartscore"
    description = "BARTScore: how probable a sequence-to-sequence model finds a correction, given its reference."
    extra = "neural"
    Settings = Settings
    form = "sources"
    bounds = (None, 0.0)

    def _load(self) -> None:
        self._network = load_seq2seq(self.settings.model, self.settings.max_length, self.runtime)

    def _score(self, columns: Columns) -> Result:
        self.load()
        network = self._network
        best = best_of_references(columns, lambda left, right: network.log_likelihoods(right, left, self.runtime))
        refs = number_range(map(len, columns.references))
        line = signature(self.name, self.settings, refs=refs, **network_facts(self.runtime, network))
        return Result(float(best.mean()), best.tolist(), line)


def load_seq2seq(model: str, max_length: int | None, runtime: RunTime) -> Seq2SeqModel:
    """The sequence-to-sequence model of a checkpoint; arguments as in `Settings`."""
    if model == BUNDLED:
        raise CheckpointError(
            f"no sequence-to-sequence model is bundled with geceval; pass model=FOLDER or a Hub id like {PUBLISHED!r}"
        )
    return Seq2SeqModel.load(resolve(model), runtime, max_length)
