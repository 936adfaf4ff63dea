"""The grid search for SOME's weights against loops over the grid, ties, splits and bad input."""

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from geceval.meta.agreement import Pairs, agreement
from geceval.meta.tune_weights import split_pairs, tune_on_sentences, tune_on_systems, weight_grid


def make_pairs(systems: int, sentences: int, rng) -> Pairs:
    """Every pair of systems on every sentence, with a random preference, sometimes none."""
    pairs = list(itertools.combinations(range(systems), 2))
    rows = [(sentence, i, j, rng.integers(-1, 2)) for sentence in range(sentences) for i, j in pairs]
    return Pairs(*np.array(rows).T)


def test_the_grid_is_that_of_the_paper():
    grid = weight_grid()
    assert grid.shape == (4851, 3)  # section 5.2: .01 to .98 in steps of .01; 99 * 98 / 2 triples
    assert len({tuple(row) for row in grid.round(2).tolist()}) == 4851
    assert (grid.min(), grid.max()) == (0.01, 0.98)
    assert grid.sum(axis=1) == pytest.approx(1)
    for published in ((0.55, 0.43, 0.02), (0.01, 0.98, 0.01), (0.84, 0.01, 0.15), (0.86, 0.13, 0.01)):
        assert (grid == published).all(axis=1).sum() == 1


def test_systems_equal_a_loop_with_scipy():
    rng = np.random.default_rng(0)
    scores, human = rng.normal(size=(12, 3)), rng.normal(size=12)
    found = tune_on_systems(scores, human)
    values = [pearsonr(scores @ row, human).statistic for row in weight_grid()]
    assert found.value == pytest.approx(max(values), abs=1e-12)
    assert found.weights == tuple(weight_grid()[int(np.argmax(values))])
    assert found.tied == 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sentences_equal_a_loop_over_agreement(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(4, 9, 3))
    scores[3, ::2] = scores[1, ::2]  # systems that wrote the same text
    pairs = make_pairs(4, 9, rng)
    monkeypatch.setattr("geceval.meta.tune_weights.BLOCK", 7)
    found = tune_on_sentences(scores, pairs)
    grid = weight_grid()[:: 4851 // 60]
    values = [agreement(pairs, scores @ row, "drop").kendall for row in grid]
    assert found.value >= max(values) - 1e-12
    again = agreement(pairs, scores @ np.array(found.weights), "drop")
    assert found.value == pytest.approx(again.kendall, abs=1e-12)


def test_kendall_leaves_ties_of_either_side_out():
    # One output each of three systems; the last two are the same text. People: 0 over 1, 0 over 2, and 1 = 2.
    scores = np.array([[[0.9, 0.5, 0.1]], [[0.5, 0.5, 0.1]], [[0.5, 0.5, 0.1]]])
    pairs = Pairs(np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1, -1, 0]))
    found = tune_on_sentences(scores, pairs)
    assert found.value == 0.0  # one concordant, one discordant, whatever the weights
    assert found.tied == 4851
    # Without ties this is scipy's tau.
    one = np.array([[[0.9, 0.9, 0.9]], [[0.5, 0.5, 0.5]], [[0.7, 0.7, 0.7]]])
    people = Pairs(np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1, 1, 1]))
    assert tune_on_sentences(one, people).value == pytest.approx(kendalltau([0.9, 0.5, 0.7], [3, 2, 1]).statistic)


def test_of_equally_good_triples_the_middle_one_is_taken():
    # Grammaticality says one thing and meaning the opposite: all triples with more of the former are perfect.
    scores = np.array([[[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]]])
    pairs = Pairs(np.array([0]), np.array([0]), np.array([1]), np.array([1]))
    found = tune_on_sentences(scores, pairs)
    good = weight_grid()[weight_grid()[:, 0] > weight_grid()[:, 2]]
    assert (found.value, found.tied) == (1.0, len(good))
    assert np.abs(np.array(found.weights) - good.mean(axis=0)).max() < 0.01


def test_no_sentence_is_in_both_parts():
    pairs = make_pairs(5, 50, np.random.default_rng(0))
    dev, test = split_pairs(pairs, 0.1, seed=3)
    assert len(np.unique(dev.sentence)) == 5
    assert not set(dev.sentence.tolist()) & set(test.sentence.tolist())
    assert len(dev.human) + len(test.human) == len(pairs.human)
    again, other = split_pairs(pairs, 0.1, seed=3)[0], split_pairs(pairs, 0.1, seed=4)[0]
    assert again.sentence.tolist() == dev.sentence.tolist() != other.sentence.tolist()


@pytest.mark.parametrize(
    ("scores", "human", "message"),
    [
        (np.zeros((2, 3)), [1, 2], "at least three"),
        (np.eye(3), [1, 1, 1], "not all equal"),
        (np.eye(3), [1, 2, np.inf], "finite numbers"),
        (np.ones((3, 3)), [1, 2, 3], "equal scores under all weights"),
    ],
)
def test_bad_systems(scores, human, message):
    with pytest.raises(ValueError, match=message):
        tune_on_systems(scores, human)


def test_bad_sentences():
    pairs = make_pairs(3, 4, np.random.default_rng(0))
    with pytest.raises(ValueError, match="no pair of different outputs"):
        tune_on_sentences(np.ones((3, 4, 3)), pairs)
    for share, message in (1.0, "must lie between 0 and 1"), (0.1, "leaves one part empty"):
        with pytest.raises(ValueError, match=message):
            split_pairs(pairs, share)
