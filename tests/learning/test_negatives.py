"""What is made of a text by rule: worse, and never what the rule for measuring it tries."""

import random

import pytest

from geceval.learning import negatives
from geceval.learning.negatives import make_negatives

TEXTS = [f"Last year , we saw {number} cats near the old school , you know ." for number in range(40)]


def words(text: str) -> list[str]:
    return text.split()


def test_each_is_its_text_with_words_added_repeated_or_cut_off():
    made = make_negatives(TEXTS, 40)
    assert len({text for _, text in made}) == 40
    kinds = set()
    for worse, text in made:
        tokens, more = words(text), words(worse)
        if more == tokens + tokens:
            kinds.add("doubled")
        elif len(more) < len(tokens):
            assert more == tokens[: len(more)]
            kinds.add("cut")
        elif more.count(",") > 2 and [token for token in more if token != ","] == [t for t in tokens if t != ","]:
            kinds.add("commas")
        elif more[:3] == words("Last year ,") and more[3:] == tokens:
            kinds.add("opening")
        elif more == [*tokens[:-1], ",", "you", "know", "."]:
            kinds.add("ending")
        else:
            start = next(index for index in range(len(more)) if tokens[: index + 1] != more[: index + 1])
            size = len(more) - len(tokens)
            assert more[start : start + size] == tokens[start - size : start]
            kinds.add("repeated")
    assert kinds == {"doubled", "cut", "commas", "opening", "ending", "repeated"}


def test_the_seed_decides_and_the_count_bounds():
    assert make_negatives(TEXTS, 10, seed=2) == make_negatives(TEXTS, 10, seed=2) != make_negatives(TEXTS, 10, seed=3)
    assert len(make_negatives(TEXTS, 10)) == 10
    assert make_negatives(TEXTS, 0) == []
    assert make_negatives([" ", ""], 5) == []


@pytest.mark.parametrize("text", ["Yes", ",", "a ,", "猫 が 好き です"])
def test_any_text_gives_another_one_or_none(text):
    assert all(worse and worse != text for seed in range(20) for worse, _ in make_negatives([text], 5, seed))


def test_commas_stand_between_words():
    made = {" ".join(negatives._with_commas(words('He said " yes " .'), random.Random(seed))) for seed in range(20)}
    assert made == {'He , said " yes " .'}
