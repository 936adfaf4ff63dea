"""How likely an edit is right: a small network over what a quality head says of the tokens at it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from geceval.core.errors import NotFiniteError
from geceval.core.options import RunTime
from geceval.edits.edit import common_ends
from geceval.models.causal import CausalModel, read_head
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.text.tokenisers import detokenise
from geceval.text.unigrams import read_counts

if TYPE_CHECKING:
    from typing_extensions import Self

TextPair = tuple[str, str]
"""A text before and after one edit, tokens joined by one space."""

FEATURES = 59
HIDDEN = 32
GAIN = 20  # the feature that is what `impara_lm` gains by the edit
WINDOW = 8  # words after an edit that are read
LARGEST = 6.0  # deviations from the mean beyond which a feature says no more
_FUNCTION = """
    a an the this that of in on at by for with from to into about over as is are was were be been being have has had do
    does did will would can could should may might and or but so , . ; : ' " ! ?
"""
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_SHAPES = {
    "mean": (FEATURES,),
    "deviation": (FEATURES,),
    "hidden.weight": (HIDDEN, FEATURES),
    "hidden.bias": (HIDDEN,),
    "output.weight": (HIDDEN,),
    "output.bias": (1,),
}


@dataclass(frozen=True, eq=False, slots=True)
class EditHead:
    """A network with one hidden layer over standardised features."""

    tensors: dict[str, np.ndarray]

    def logits(self, features: np.ndarray) -> np.ndarray:
        """The log-odds that edits are right: [edits, features] to [edits]."""
        import torch

        of = self.tensors
        standard = ((features - of["mean"]) / of["deviation"]).clip(-LARGEST, LARGEST)
        hidden = standard @ of["hidden.weight"].T + of["hidden.bias"]
        hidden = torch.nn.functional.gelu(torch.from_numpy(hidden)).numpy()
        return hidden @ of["output.weight"] + of["output.bias"]


class EditJudge:
    """The head of a checkpoint over its base, a causal language model with a quality head, which was not changed."""

    def __init__(self, model: CausalModel, head: EditHead, name: str = "") -> None:
        self.model, self.head, self.name = model, head, name

    @classmethod
    def load(cls, checkpoint: Checkpoint, runtime: RunTime | None = None, max_length: int | None = None) -> Self:
        """The judge of a checkpoint; arguments as for `BatchedModel.load`."""
        if checkpoint.base is None:
            raise CheckpointError(f"{checkpoint.folder}: no judge of edits, for config.json lacks geceval_base")
        model = CausalModel.load(checkpoint.base, runtime, max_length or checkpoint.setting("max_length"))
        if model.head is None:
            raise CheckpointError(f"{checkpoint.folder}: its base {model.name} has no quality head")
        tensors = {name: tensor.double().numpy() for name, tensor in read_head(checkpoint, _SHAPES).items()}
        return cls(model, EditHead(tensors), checkpoint.identity)

    def logits(self, pairs: Sequence[TextPair], runtime: RunTime | None = None) -> np.ndarray:
        """The log-odds that the edit of each pair of texts is right: float64 [pairs]."""
        if not pairs:
            return np.zeros(0)
        values = self.head.logits(features(self.model, pairs, runtime))
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise NotFiniteError(f"{self.name}: an edit of {pairs[bad[0]][0]!r} gets no number; use dtype='float32'")
        return values


def features(model: CausalModel, pairs: Sequence[TextPair], runtime: RunTime | None = None) -> np.ndarray:
    """What a head reads of edits: float64 [pairs, FEATURES]."""
    cut = [_near(*pair) for pair in pairs]
    texts = list(dict.fromkeys(text for pair in cut for text in pair))
    rows = dict(zip(texts, model.token_products([detokenise(text) for text in texts], runtime), strict=True))
    worths = [_worth(rows[before], rows[after]) for before, after in cut]
    return np.array([[*worth, *surface(*pair)] for worth, pair in zip(worths, pairs, strict=True)], np.float64)


def _near(before: str, after: str) -> TextPair:
    """Both texts up to `WINDOW` words after the edit; later edits of a correction are read on from there."""
    left, right = before.split(), after.split()
    beyond = max(0, common_ends(left, right)[1] - WINDOW)
    return " ".join(left[: len(left) - beyond]), " ".join(right[: len(right) - beyond])


def _worth(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """What a quality head says before an edit, after it, and the difference."""
    start, end = common_ends(before[:, 0].tolist(), after[:, 0].tolist())
    start = max(start, 1)  # the token that starts a text does not count
    sides = [_sums(side[:, 1].astype(np.float64), start, end) for side in (before, after)]
    return np.concatenate([*sides, sides[1] - sides[0]])


def _sums(products: np.ndarray, start: int, end: int) -> np.ndarray:
    stop = max(start, len(products) - end)
    changed, right, rest = products[start:stop], products[stop:], products[start:]
    return np.array(
        [
            _mean(products[1:]),
            rest.sum(),
            changed.sum(),
            right.sum(),
            right[:2].sum(),
            _mean(rest),
            len(changed),
            len(products),
            products[-1],
            _mean(changed),
        ]
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def surface(before: str, after: str) -> list[float]:
    """What the words of an edit tell by themselves: kind, length, likeness, function words, place, frequency."""
    left, right = before.split(), after.split()
    start, end = common_ends(left, right)
    old, new = left[start : len(left) - end], right[start : len(right) - end]
    one, other = " ".join(old), " ".join(new)
    likeness = SequenceMatcher(None, one, other, autojunk=False).ratio() if one and other else 0.0
    return [
        not old,
        not new,
        len(old),
        len(new),
        len(old) - len(new),
        likeness,
        one.lower() == other.lower(),
        0.7 < likeness < 1,
        *(bool(words) and all(word.lower() in _FUNCTION_WORDS for word in words) for words in (old, new)),
        all(not word.isalnum() for word in old + new),
        sorted(old) == sorted(new),
        start == 0,
        end <= 1,
        len(left) / 30,
        len(one) / 10,
        len(other) / 10,
        *(sum(word[:1].isupper() for word in words) for words in (old, new)),
        bool(one) and one[:3].lower() == other[:3].lower(),
        *_usual(old),
        *_usual(new),
        min(_log_counts(new), default=0.0) - min(_log_counts(old), default=0.0),
        *(sum(_log_counts(words)) for words in (left[start - 1 : start], left[len(left) - end :][:1])),
    ]


def _usual(words: list[str]) -> list[float]:
    """Log-counts of the rarest word and in the mean, and how many words occur once at most."""
    counts = _log_counts(words)
    return [min(counts, default=0.0), sum(counts) / max(1, len(counts)), counts.count(0.0)]


def _log_counts(words: list[str]) -> list[float]:
    counts = read_counts()
    return [math.log(counts.get(word.lower(), 1)) for word in words]
