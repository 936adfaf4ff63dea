"""N-gram counts, whether those of sources and references are cached for the next system or counted anew."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geceval
from geceval.scorers import gleu
from geceval.scorers.gleu import Gleu
from geceval.scorers.green import Green
from geceval.scorers.ngram import ngrams

words = st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join)
rows = st.tuples(words, words, st.lists(words, min_size=1, max_size=3))


@pytest.mark.parametrize("scorer", [Gleu(), Green()], ids=["gleu", "green"])
def test_the_system_before_leaves_no_trace(scorer):
    sources, references = ["a b c d e", "f g h"], [["a b x d e", "a b c d"], ["f g h i"]]
    systems = [["a b x d e", "f g h i"], ["a y c d e", "f z h"], ["a b z d e", "y g h i"]]
    cached = [scorer.score(sources, system, references) for system in systems]
    again = [scorer.score(sources, system, references) for system in reversed(systems)][::-1]
    anew = []
    for system in systems:
        geceval.clear_caches()
        anew.append(scorer.score(sources, system, references))
    assert [result.scores for result in cached] == [result.scores for result in again]
    assert [result.scores for result in cached] == [result.scores for result in anew]
    assert len({tuple(result.scores) for result in cached}) == 3


@given(st.lists(rows, min_size=2, max_size=9), st.integers(1, 60), st.sampled_from(["python2", "expectation"]))
def test_blocks_change_no_bit(corpus, block, sampler):
    sources, predictions, references = (list(column) for column in zip(*corpus, strict=True))
    for scorer in (Gleu(gleu.Settings(sampler=sampler, iterations=3)), Green()):
        whole = scorer.score(sources, predictions, references)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ngrams, "BLOCK_NGRAMS", block)
            patch.setattr(gleu, "BLOCK", 2)
            parts = scorer.score(sources, predictions, references)
        assert parts == whole
        assert (parts.rows() == whole.rows()).all()


@pytest.mark.parametrize("scorer", [Gleu(gleu.Settings(iterations=3)), Green()], ids=["gleu", "green"])
def test_blocks_bound_the_memory_of_n_grams(scorer, monkeypatch):
    texts = [" ".join(f"w{(7 * row + column) % 9973}" for column in range(20)) for row in range(5_000)]
    peaks = []
    for block in (20_000, 10**9):
        monkeypatch.setattr(ngrams, "BLOCK_NGRAMS", block)
        geceval.clear_caches()
        tracemalloc.start()
        scorer.score(texts, texts[1:] + texts[:1], [[text] for text in texts])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < peaks[1] / 3
