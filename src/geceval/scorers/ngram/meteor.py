"""METEOR (Banerjee and Lavie, 2005) without its penalty for fragments: how much of a text is in another."""

from __future__ import annotations

from collections import Counter

from geceval.core.cache import lru_cache
from geceval.core.errors import naming_the_extra
from geceval.core.signature import package_version

ALPHA = 0.85


def meteor(prediction: str, source: str) -> float:
    """PR / (.85 P + .15 R), P and R the shares of the words of either text that are matched."""
    # Words are separated by white space and compared in lower case. METEOR matches equal words, then words of one stem
    # (Snowball's English stemmer), one to one; as equal words have equal stems, counting stems finds as many.
    left, right = prediction.lower().split(), source.lower().split()
    if not left or not right:
        return float(left == right)
    matched = (Counter(map(_stem, left)) & Counter(map(_stem, right))).total()
    precision, recall = matched / len(left), matched / len(right)
    return precision * recall / (ALPHA * precision + (1 - ALPHA) * recall) if matched else 0.0


def stemmer_version() -> str:
    """The version of the stemmer, for the signature."""
    _stem("words")
    return package_version("snowballstemmer")


@lru_cache(100_000)
def _stem(word: str) -> str:
    with naming_the_extra("METEOR"):
        import snowballstemmer

    return snowballstemmer.stemmer("english").stemWord(word)  # a stemmer has a state, which threads must not share
