"""How frequent words are by themselves: the unigram log-probabilities that SLOR leaves out of a likelihood."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError, MissingExtraError
from geceval.core.files import ASSETS, expanded, read_text, split_lines
from geceval.core.signature import package_version

BUNDLED, WORDFREQ = "bundled", "wordfreq"
COUNTS = ASSETS / "unigrams" / "counts.tsv"
RAREST = 1e-8
"""The least frequency in wordfreq's large list of English, which a word that is not there gets too."""

_WORD = re.compile(r"n't|'(?:s|re|ve|ll|d|m)\b|[^\W_]+?(?=n't\b)|[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True, slots=True)
class Unigrams:
    """Unigram log-probabilities."""

    name: str
    of_word: Callable[[str], float]

    def log_probability(self, text: str) -> float:
        """The sum over the words of a text, which is at most 0 and 0 for a text without words."""
        return math.fsum(map(self.of_word, words(text)))


def words(text: str) -> list[str]:
    """What is counted: runs of letters and digits in lower case, each other character but white space, contractions."""
    # `Don't` and `do n't` alike are `do` and `n't`: tokenised or not, a text has the same words.
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def count(texts: Iterable[str], least: int = 2) -> Counter[str]:
    """How often each word occurs in texts; words that occur less often than `least` are left out."""
    found = Counter(word for text in texts for word in words(text))
    return Counter({word: times for word, times in found.items() if times >= least})


def load_unigrams(source: str | Path) -> Unigrams:
    """Unigram log-probabilities by the name of their source."""
    if source == WORDFREQ:
        return _wordfreq()
    path = COUNTS if source == BUNDLED else expanded(source)
    text = read_text(path)
    counts = _parse(text, path)
    log_total = math.log(sum(counts.values()))
    digest = hashlib.sha256(text.encode()).hexdigest()[:7]

    def of_word(word: str) -> float:
        return math.log(counts.get(word, 1)) - log_total

    return Unigrams(f"{BUNDLED if source == BUNDLED else path.name}@{digest}", of_word)


def _wordfreq() -> Unigrams:
    try:
        from wordfreq import word_frequency
    except ModuleNotFoundError as error:
        raise MissingExtraError("unigrams='wordfreq' needs wordfreq: pip install wordfreq") from error

    def of_word(word: str) -> float:
        return math.log(max(word_frequency(word, "en", wordlist="large"), RAREST))

    return Unigrams(f"{WORDFREQ}@{package_version(WORDFREQ)}", of_word)


def _parse(text: str, path: Path) -> dict[str, int]:
    seen, counts = set(), Counter()
    for number, line in enumerate(split_lines(text), start=1):
        word, tab, times = line.partition("\t")
        if not (word and tab and times.isdecimal() and int(times)) or word in seen:
            raise InputError(
                f"{path}, line {number}: expected a word that no line above has, a tab and a positive whole number, "
                f"got {line[:60]!r}"
            )
        seen.add(word)
        counts[word.lower()] += int(times)
    if not counts:
        raise InputError(f"{path}: no counts; expected a word, a tab and a positive whole number in each line")
    return counts
