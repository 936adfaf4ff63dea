"""Counts of words in a large corpus."""

from pathlib import Path

from geceval.core.cache import lru_cache
from geceval.core.files import ASSETS, read_text, split_lines

COUNTS = ASSETS / "unigrams" / "counts.tsv"


@lru_cache(1)
def read_counts(path: Path = COUNTS) -> dict[str, int]:
    """The bundled counts, or those of another file: a word, a tab and a number in each line."""
    return {word: int(times) for word, times in (line.split("\t") for line in split_lines(read_text(path)))}
