"""Words to sub-tokens: where in the token ids each word of a sentence begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_length: int | None = None
) -> list[tuple[list[int], list[int | None]]]:
    """Token ids of sentences that are split into words.

    Args:
        tokenizer: A fast tokenizer. One that marks the space before a word (RoBERTa, ModernBERT) reads every word with
            a space before it, the first one too.
        sentences: The words of each.
        max_length: Tokens, special ones included, beyond which a sentence is cut; `None` cuts nothing.

    Returns:
        For each sentence its token ids and, for each word, the place of its first sub-token; `None` for a word that was
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
        places: list[int | None] = [None] * len(words)
        for place, word in enumerate(encoded.word_ids(row)):
            if word is not None and places[word] is None:
                places[word] = place
        found.append((encoded["input_ids"][row], places))
    return found


def _marks_spaces(tokenizer: Any) -> bool:
    """Whether a word after a space and a word at the start of a text have different sub-tokens."""
    before = tokenizer.backend_tokenizer.pre_tokenizer
    return before is not None and before.pre_tokenize_str(" a")[0][0] != before.pre_tokenize_str("a")[0][0]
