"""Attacks that ask the metric: of many texts by rule, those that it likes best."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.attacks import Flip, concatenations, deletions, prefixes, variations
from geceval.scorers.base import Scorer

PROPOSALS, BEAM = 8, 2  # texts that a step of a climb tries for a sentence; that a beam search keeps

Draws: TypeAlias = Callable[[int], random.Random]
"""The source of chance for the sentence of a number, the same whatever other sentences there are."""
Propose: TypeAlias = Callable[[str, random.Random], list[str]]


def draws(seed: int, name: str) -> Draws:
    """A source of chance for each sentence, another for each seed and each name."""
    return lambda number: random.Random(f"{seed} {name} {number}")


def numbered(columns: Iterable[Sequence[str | None]]) -> list[tuple[int, str]]:
    """The texts of columns, each with the number of its sentence."""
    return [(number, text) for column in columns for number, text in enumerate(column) if text is not None]


def flip_all(texts: Sequence[str | None], flip: Flip, draw: Draws) -> list[str | None]:
    """Each text flipped at a random place; `None` where the flip does not apply."""
    variants = [flip(text) if text else [] for text in texts]
    return [draw(number).choice(flipped) if flipped else None for number, flipped in enumerate(variants)]


class Judge:
    """A metric that scores any texts as outputs for the sentences of a corpus, each once."""

    def __init__(self, scorer: Scorer, sources: Sequence[str], references: Sequence[Sequence[str | None]]) -> None:
        self.sources = list(sources)
        self.signature = ""
        self._scorer, self._references = scorer, list(zip(*references, strict=True))
        self._scores: dict[tuple[int, str], float] = {}
        self._rows: dict[tuple[int, str], np.ndarray] = {}

    @property
    def reads(self) -> int:
        """Number of texts scored."""
        return len(self._scores)

    def read(self, texts: Iterable[tuple[int, str]]) -> None:
        """Score texts, each with the number of its sentence, in one call."""
        new = [pair for pair in dict.fromkeys(texts) if pair not in self._scores]
        if not new:
            return
        numbers, outputs = zip(*new, strict=True)
        references = [self._references[number] for number in numbers] if self._references else None
        result = self._scorer.score([self.sources[number] for number in numbers], list(outputs), references)
        for (number, text), score in zip(new, result.scores, strict=True):
            if not math.isfinite(score):
                raise InputError(f"attack: {self._scorer.name} gives {score} for {text!r}, sentence {number + 1}")
        self._scores |= zip(new, result.scores, strict=True)
        self._rows |= zip(new, result.rows(), strict=True)
        self.signature = result.signature

    def best(self, number: int, texts: Iterable[str], count: int) -> list[str]:
        """The texts with the highest scores of those that have been read, the best first."""
        return sorted(texts, key=lambda text: -self._scores[number, text])[:count]

    def scores(self, texts: Sequence[str | None]) -> np.ndarray:
        """The score of each text of a column, NaN where there is none."""
        pairs = enumerate(texts)
        return np.array([np.nan if text is None else self._scores[number, text] for number, text in pairs])

    def rows(self, texts: Sequence[str | None]) -> np.ndarray:
        """The data of the texts of a column for a corpus score; see `Result.rows`."""
        return np.array([self._rows[pair] for pair in numbered([texts])])


@dataclass(frozen=True, slots=True)
class Search:
    """A searched attack: `run(judge, pool of good texts, budget, draws)` gives an output for each sentence."""

    family: str
    name: str
    run: Callable[[Judge, Sequence[str], int, Draws], list[str]]


def best_reference(judge: Judge, pool: Sequence[str], budget: int, draw: Draws) -> list[str]:
    """The best of the texts that belong to other sentences."""
    others = [list(dict.fromkeys(text for text in pool if text != pool[number])) for number in range(len(pool))]
    return _best(judge, others, budget, draw)


def best_prefix(judge: Judge, pool: Sequence[str], budget: int, draw: Draws) -> list[str]:
    """The best beginning of the source."""
    return _best(judge, [prefixes(source) for source in judge.sources], budget, draw)


def deletion_climb(judge: Judge, pool: Sequence[str], budget: int, draw: Draws) -> list[str]:
    """The source without words, one to three neighbours a step."""
    return _climb(judge, lambda text, random: deletions(text, random, PROPOSALS), budget, draw)


def best_concatenation(judge: Judge, pool: Sequence[str], budget: int, draw: Draws) -> list[str]:
    """The source after openings and beside other sentences."""
    return _climb(judge, lambda text, _: concatenations(text), budget, draw)


def beam_search(judge: Judge, pool: Sequence[str], budget: int, draw: Draws) -> list[str]:
    """The source with words dropped, put in, exchanged and swapped."""
    return _climb(judge, lambda text, random: variations(text, random, PROPOSALS // BEAM), budget, draw, BEAM)


SEARCHES = (
    Search("ignore", "best reference", best_reference),
    Search("drop", "best prefix", best_prefix),
    Search("drop", "deletion climb", deletion_climb),
    Search("add", "best concatenation", best_concatenation),
    Search("mixed", "beam search", beam_search),
)


def _best(judge: Judge, candidates: Sequence[Sequence[str]], budget: int, draw: Draws) -> list[str]:
    """The best candidate of each sentence, of a random sample where there are more than the budget; or the source."""
    tried = [
        draw(number).sample(texts, min(budget, len(texts))) or [judge.sources[number]]
        for number, texts in enumerate(candidates)
    ]
    judge.read((number, text) for number, texts in enumerate(tried) for text in texts)
    return [judge.best(number, texts, 1)[0] for number, texts in enumerate(tried)]


def _climb(judge: Judge, propose: Propose, budget: int, draw: Draws, beam: int = 1) -> list[str]:
    """The best texts found by changing the best texts found, from the source until the budget is spent."""
    beams = [[source] for source in judge.sources]
    tried = [{source} for source in judge.sources]
    chances = [draw(number) for number in range(len(beams))]
    while True:
        steps = list(_steps(beams, tried, chances, propose, budget))
        if not any(steps):
            return [texts[0] for texts in beams]
        judge.read((number, text) for number, texts in enumerate(steps) for text in texts)
        beams = [judge.best(number, [*beams[number], *texts], beam) for number, texts in enumerate(steps)]


def _steps(
    beams: Sequence[Sequence[str]],
    tried: Sequence[set[str]],
    chances: Sequence[random.Random],
    propose: Propose,
    budget: int,
) -> Iterator[list[str]]:
    """The texts that each sentence tries next, at most as many as the budget has left; they are noted as tried."""
    for texts, known, chance in zip(beams, tried, chances, strict=True):
        proposed = dict.fromkeys(change for text in texts for change in propose(text, chance))
        new = [text for text in proposed if text not in known]
        left = budget + 1 - len(known)  # the source is known from the start
        new = chance.sample(new, left) if len(new) > left else new
        known.update(new)
        yield new
