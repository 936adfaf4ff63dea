"""GLEU against the published program's numbers and against a direct reading of its description."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geceval
from geceval.scorers.gleu import Gleu, Settings
from geceval.scorers.references.gold import m2_references

words = st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join)
rows = st.tuples(words, words, st.lists(words, min_size=1, max_size=3))
corpora = st.lists(rows, min_size=1, max_size=5)


def counts_of(text: str, n: int) -> Counter:
    tokens = text.split()
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) + 1 - n))


def slow_statistics(source: str, prediction: str, reference: str, counting: str) -> list[int]:
    """Counts of orders 1 to 4, totals of orders 1 to 4, both lengths; with counters, n-gram by n-gram."""
    numbers, totals = [], []
    for n in range(1, 5):
        s, h, r = (counts_of(text, n) for text in (source, prediction, reference))
        if counting == "released":
            lost = sum(min(h[g], s[g]) for g in h if r[g] == 0)
            numbers.append(max(0, (h & r).total() - lost))
        else:
            lost = sum(max(0, min(s[g], h[g]) - min(h[g], r[g])) for g in h)
            numbers.append((h & r).total() - lost)
        totals.append(max(0, len(prediction.split()) + 1 - n))
    return [*numbers, *totals, len(prediction.split()), len(reference.split())]


def slow_gleu(statistics: list[float]) -> float:
    if min(statistics) <= 0:
        return 0.0
    product = math.prod(statistics[n] / statistics[4 + n] for n in range(4))
    return math.exp(min(0.0, 1 - statistics[9] / statistics[8])) * product**0.25


def slow_corpus(columns, counting: str, iterations: int) -> float:
    values = []
    for j in range(iterations):
        generator = random.Random(101 * j)
        drawn = [refs[int(generator.random() * len(refs))] for *_, refs in columns]  # as Python 2's `randint` did
        chosen = [slow_statistics(s, h, r, counting) for (s, h, _), r in zip(columns, drawn, strict=True)]
        values.append(slow_gleu([sum(column) for column in zip(*chosen, strict=True)]))
    return sum(values) / iterations


@given(corpora, st.sampled_from(["released", "paper"]))
def test_corpus_and_sentences_equal_a_direct_count(corpus, counting):
    sources, predictions, references = map(list, zip(*corpus, strict=True))
    result = Gleu(Settings(counting=counting, iterations=5)).score(sources, predictions, references)
    assert result.score == pytest.approx(slow_corpus(corpus, counting, 5), abs=1e-12)
    for score, (source, prediction, refs) in zip(result.scores, corpus, strict=True):
        each = [slow_statistics(source, prediction, r, counting) for r in refs]
        expected = sum(slow_gleu([max(x, 0) or 1 for x in row]) for row in each) / len(refs)
        assert score == pytest.approx(expected, abs=1e-12)
    assert 0 <= result.score <= 1
    assert all(0 <= score <= 1 for score in result.scores)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=5), st.sampled_from(["released", "paper"]))
def test_the_only_reference_as_prediction_scores_1(pairs, counting):
    sources, references = map(list, zip(*pairs, strict=True))
    result = Gleu(Settings(counting=counting)).score(sources, references, references)
    assert result.scores == [1.0] * len(pairs)
    # An order without n-grams in the whole corpus makes the corpus score 0, as in the published program.
    assert result.score == (1.0 if max(len(r.split()) for r in references) >= 4 else 0.0)


def test_expectation_replaces_each_statistic_by_its_mean():
    # Reference 1: counts 4 3 2 1 of 4 3 2 1; reference 2: 2 - 2, 1 - 2, 0 - 2 and 0 - 1, that is 0; length 4 and 2.
    columns = (["a b c d"], ["a b c d"], [["a b c d", "a b"]])
    result = Gleu(Settings(sampler="expectation")).score(*columns)
    assert result.score == pytest.approx(0.5)
    assert result.details["sd"] == 0


def test_smoothing_off_gives_0_where_an_order_has_no_match():
    columns = (["a b"], ["a b"], [["a b"]])
    assert Gleu(Settings(smoothing=False)).score(*columns).scores == [0.0]
    assert Gleu(Settings(smoothing=True)).score(*columns).scores == [1.0]


def test_characters_as_units():
    # Of the 5 4 3 2 n-grams 4 3 2 1 match, "ab c" the longest; "d" ends one n-gram of each order that is lost.
    result = Gleu(Settings(unit="char")).score(["ab  cd"], ["ab cd"], [["ab cx"]])
    assert result.scores == pytest.approx([(3 / 5 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25])


def test_sampling_is_repeatable_and_leaves_the_global_generators_alone():
    columns = (["a b c d e"] * 9, ["a b c d f"] * 9, [["a b c d f", "a b c g f"]] * 9)
    geceval.clear_caches()
    random.seed(7)
    np.random.seed(7)
    before = random.getstate(), np.random.get_state()[1].tolist()
    result = Gleu().score(*columns)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    assert Gleu().score(*columns) == result
    assert result.details["sd"] > 0


def test_amu_on_conll_2014(gjg15, conll_2014):
    # The released program run on AMU with two references, under Python 2.
    sources, predictions = gjg15.sources, gjg15.outputs["AMU"]
    references = m2_references("gleu", conll_2014, sources)
    assert f"{Gleu().score(sources, predictions, references).score:.6f}" == "0.583256"
    expectation = Gleu(Settings(sampler="expectation", gold_m2=conll_2014)).score(sources, predictions)
    assert expectation.score == pytest.approx(0.583256, abs=5e-4)
