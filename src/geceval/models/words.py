"""Tokenization of sentences that are split into words: at which sub-token the label of each word stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_length: int | None = None, twice: bool = False
) -> list[tuple[list[int], list[int | None]]]:
    """Token ids of sentences that are split into words."""
    if not sentences:
        return []
    space = " " if _marks_spaces(tokenizer) else ""
    pieces = [[space + word for word in words] for words in sentences]
    encoded = tokenizer(
        *([pieces] * (2 if twice else 1)),
        is_split_into_words=True,
        truncation=max_length is not None,
        max_length=max_length,
        return_attention_mask=False,
        verbose=False,
    )
    found = []
    for row, words in enumerate(sentences):
        labelled: list[int | None] = [None] * len(words)
        for index, word in enumerate(encoded.word_ids(row)):
            if word is not None and (twice or labelled[word] is None):  # of two copies the second loses no more words
                labelled[word] = index
        found.append((encoded["input_ids"][row], labelled))
    return found


def _marks_spaces(tokenizer: Any) -> bool:
    """Whether a word after a space and a word at the start of a text have different sub-tokens."""
    before = tokenizer.backend_tokenizer.pre_tokenizer
    return before is not None and before.pre_tokenize_str(" a")[0][0] != before.pre_tokenize_str("a")[0][0]
