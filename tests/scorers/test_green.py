"""GREEN against the published numbers and against a direct reading of its description."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.scorers.green import Green, Settings

words = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)
rows = st.tuples(words, words, st.lists(words, min_size=1, max_size=3))
corpora = st.lists(rows, min_size=1, max_size=4)


def slow_counts(source: str, prediction: str, reference: str) -> list[list[int]]:
    """TP, FP and FN of orders 1 to 4, n-gram by n-gram and kind by kind."""
    counts = []
    for n in range(1, 5):
        tokens = (source.split(), prediction.split(), reference.split())
        s, c, r = (Counter(tuple(t[i : i + n]) for i in range(len(t) + 1 - n)) for t in tokens)
        tp = fp = fn = 0
        for g in {*s, *c, *r}:
            delete_right, insert_right = max(s[g] - max(r[g], c[g]), 0), max(min(r[g], c[g]) - s[g], 0)
            delete_wrong, insert_wrong = max(min(s[g], r[g]) - c[g], 0), max(c[g] - max(s[g], r[g]), 0)
            delete_missed, insert_missed = max(min(s[g], c[g]) - r[g], 0), max(r[g] - max(s[g], c[g]), 0)
            tp += delete_right + insert_right + min(s[g], c[g], r[g])
            fp += delete_wrong + insert_wrong
            fn += delete_missed + insert_missed
        counts.append([tp, fp, fn])
    return counts


def slow_f(counts: list[list[int]], beta: float, zero_recall: str) -> float:
    p = math.prod(tp / (tp + fp) if tp + fp else 1 for tp, fp, _ in counts) ** (1 / len(counts))
    empty = 0 if zero_recall == "authors" else 1
    r = math.prod(tp / (tp + fn) if tp + fn else empty for tp, _, fn in counts) ** (1 / len(counts))
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


def slow_best(counts: list[list[list[int]]], beta: float, zero_recall: str) -> list[list[int]]:
    """Counts of the best reference: highest F, on ties (authors) the highest F of 3, 2, 1 orders, then the first."""
    orders = [4, 3, 2, 1] if zero_recall == "authors" else [4]
    return max(counts, key=lambda row: [slow_f(row[:n], beta, zero_recall) for n in orders])


@given(corpora, st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from(["authors", "gec-metrics"]))
def test_corpus_and_sentences_equal_a_direct_count(corpus, beta, zero_recall):
    result = Green(Settings(beta=beta, zero_recall=zero_recall)).score(*zip(*corpus, strict=True))
    best = [slow_best([slow_counts(s, h, r) for r in refs], beta, zero_recall) for s, h, refs in corpus]
    assert result.scores == pytest.approx([slow_f(row, beta, zero_recall) for row in best], abs=1e-12)
    total = [[sum(row[n][kind] for row in best) for kind in range(3)] for n in range(4)]
    assert result.score == pytest.approx(slow_f(total, beta, zero_recall), abs=1e-12)
    assert all(0 <= value <= 1 for value in (result.score, *result.scores))


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_the_only_reference_as_prediction_scores_1(pairs):
    sources, references = map(list, zip(*pairs, strict=True))
    result = Green(Settings(zero_recall="gec-metrics")).score(sources, references, references)
    assert [result.score, *result.scores] == [1.0] * (len(pairs) + 1)
    longest = [max(len(source.split()), len(reference.split())) for source, reference in pairs]
    assert Green().score(sources, references, references).scores == [float(length >= 4) for length in longest]


@pytest.mark.parametrize(
    ("source", "prediction", "reference", "authors", "other"),
    [
        ("", "", "", 0.0, 1.0),
        ("a b c d", "", "a b c d", 0.0, 0.0),
        ("a b c d", "", "", 1.0, 1.0),
        ("", "a b c d", "a b c d", 1.0, 1.0),
        ("a b c d", "a b c d", "", 0.0, 0.0),
    ],
)
def test_empty_texts(source, prediction, reference, authors, other):
    for zero_recall, expected in (("authors", authors), ("gec-metrics", other)):
        result = Green(Settings(zero_recall=zero_recall)).score([source], [prediction], [[reference]])
        assert [result.score, *result.scores] == [expected, expected]


def test_amu_on_conll_2014(gjg15, conll_2014):
    # AMU with two references, beta 2 (the default): the authors' tool prints .792482, gec-metrics .792311.
    for zero_recall, printed in (("authors", "0.792482"), ("gec-metrics", "0.792311")):
        result = Green(Settings(zero_recall=zero_recall, gold_m2=conll_2014)).score(gjg15.sources, gjg15.outputs["AMU"])
        assert f"{result.score:.6f}" == printed
