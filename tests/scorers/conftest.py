"""Texts for metrics of networks."""

import random

import pytest

WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "dogs", "run", "likes", "school", "xyz", "."]


@pytest.fixture(scope="session")
def corpus():
    """A function that draws sources and predictions: some equal, changed, empty, or beyond 128 sub-words."""

    def draw(count: int = 50, seed: int = 0) -> tuple[list[str], list[str]]:
        rng = random.Random(seed)
        sources = [" ".join(rng.choices(WORDS, k=rng.randint(1, 25))) for _ in range(count)]
        sources[3] = " ".join(rng.choices(WORDS, k=150))
        predictions = []
        for number, source in enumerate(sources):
            tokens = source.split()
            if number % 3:
                tokens[rng.randrange(len(tokens))] = rng.choice(WORDS)
            predictions.append("" if number % 20 == 7 else " ".join(tokens))
        return sources, predictions

    return draw
