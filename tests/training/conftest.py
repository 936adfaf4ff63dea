"""What the tests of the training scripts share."""

import csv
import random

import pytest


@pytest.fixture(scope="session")
def corpus(toy_corpus):
    """An M2 file of 60 sentences with two edits each."""
    return toy_corpus


@pytest.fixture(scope="session")
def base(make_checkpoint):
    """A tiny encoder with random weights."""
    return make_checkpoint(7, hidden_dropout_prob=0.1)


@pytest.fixture(scope="session")
def make_ratings(tmp_path_factory):
    """A function from a number of sources to their outputs in the form of TMU-GFM: people want the cat to sit."""

    def make(sources):
        path = tmp_path_factory.mktemp("ratings") / "toy.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["source", "output", "ave_g", "ave_f", "ave_m"])
            for row in range(sources):
                for verb, mean in (("sits", 3.5), ("sitting", 2.0)):
                    table.writerow([f"the cat sit {row}", f"the cat {verb} {row} times", mean, mean, 4])
        return path

    return make


@pytest.fixture(scope="session")
def some_ratings(tmp_path_factory):
    """160 outputs of 80 sources: 'sat' is grammatical, 'the' is fluent, and 'dog' keeps the meaning."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("ratings") / "toy.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "output", "grammer", "fluency", "meaning", "system", "ave_g", "ave_f", "ave_m"])
        for number in range(80):
            source = f"a dog {rng.choice(['sit', 'run'])} on mat {' '.join(rng.choices(['a', 'school'], k=number % 7))}"
            for _ in range(2):
                article, noun, verb = (rng.choice(pair) for pair in (("the", "a"), ("dog", "cat"), ("sat", "sit")))
                output = f"{article} {noun} {verb} on mat {' '.join(rng.choices(['a', 'school'], k=rng.randint(0, 5)))}"
                means = [4.0 if word in output.split() else 2.0 for word in ("sat", "the", "dog")]
                table.writerow([source, output, "", "", "", "x", *means])
    return path
