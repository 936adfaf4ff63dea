"""Parts of corrected texts that belong to the sentences of their sources."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from geceval.core.errors import InputError

CELLS = 2**24
"""Tokens of sources times tokens of answers that are compared at most, between two places where they agree."""

_HAN = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+|[^\w\s]")
_STOPS, _CLOSING, _PAUSES = frozenset(".!?…。！？"), frozenset("\"'”’»)]」』"), frozenset(",;:–—-，；：")
_RUN = 5  # tokens in a row that two texts share where they are taken to agree
# Costs of ending a sentence somewhere, and of another mark or case; a token more or less costs 1.
_LINE_END, _SENTENCE_END, _PAUSE, _NO_PAUSE, _NO_SPACE = 0.0, 0.2, 0.6, 1.2, 3.0
_MARK, _CASE = 0.75, 0.1


def sentence_parts(sources: Sequence[str], answers: Sequence[str]) -> list[str]:
    """Cut corrected texts, in the order of their sources, into one part for each sentence of the sources."""
    # All are aligned token by token. A cut lies where the alignment passes the end of a sentence of the sources, and
    # costs the less, the more it looks like the end of a line or a sentence. So a sentence that was split stays whole,
    # and of two that were joined each keeps its part. Nothing is lost but white space around the parts.
    text = "\n".join(answers)
    tokens, sentences = list(_TOKEN.finditer(text)), [_TOKEN.findall(source) for source in sources]
    words, answer = [word for sentence in sentences for word in sentence], [token.group() for token in tokens]
    ends = np.cumsum([len(sentence) for sentence in sentences])[:-1].tolist()
    costs = _costs_of_cuts(tokens, text)
    cuts: list[int] = []
    left, right = 0, 0
    for row, column in [*_agreements(words, answer), (len(words), len(answer))]:
        if between := [end - left for end in ends[len(cuts) : bisect_right(ends, row)]]:
            here = _cheapest_cuts(words[left:row], answer[right:column], between, costs[right : column + 1])
            cuts += [right + cut for cut in here]
        left, right = row + 1, column + 1
    starts = [*(token.start() for token in tokens), len(text)]
    borders = [0, *(starts[cut] for cut in cuts), len(text)]
    return [text[start:end].strip() for start, end in zip(borders, borders[1:], strict=False)]


def shared_tokens(sources: Sequence[str], answers: Sequence[str]) -> float:
    """Share of the tokens that both have, of those of the longer."""
    left, right = (Counter(token for text in texts for token in _TOKEN.findall(text)) for texts in (sources, answers))
    return (left & right).total() / max(left.total(), right.total(), 1)


def _costs_of_cuts(tokens: Sequence[re.Match[str]], text: str) -> np.ndarray:
    """The cost of ending a sentence before each token, and after the last."""
    costs, ended = [_LINE_END], False
    for token, following in zip(tokens, tokens[1:], strict=False):
        word, gap = token.group(), text[token.end() : following.start()]
        ended = word in _STOPS or (ended and word in _CLOSING)
        within = _PAUSE if word in _PAUSES else _NO_PAUSE + 1e-6 * len(costs)  # a new conjunction begins the next
        cost = _LINE_END if "\n" in gap else _SENTENCE_END if ended else within
        spaced = gap or not (word + following.group()).isascii()  # Chinese has no spaces
        costs.append(cost if spaced else cost + _NO_SPACE)
    return np.array([*costs, _LINE_END])


def _agreements(source: list[str], answer: list[str]) -> list[tuple[int, int]]:
    """Tokens that both share amid others that they share, as indices in both."""
    # Not the first ones of a run: a full stop there may be that of a sentence before, which the answer left out.
    runs = [list(zip(*(words[shift:] for shift in range(_RUN)), strict=False)) for words in (source, answer)]
    blocks = SequenceMatcher(None, *runs, autojunk=False).get_matching_blocks()
    middle = _RUN // 2
    return [(row + k + middle, column + k + middle) for row, column, size in blocks for k in range(size)]


def _cheapest_cuts(source: list[str], answer: list[str], ends: list[int], costs: np.ndarray) -> list[int]:
    """Cuts of an answer along its cheapest alignment with sources whose sentences end after so many tokens."""
    if len(source) * len(answer) > CELLS:
        raise InputError(f"{len(source):,} tokens of the sources agree with none of the answers")
    substitutions = _costs_of_substitutions(source, answer)
    row, _ = _with_insertions(np.arange(len(answer) + 1.0))
    steps: list[tuple[np.ndarray, np.ndarray | None]] = []  # where insertions began, and what was substituted before
    for number in range(len(source) + 1):
        for _ in range(ends.count(number)):
            row, begins = _with_insertions(row + costs)
            steps.append((begins, None))
        if number < len(source):
            replaced = np.concatenate(([np.inf], row[:-1] + substitutions[number]))
            substituted = replaced <= row + 1
            row, begins = _with_insertions(np.minimum(replaced, row + 1))
            steps.append((begins, substituted))
    cuts, column = [], len(answer)
    for begins, substituted in reversed(steps):
        column = int(begins[column])
        if substituted is None:
            cuts.append(column)
        elif substituted[column]:
            column -= 1
    return cuts[::-1]


def _with_insertions(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Costs when any tokens of the answer have been inserted, and the columns where these insertions begin."""
    columns = np.arange(len(row))
    least = np.minimum.accumulate(row - columns)
    return least + columns, np.maximum.accumulate(np.where(row - columns == least, columns, 0))


def _costs_of_substitutions(source: Sequence[str], answer: Sequence[str]) -> np.ndarray:
    """From 0 for the same token to 2, as much as leaving out one and adding the other."""
    words = {"queries": source, "choices": answer, "scorer": Indel.normalized_distance}
    other, distances = cdist(**words) > 0, cdist(**words, processor=str.lower)
    marks = np.logical_and.outer(*([not word[0].isalnum() for word in words] for words in (source, answer)))
    return np.where(distances, np.where(marks, _MARK, 0.5 + 1.5 * distances), _CASE * other)
