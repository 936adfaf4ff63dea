"""Words to sub-tokens: where in the token ids each word of a sentence begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_length: int
) -> list[tuple[list[int], list[int | None]]]:
    """Token ids of sentences that are split into words.

    Args:
        tokenizer: A fast tokenizer.
        sentences: The words of each.
        max_length: Tokens, special ones included, beyond which a sentence is cut.

    Returns:
        For each sentence its token ids and, for each word, the place of its first sub-token; `None` for a word that was
        cut off or has no sub-token (a lone control character).
    """
    if not sentences:
        return []
    encoded = tokenizer(
        [list(words) for words in sentences],
        is_split_into_words=True,
        truncation=True,
        max_length=max_length,
        return_attention_mask=False,
    )
    found = []
    for row, words in enumerate(sentences):
        places: list[int | None] = [None] * len(words)
        for place, word in enumerate(encoded.word_ids(row)):
            if word is not None and places[word] is None:
                places[word] = place
        found.append((encoded["input_ids"][row], places))
    return found
