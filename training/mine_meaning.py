"""Find the pairs of texts about which a faithfulness estimator, as a guard, is most wrong: `train_meaning.py --mined`.

    python training/mine_meaning.py --m2 mine.m2 --output mined.tsv

Of sentences of the M2 files, outputs that do not say the same and that `impara_lm` under the guard likes best: without
words, found step by step, and of the kinds of `recipes/negatives.py`; and of texts that people wrote those that the
estimator likes least. A line has 1 or 0, whether it says the same, the kind, the source and the text.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from geceval import registry
from geceval.edits.edit import Edit, apply
from geceval.meta.attacks import deletions
from recipes.distillation.groups import Confusions
from recipes.meaning import LENGTH, Pair, positives, read_annotations
from recipes.negatives import KINDS, Corpus, is_content, make
from recipes.scripts import exit_code, script_parser

PROPOSALS, STEPS, OTHERS = 8, 4, 14  # deletions a step; steps of a climb; texts of other kinds
KEPT = 2  # of each kind of search
LOST = 4  # words: so many less say less, whatever they are
Scores = Callable[[Sequence[tuple[str, str]]], list[float]]


def climb(starts: Sequence[tuple[str, str]], scores: Scores, rng: random.Random) -> list[dict[str, float]]:
    """For each source and first text the texts without some words that were tried, with scores."""
    tried: list[dict[str, float]] = [{} for _ in starts]
    best = [text for _, text in starts]
    for _ in range(STEPS):
        rows = [(i, text) for i, text in enumerate(best) for text in set(deletions(text, rng, PROPOSALS)) if text]
        for (i, text), score in zip(rows, scores([(starts[i][0], text) for i, text in rows]), strict=True):
            tried[i][text] = score
        best = [max(found, key=found.get) if found else text for found, text in zip(tried, best, strict=True)]
    return tried


def says_less(text: str, versions: Sequence[str]) -> bool:
    """Whether a text lacks content that each version of its sentence has, or several words of each."""
    words = set(_stems(text))
    shortest = min(len(version.split()) for version in versions)
    kept = set.intersection(*(set(_stems(version)) for version in versions))
    return bool(kept - words) or len(text.split()) <= shortest - LOST


def _stems(text: str) -> list[str]:
    return [token.lower()[:4] for token in text.split() if is_content(token) or token.isdigit()]


def mine(
    rows: Sequence[tuple[str, Sequence[Sequence[Edit]]]],
    corpus: Corpus,
    errors: Confusions,
    scores: Scores,
    meanings: Scores,
    rng: random.Random,
) -> Iterator[Pair]:
    """The pairs of sentences with their annotations."""
    versions = [[source, *(apply(source, edits) for edits in annotations)] for source, annotations in rows]
    starts = [(texts[0], rng.choice((texts[0], rng.choice(texts)))) for texts in versions]
    own = scores([(texts[0], texts[0]) for texts in versions])
    for texts, before, tried in zip(versions, own, climb(starts, scores, rng), strict=True):
        less = [text for text, score in tried.items() if score > before and says_less(text, texts)]
        less.sort(key=lambda text: -tried[text])
        for text in less[:1] + rng.sample(less[1:], min(KEPT, len(less[1:]))):
            yield Pair(texts[0], text, 0.0, "searched deletion")
    for source, first in starts:
        made = {make(kind, first, corpus, rng): kind for kind in rng.choices(list(KINDS), k=OTHERS)}
        pairs = [(source, text) for text in made if text and len(text.split()) in LENGTH]
        found = dict(zip(pairs, scores(pairs), strict=True))
        for pair in sorted(pairs, key=lambda pair: -found[pair])[:KEPT]:
            yield Pair(*pair, 0.0, made[pair[1]])
    for source, edits in rows:
        pairs = [pair for pair in positives(source, edits, errors, rng) if pair.source != pair.text]
        found = dict(zip(pairs, meanings([pair[:2] for pair in pairs]), strict=True)) if pairs else {}
        yield from sorted(pairs, key=found.get)[: 2 * KEPT]


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, search and write; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("--m2", type=Path, nargs="+", required=True, help="corrected sentences to learn from")
    parser.add_argument("--output", type=Path, required=True, help="file to write")
    parser.add_argument("--sentences", type=int, default=1500, help="drawn from all files")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)

    def run() -> None:
        files = {path.name: read_annotations(path) for path in options.m2}
        edited = [(source, edits) for found in files.values() for source, some in found.items() for edits in some]
        corpus, errors = Corpus(apply(*row) for row in edited), Confusions(edited)
        rng = random.Random(options.seed)
        # As many sentences of each file, so that those with several references count.
        drawn = [
            rng.sample(sorted(found), min(options.sentences // len(files), len(found))) for found in files.values()
        ]
        rows = [(source, found[source]) for found, some in zip(files.values(), drawn, strict=True) for source in some]
        rng.shuffle(rows)
        scorers = [registry.make_scorer(name, {"dtype": "bfloat16"}) for name in ("impara_lm", "meaning")]
        scores, meanings = (
            lambda pairs, scorer=scorer: scorer.score(*map(list, zip(*pairs, strict=True))).scores if pairs else []
            for scorer in scorers
        )
        with options.output.open("w", encoding="utf-8") as file:
            for start in range(0, len(rows), 50):
                for pair in mine(rows[start : start + 50], corpus, errors, scores, meanings, rng):
                    print(int(pair.label), pair.kind, pair.source, pair.text, sep="\t", file=file, flush=True)

    return exit_code("mine_meaning", run)


if __name__ == "__main__":
    sys.exit(main())
