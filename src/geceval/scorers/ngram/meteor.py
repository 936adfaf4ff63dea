"""METEOR (Banerjee and Lavie, 2005) without its penalty for fragments: how much of a text is in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable

import numpy as np

from geceval.core.cache import lru_cache
from geceval.core.errors import MissingExtraError, naming_the_extra
from geceval.core.signature import package_version

ALPHA = 0.85


def meteor(prediction: str, source: str, synonyms: bool = False) -> float:
    """PR / (.85 P + .15 R), P and R the shares of the words of either text that are matched."""
    # Words are separated by white space and compared in lower case. Each is matched with at most one word of the other
    # text: as many as possible that are equal, of those left as many as possible with the same stem (Snowball's English
    # stemmer), and then, with `synonyms`, as many as possible that share a synset of WordNet.
    left, right = prediction.lower().split(), source.lower().split()
    if not left or not right:
        return float(left == right)
    matched = matches(left, right, synonyms)
    precision, recall = matched / len(left), matched / len(right)
    return precision * recall / (ALPHA * precision + (1 - ALPHA) * recall) if matched else 0.0


def matches(left: list[str], right: list[str], synonyms: bool = False) -> int:
    """How many words of two texts are matched, see `meteor`."""
    equal, left, right = _match_by(lambda word: word, left, right)
    stemmed, left, right = _match_by(_stem, left, right)
    return equal + stemmed + (_match_synonyms(left, right) if synonyms else 0)


def _match_by(key: Callable[[str], Hashable], left: list[str], right: list[str]) -> tuple[int, list[str], list[str]]:
    """How many words can be matched one to one by equal keys, and those of either side that are left."""
    common = Counter(map(key, left)) & Counter(map(key, right))
    return common.total(), _without(common, key, left), _without(common, key, right)


def _without(keys: Counter[Hashable], key: Callable[[str], Hashable], words: Iterable[str]) -> list[str]:
    """The words that are left when those with these keys, each as often as counted, are taken out."""
    still, rest = Counter(keys), []
    for word in words:
        if still[key(word)] > 0:
            still[key(word)] -= 1
        else:
            rest.append(word)
    return rest


def _match_synonyms(left: list[str], right: list[str]) -> int:
    """The size of a largest matching of words that share a synset."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not left or not right:
        return 0
    graph = np.array([[not _synsets(one).isdisjoint(_synsets(other)) for other in right] for one in left])
    return int((maximum_bipartite_matching(csr_array(graph)) >= 0).sum())


def versions(synonyms: bool = False) -> dict[str, str]:
    """The versions of what words are matched with, for the signature."""
    _stem("words")
    found = {"snowballstemmer": package_version("snowballstemmer")}
    return {**found, "wordnet": _wordnet().get_version()} if synonyms else found


@lru_cache(100_000)
def _stem(word: str) -> str:
    with naming_the_extra("METEOR"):
        import snowballstemmer

    return snowballstemmer.stemmer("english").stemWord(word)  # a stemmer has a state, which threads must not share


@lru_cache(100_000)
def _synsets(word: str) -> frozenset[str]:
    """The names of the synsets of a word, in any of its parts of speech; its base forms as WordNet finds them."""
    return frozenset(synset.name() for synset in _wordnet().synsets(word))


def _wordnet():
    """The reader of WordNet, which exists without its files, too: they are looked for here."""
    try:
        from nltk.corpus import wordnet

        wordnet.ensure_loaded()
    except (ImportError, LookupError) as error:
        raise MissingExtraError(
            "METEOR with synonyms needs nltk and its WordNet: pip install nltk && python -m nltk.downloader wordnet"
        ) from error
    return wordnet
