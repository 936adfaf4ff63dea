"""Error detection by a token classifier: how probable each label is for each word of a sentence.

The label of a word is what the network says of its first sub-token, as in training. A word that the network does not
see is taken for correct: one without any sub-token (a lone control character), or one beyond the length limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models import heads
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.encoder import get_reader
from geceval.models.reader import Reader
from geceval.models.tokenizers import load_tokenizer
from geceval.models.words import encode_words

if TYPE_CHECKING:
    import torch

CORRECT_NAMES = ("correct", "c", "label_0")
"""What the label of correct words is called, in lower case; `LABEL_0` stands where nobody named the labels."""

_UNSEEN = -1


class Detector(Reader):
    """A token classifier and its tokenizer.

    Args:
        model: A `...ForTokenClassification`.
        tokenizer: Its fast tokenizer.
        max_length: Tokens, special ones included, beyond which a sentence is cut.
        name: What to call the network in messages.

    Attributes:
        labels: Names of its labels, in the order of their ids.
        correct: The id of the label of correct words.

    Raises:
        CheckpointError: If none of the labels is that of correct words, or the tokenizer is not a fast one.
    """

    beyond: ClassVar[str] = "the words beyond count as correct"

    def __init__(self, model: Any, tokenizer: Any, max_length: int = 128, name: str = "") -> None:
        super().__init__(model, tokenizer, max_length, name)
        names = model.config.id2label
        self.labels = tuple(names[number] for number in range(model.config.num_labels))
        found = [number for number, label in enumerate(self.labels) if label.lower() in CORRECT_NAMES]
        if len(found) != 1 or len(self.labels) < 2:
            raise CheckpointError(
                f"{name}: its labels (id2label) are {', '.join(self.labels[:6])}; a detector has the label CORRECT and "
                "at least one more"
            )
        if not tokenizer.is_fast:
            raise CheckpointError(f"{name}: its tokenizer cannot tell words from sub-tokens; error detection needs a "
                                  "fast one (tokenizer.json)")  # fmt: skip
        self.correct = found[0]

    def log_probabilities(
        self, sentences: Sequence[str], batch_size: int = 64, progress: bool = False, cache: str | Path | None = None
    ) -> list[np.ndarray]:
        """Natural logarithms of the probabilities of each label.

        Args:
            sentences: Texts whose words are `split()`.
            batch_size: Sentences a batch.
            progress: Show a bar on standard error.
            cache: A folder that keeps what was computed, see `geceval.core.cache.disk`; float32 only.

        Returns:
            One array a sentence, float32 [words, labels]; a word that the network does not see has 0 for the label of
            correct words and -inf for all others.

        Raises:
            ValueError: If the network gives something that is not a finite number.
        """

        def read(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            return model(**batch).logits.float().log_softmax(dim=-1)

        rows = self._cached_rows("words", read, self._of_words, sentences, batch_size, progress, cache)
        for number, row in enumerate(rows):
            if np.isnan(row).any():
                raise InputError(
                    f"{self.name}: the detector gives values that are not finite for sentence {number} "
                    f"({sentences[number][:60]!r}); use dtype='float32', or another checkpoint"
                )
        return rows

    def label_ids(
        self,
        sentences: Sequence[str],
        threshold: float | None = None,
        batch_size: int = 64,
        progress: bool = False,
        cache: str | Path | None = None,
    ) -> list[list[int]]:
        """The id of the label of each word, one list a sentence; see `decide` for the threshold."""
        rows = self.log_probabilities(sentences, batch_size, progress, cache)
        return [decide(row, self.correct, threshold).tolist() for row in rows]

    def _of_words(self, row: np.ndarray, encoded: dict[str, list[int]]) -> np.ndarray:
        places = np.array(encoded["places"], int)
        unseen = np.full((1, len(self.labels)), -np.inf, np.float32)
        unseen[0, self.correct] = 0.0
        return np.where((places == _UNSEEN)[:, None], unseen, row[places])

    def _encode(self, texts: list[str], limit: int | None = None) -> list[dict[str, list[int]]]:
        encoded = encode_words(self.tokenizer, [text.split() for text in texts], limit)
        return [
            {"input_ids": ids, "places": [_UNSEEN if place is None else place for place in places]}
            for ids, places in encoded
        ]

    def _pad(self, encoded: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        return super()._pad([{"input_ids": row["input_ids"]} for row in encoded])


def get_detector(
    checkpoint: Checkpoint,
    runtime: RunTime | None = None,
    *,
    max_length: int | None = None,
    fallback: str | None = None,
) -> Detector:
    """The detector of a checkpoint, loaded once a process for each device, dtype and length limit.

    Args:
        checkpoint: From `geceval.models.checkpoints.resolve`.
        runtime: Device and dtype; batch size and progress are given with each call.
        max_length: Tokens beyond which a sentence is cut; `None` takes `geceval_max_length` of the checkpoint, else
            128 or as many as the network can read.
        fallback: See `load_tokenizer`.

    Raises:
        CheckpointError: If the checkpoint cannot be used.
        ValueError: If there is no such device, or `max_length` is beyond what the network can read.
    """

    def make(length: int) -> Detector:
        model = heads.load_token_classifier(checkpoint)
        return Detector(model, load_tokenizer(checkpoint, fallback), length, checkpoint.identity)

    return get_reader(checkpoint, runtime, make, ("detector",), max_length)


def decide(log_probabilities: np.ndarray, correct: int = 0, threshold: float | None = None) -> np.ndarray:
    """The label of each word.

    Args:
        log_probabilities: [words, labels], see `Detector.log_probabilities`.
        correct: The id of the label of correct words.
        threshold: A word that the network sees is in error if the probability that it is not correct reaches this, and
            has then the most probable of the other labels; `None` takes the most probable of all labels.

    Returns:
        Ids of labels, [words].
    """
    if threshold is None:
        return log_probabilities.argmax(axis=1)
    others = log_probabilities.copy()
    others[:, correct] = -np.inf
    in_error = (error_probabilities(log_probabilities, correct) >= threshold) & is_seen(log_probabilities)
    return np.where(in_error, others.argmax(axis=1), correct)


def error_probabilities(log_probabilities: np.ndarray, correct: int = 0) -> np.ndarray:
    """The probability that each word is in error, 1 - P(correct): [words, labels] to float64 [words]."""
    return 0.0 - np.expm1(log_probabilities[:, correct].astype(np.float64))  # never -0.0


def is_seen(log_probabilities: np.ndarray) -> np.ndarray:
    """Which words the network sees: [words, labels] to booleans [words]."""
    return np.isfinite(log_probabilities).all(axis=1)
