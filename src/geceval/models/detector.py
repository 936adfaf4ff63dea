"""Error detection by a token classifier: how probable each label is for each word of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.errors import NotFiniteError
from geceval.core.options import RunTime
from geceval.models import bundled
from geceval.models.batched_model import BatchedModel
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.loading import load_token_classifier
from geceval.models.tokenizers import encode_words, load_tokenizer

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

CORRECT_NAMES = ("correct", "c", "label_0")
"""Names of the label of correct words, in lower case; `LABEL_0` stands where nobody named the labels."""

# A word without any sub-token, such as a lone control character, or beyond the limit; it counts as correct.
_UNSEEN = -1


class Detector(BatchedModel):
    """A token classifier and its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, max_length: int | None = 128, name: str = "") -> None:
        super().__init__(model, tokenizer, max_length, name)
        names = model.config.id2label
        self.labels = tuple(names[number] for number in range(model.config.num_labels))
        correct = [number for number, label in enumerate(self.labels) if label.lower() in CORRECT_NAMES]
        if len(correct) != 1 or len(self.labels) < 2:
            raise CheckpointError(
                f"{name}: its labels (id2label) are {', '.join(self.labels[:6])}; a detector has the label CORRECT and "
                "at least one more"
            )
        if not tokenizer.is_fast:
            raise CheckpointError(f"{name}: its tokenizer cannot tell words from sub-tokens; error detection needs a "
                                  "fast one (tokenizer.json)")  # fmt: skip
        self.correct = correct[0]

    @classmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None) -> Self:
        if bundled.reads(checkpoint, "ForTokenClassification"):
            network = bundled.load(checkpoint)
        else:
            network = load_token_classifier(checkpoint), load_tokenizer(checkpoint)
        return cls(*network, length, checkpoint.identity)

    def _if_cut(self, what: str) -> str:
        return "the words beyond count as correct"

    def log_probabilities(self, sentences: Sequence[str], runtime: RunTime | None = None) -> list[np.ndarray]:
        """Natural logarithms of the probabilities of each label."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return model(**batch).logits.float().log_softmax(dim=-1)

        rows = self._rows("words", read, sentences, runtime, self._of_words)
        for index, row in enumerate(rows):
            if np.isnan(row).any():
                raise NotFiniteError(
                    f"{self.name}: the detector gives values that are not finite for sentence {index + 1} "
                    f"({sentences[index][:60]!r}); use dtype='float32', or another checkpoint"
                )
        return rows

    def label_ids(
        self, sentences: Sequence[str], threshold: float | None = None, runtime: RunTime | None = None
    ) -> list[list[int]]:
        """The id of the label of each word, one list per sentence; see `decide` for the threshold."""
        rows = self.log_probabilities(sentences, runtime)
        return [decide(row, self.correct, threshold).tolist() for row in rows]

    def _of_words(self, row: np.ndarray, encoded: Mapping[str, list[int]]) -> np.ndarray:
        labelled = np.array(encoded["labelled"], int)
        unseen = np.full((1, len(self.labels)), -np.inf, np.float32)
        unseen[0, self.correct] = 0.0
        return np.where((labelled == _UNSEEN)[:, None], unseen, row[labelled])

    def _encode(self, texts: list[str], limit: int | None = None) -> list[dict[str, list[int]]]:
        encoded = encode_words(self.tokenizer, [text.split() for text in texts], limit)
        return [
            {"input_ids": ids, "labelled": [_UNSEEN if index is None else index for index in labelled]}
            for ids, labelled in encoded
        ]

    def _pad(self, encoded: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        return super()._pad([{"input_ids": row["input_ids"]} for row in encoded])


def decide(log_probabilities: np.ndarray, correct: int = 0, threshold: float | None = None) -> np.ndarray:
    """The label of each word."""
    if threshold is None:
        return log_probabilities.argmax(axis=1)
    of_errors = log_probabilities.copy()
    of_errors[:, correct] = -np.inf
    in_error = (error_probabilities(log_probabilities, correct) >= threshold) & is_seen(log_probabilities)
    return np.where(in_error, of_errors.argmax(axis=1), correct)


def error_probabilities(log_probabilities: np.ndarray, correct: int = 0) -> np.ndarray:
    """The probability that each word is in error, 1 - P(correct): [words, labels] to float64 [words]."""
    return 0.0 - np.expm1(log_probabilities[:, correct].astype(np.float64))  # never -0.0


def is_seen(log_probabilities: np.ndarray) -> np.ndarray:
    """Which words the network sees: [words, labels] to booleans [words]."""
    return np.isfinite(log_probabilities).all(axis=1)
