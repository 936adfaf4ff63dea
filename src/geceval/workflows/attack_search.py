"""Attacks that ask the metric: of many texts by rule, those that it likes best."""

import itertools
import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.attacks import concatenations, deletions, prefixes, variations
from geceval.scorers.base import Scorer

PROPOSALS, BEAM = 8, 2  # texts that a step of a climb tries for a sentence; that a beam search keeps

Texts: TypeAlias = Sequence[str | None]
"""A column: one output per sentence, `None` where there is none."""


def chances(seed: int, name: str, sentences: int) -> list[random.Random]:
    """A source of chance for each sentence, the same however many there are."""
    return [random.Random(f"{seed} {name} {number}") for number in range(sentences)]


class Judge:
    """A metric that scores any texts as outputs for the sentences of a corpus, each once."""

    def __init__(self, scorer: Scorer, sources: Sequence[str], references: Sequence[Texts]) -> None:
        self.sources = list(sources)
        self.signature = ""
        self._scorer, self._references = scorer, list(zip(*references, strict=True))
        self._scorer.row_by_row = True  # what is read in one call is no corpus
        self._scores: dict[tuple[int, str], tuple[float, np.ndarray]] = {}

    def read(self, columns: Iterable[Texts]) -> None:
        """Score the texts of columns in one call."""
        texts = ((number, text) for column in columns for number, text in enumerate(column) if text is not None)
        new = [pair for pair in dict.fromkeys(texts) if pair not in self._scores]
        if not new:
            return
        references = [self._references[number] for number, _ in new] if self._references else None
        result = self._scorer.score([self.sources[number] for number, _ in new], [text for _, text in new], references)
        for (number, text), score in zip(new, result.scores, strict=True):
            if not math.isfinite(score):
                raise InputError(f"attack: {self._scorer.name} gives {score} for {text!r}, sentence {number + 1}")
        self._scores |= zip(new, zip(result.scores, result.rows(), strict=True), strict=True)
        self.signature = result.signature

    def best(self, number: int, texts: Iterable[str], count: int) -> list[str]:
        """The texts with the highest scores of those that have been read, the best first."""
        return sorted(texts, key=lambda text: -self._scores[number, text][0])[:count]

    def scores(self, texts: Texts) -> np.ndarray:
        """The score of each text of a column, NaN where there is none."""
        pairs = enumerate(texts)
        return np.array([np.nan if text is None else self._scores[number, text][0] for number, text in pairs])

    def rows(self, texts: Texts) -> np.ndarray:
        """The data of the texts of a column for a corpus score; see `Result.rows`."""
        return np.array([self._scores[number, text][1] for number, text in enumerate(texts) if text is not None])


Search: TypeAlias = Callable[[Judge, Sequence[str], int, Sequence[random.Random]], list[str]]
"""Gives an output for each sentence, from the judge, good texts, the budget, and a source of chance a sentence."""


def best_of(candidates: Callable[[int, str, Sequence[str]], Iterable[str]]) -> Search:
    """A search for the best of given texts, of a random sample where they are more than the budget; or the source."""

    def run(judge: Judge, pool: Sequence[str], budget: int, draws: Sequence[random.Random]) -> list[str]:
        tried = []
        for number, (source, draw) in enumerate(zip(judge.sources, draws, strict=True)):
            texts = list(dict.fromkeys(candidates(number, source, pool)))
            tried.append(draw.sample(texts, min(budget, len(texts))) or [source])
        judge.read(itertools.zip_longest(*tried))
        return [judge.best(number, texts, 1)[0] for number, texts in enumerate(tried)]

    return run


def climb(propose: Callable[[str, random.Random], list[str]], beam: int = 1) -> Search:
    """A search for the best texts by changing the best texts, from the source until the budget is spent."""

    def run(judge: Judge, pool: Sequence[str], budget: int, draws: Sequence[random.Random]) -> list[str]:
        beams = [[source] for source in judge.sources]
        tried = [{source} for source in judge.sources]
        while True:
            steps = []
            for texts, known, draw in zip(beams, tried, draws, strict=True):
                proposed = dict.fromkeys(change for text in texts for change in propose(text, draw))
                new = [text for text in proposed if text not in known]
                left = budget + 1 - len(known)  # the source is known from the start
                steps.append(draw.sample(new, left) if len(new) > left else new)
                known.update(steps[-1])
            if not any(steps):
                return [texts[0] for texts in beams]
            judge.read(itertools.zip_longest(*steps))
            beams = [judge.best(number, [*beams[number], *texts], beam) for number, texts in enumerate(steps)]

    return run


SEARCHES: dict[tuple[str, str], Search] = {
    ("ignore", "best reference"): best_of(lambda number, _, pool: [text for text in pool if text != pool[number]]),
    ("drop", "best prefix"): best_of(lambda _, source, __: prefixes(source)),
    ("drop", "deletion climb"): climb(lambda text, draw: deletions(text, draw, PROPOSALS)),
    ("add", "best concatenation"): climb(lambda text, _: concatenations(text)),
    ("mixed", "beam search"): climb(lambda text, draw: variations(text, draw, PROPOSALS // BEAM), BEAM),
}
"""The searched attacks by family and name."""
