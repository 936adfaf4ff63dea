"""Count words for the unigram log-probabilities that ship with geceval.

    python training/count_words.py my-corpus.txt --output counts.tsv

writes a file like `src/geceval/assets/unigrams/counts.tsv`. Texts are UTF-8, `.gz` or `-` for standard input; see
`geceval.scorers.learned.likelihoods.words` for what a word is.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from geceval.core.files import read_lines, write_text
from geceval.scorers.learned.likelihoods import words
from recipes.scripts import exit_code, script_parser


def count(texts: Iterable[str], least: int = 2) -> Counter[str]:
    """Counts of the words of texts; words that occur less often than `least` are left out."""
    counts = Counter(word for text in texts for word in words(text))
    return Counter({word: times for word, times in counts.items() if times >= least})


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and count; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("texts", nargs="+", help="text files, tokenised or not")
    parser.add_argument("--output", type=Path, required=True, help="the file to write: a word, a tab, its count")
    parser.add_argument("--least", type=int, default=2, help="leave out words that occur less often")
    options = parser.parse_args(arguments)

    def count_and_write() -> None:
        counts = count((line for path in options.texts for line in read_lines(path)), options.least)
        rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        write_text(options.output, "".join(f"{word}\t{times}\n" for word, times in rows))
        print(f"{options.output}: {len(rows)} words, {counts.total()} occurrences")

    return exit_code("count_words", count_and_write)


if __name__ == "__main__":
    sys.exit(main())
