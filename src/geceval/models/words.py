"""Tokenization of sentences that are split into words: which sub-token begins each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_length: int | None = None
) -> list[tuple[list[int], list[int | None]]]:
    """Token ids of sentences that are split into words.

    Args:
        tokenizer: A fast tokenizer. One that marks the space before a word (RoBERTa, ModernBERT) reads every word with
            a space before it, including the first.
        sentences: The words of each sentence.
        max_length: Tokens, special ones included, beyond which a sentence is cut; `None` cuts nothing.

    Returns:
        For each sentence its token ids and, for each word, the index of its first sub-token; `None` for a word that was
        cut off or has no sub-token (a lone control character).
    """
    if not sentences:
        return []
    space = " " if _marks_spaces(tokenizer) else ""
    encoded = tokenizer(
        [[space + word for word in words] for words in sentences],
        is_split_into_words=True,
        truncation=max_length is not None,
        max_length=max_length,
        return_attention_mask=False,
        verbose=False,
    )
    found = []
    for row, words in enumerate(sentences):
        first: list[int | None] = [None] * len(words)
        for index, word in enumerate(encoded.word_ids(row)):
            if word is not None and first[word] is None:
                first[word] = index
        found.append((encoded["input_ids"][row], first))
    return found


def _marks_spaces(tokenizer: Any) -> bool:
    """Whether a word after a space and a word at the start of a text have different sub-tokens."""
    before = tokenizer.backend_tokenizer.pre_tokenizer
    return before is not None and before.pre_tokenize_str(" a")[0][0] != before.pre_tokenize_str("a")[0][0]
