"""Texts that please an estimator and correct nothing, made of any corpus: what they were made of is worth more.

Only what shows in the text itself: words added, repeated or cut off, and stray commas. What is put in comes from other
sentences of the corpus, so that it works in any language that has commas.
"""

import random
from collections.abc import Callable, Iterable, Sequence

_LONGEST = 6  # words of a phrase that is put in or repeated
_ROUNDS = 4  # over all texts, before fewer are made than asked for
_SHORTEST = 6  # words of a text that can do without a part

Tokens = list[str]


def make_negatives(texts: Iterable[str], count: int, seed: int = 1) -> list[tuple[str, str]]:
    """At most `count` pairs of what is made of a text, and the text."""
    rng = random.Random(seed)
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    rng.shuffle(distinct)
    openings, endings = _phrases(text.split() for text in distinct)
    made: dict[tuple[str, str], None] = {}
    for text in distinct * _ROUNDS:
        if len(made) == count:
            break
        if (worse := _negative(text.split(), openings, endings, rng)) != text:
            made[worse, text] = None
    return list(made)


def _negative(tokens: Tokens, openings: Sequence[Tokens], endings: Sequence[Tokens], rng: random.Random) -> str:
    """A text that is worth less; the same text where the kind that is drawn does not apply."""
    kinds: list[Callable[[], Tokens]] = [
        lambda: [*rng.choice(openings), *tokens] if openings else tokens,
        lambda: [*tokens[:-1], *rng.choice(endings), *tokens[-1:]] if endings else tokens,
        lambda: tokens + tokens,
        lambda: _repeated(tokens, rng),
        lambda: _with_commas(tokens, rng),
        lambda: tokens[: rng.randint(3, len(tokens) - 2)] if len(tokens) >= _SHORTEST else tokens,
    ]
    return " ".join(rng.choice(kinds)())


def _phrases(texts: Iterable[Tokens]) -> tuple[list[Tokens], list[Tokens]]:
    """Short openings, up to the first comma of a sentence, and short endings, from its last comma to the final mark."""
    openings, endings = [], []
    for tokens in texts:
        commas = [index for index, token in enumerate(tokens) if token == ","]
        if commas and commas[0] < _LONGEST:
            openings.append(tokens[: commas[0] + 1])
        if commas and len(tokens) - commas[-1] - 1 <= _LONGEST:
            endings.append(tokens[commas[-1] : -1])
    return [phrase for phrase in openings if len(phrase) > 1], [phrase for phrase in endings if len(phrase) > 1]


def _repeated(tokens: Tokens, rng: random.Random) -> Tokens:
    """Some words stand there twice."""
    start = rng.randrange(len(tokens))
    end = start + rng.randint(2, _LONGEST)
    return [*tokens[:end], *tokens[start:end], *tokens[end:]]


def _with_commas(tokens: Tokens, rng: random.Random) -> Tokens:
    """One to three more commas."""
    places = [index for index in range(1, len(tokens)) if tokens[index - 1].isalnum() and tokens[index].isalnum()]
    chosen = set(rng.sample(places, min(len(places), rng.randint(1, 3))))
    return [part for index, token in enumerate(tokens) for part in ([",", token] if index in chosen else [token])]
