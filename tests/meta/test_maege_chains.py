"""MAEGE: chains, pseudo scores, corpora and correlations by hand, and the numbers of real data."""

import itertools
import math

import numpy as np
import pytest

from geceval.meta import maege_chains as maege
from geceval.meta.maege_chains import AnnotatedSentence, Chain, Settings, make_chains, make_corpora


def put(source: str, edits) -> str:
    """An edit here is (position, word)."""
    words = source.split()
    for index, word in edits:
        words[index] = word
    return " ".join(words)


TWO = AnnotatedSentence("a b c d", {0: [(0, "A"), (2, "C")], 1: [(0, "A"), (1, "B"), (3, "D")]})
ONE = AnnotatedSentence("e f", {0: [(0, "E")]})
UNCHANGED = AnnotatedSentence("g h", {0: [(0, "G")], 1: []})
LONG = AnnotatedSentence("x . " * 80, {0: [(0, "X")], 1: [(2, "X")]})


def test_chains_by_hand():
    chains = make_chains([ONE, TWO, UNCHANGED, LONG], put, Settings(source="source"))
    assert [(chain.sentence, chain.annotator, len(chain.texts)) for chain in chains] == [(1, 0, 3), (1, 1, 4)]
    assert all(chain.texts[0] == chain.source == "a b c d" for chain in chains)
    assert [chain.texts[-1] for chain in chains] == ["A b C d", "A B c D"]
    # 1 - edits still to make / 4 words
    assert [chain.pseudo for chain in chains] == [(0.5, 0.75, 1.0), (0.25, 0.5, 0.75, 1.0)]
    for chain in chains:
        for before, after in itertools.pairwise(chain.texts):
            assert sum(a != b for a, b in zip(before.split(), after.split(), strict=True)) == 1


def test_pseudo_scores_by_characters_start_alike_and_step_differently():
    """Both start at 1 - (2 edits + 1) / 7 characters."""
    chains = make_chains([TWO], put, Settings(norm="chars"))
    assert chains[0].pseudo == pytest.approx((4 / 7, 11 / 14, 1))
    assert chains[1].pseudo == pytest.approx((4 / 7, 5 / 7, 6 / 7, 1))


def test_what_is_left_out():
    assert [chain.sentence for chain in make_chains([ONE, TWO], put, Settings(min_chains=1))] == [0, 1, 1]
    with pytest.raises(ValueError, match="none of the 2 sentences gives 2 chains; data of one annotator need min_cha"):
        make_chains([ONE, UNCHANGED], put)
    long_but_one = AnnotatedSentence(LONG.source.replace(" .", " y"), LONG.edits)
    assert len(make_chains([long_but_one], put)) == 2


def test_orders():
    """2! = 2 orders are fewer than 3, so that all are made; 3! = 6 are not fewer than 6, so that 6 are drawn."""
    texts = [chain.texts[1] for chain in make_chains([TWO], put, Settings(max_permutations=3)) if not chain.annotator]
    assert sorted(texts) == ["A b c d", "a b C d"]
    chains = make_chains([TWO], put, Settings(max_permutations=6))
    assert [chain.annotator for chain in chains] == [0] * 2 + [1] * 6
    assert len(make_chains([TWO], put, Settings(max_permutations=7))) == 2 + 6


def test_source_policies():
    """The policy changes no chain; a random source is one of its texts, the same for all of them."""
    data = [TWO] * 40
    plain = make_chains(data, put, Settings(source="source"))
    last = make_chains(data, put, Settings(source="ref"))
    drawn = make_chains(data, put, Settings(source="rand"))
    assert [chain.texts for chain in plain] == [chain.texts for chain in last] == [chain.texts for chain in drawn]
    assert all(chain.source == chain.texts[-1] for chain in last)
    indices = [chain.texts.index(chain.source) for chain in drawn if chain.annotator == 1]
    assert set(indices) == {0, 1, 2, 3}


def test_seeds():
    data = [TWO] * 10
    for make in (make_chains, make_corpora):
        assert make(data, put, Settings(seed=3)) == make(data, put, Settings(seed=3))
        assert make(data, put, Settings(seed=3)) != make(data, put, Settings(seed=4))


def test_corpora():
    many = AnnotatedSentence(" ".join("abcdefghijkl"), {n: [(k, "X") for k in range(12)] for n in (0, 1)})
    corpora = make_corpora([many, UNCHANGED] * 500, put)
    assert corpora.targets == tuple(range(11)) and len(corpora.texts[0]) == 500
    assert corpora.sentences == tuple(range(0, 1000, 2))
    made = [[text.count("X") for text in texts] for texts in corpora.texts]
    assert np.mean(made, axis=1).tolist() == list(corpora.edits)
    # Binomial(⌊k/p⌋, p) with p = (k - .9) / k: the sheet's expectations, not k itself
    expected = [0, 1, 1.65, 2.8, 3.875, 4.92, 5.95, 6.97, 7.99, 9, 9.1]
    assert list(corpora.edits) == pytest.approx(expected, abs=0.15)
    assert {annotator for row in corpora.annotators for annotator in row} == {0, 1}
    assert {text.count("X") for text in corpora.sources} >= {0, 1, 9, 10}


def test_corpora_sources_and_few_edits():
    corpora = make_corpora([TWO, ONE] * 20, put, Settings(source="source", max_edits=4))
    assert corpora.sources == corpora.texts[0] == ("a b c d", "e f") * 20
    assert max(corpora.edits) < 2.1  # ONE has a single edit, whatever was drawn
    assert make_corpora([TWO], put, Settings(source="ref")).sources == make_corpora([TWO], put).texts[-1]
    with pytest.raises(ValueError, match="none of the 1 sentences has edits of all its annotators"):
        make_corpora([UNCHANGED], put)


def chain(pseudo) -> Chain:
    return Chain(0, 0, "s", tuple(map(str, pseudo)), tuple(pseudo))


def test_chain_agreement_by_hand():
    """Of 6 + 1 pairs (1, 2), (1, 3), (2, 3), (1, 1) ... : 1 discordant, 2 tied."""
    chains = [chain([0.1, 0.2, 0.3, 0.4]), chain([0.5, 1.0])]
    found = maege.chain_agreement(chains, [[1.0, 3.0, 2.0, 3.0], [7.0, 7.0]])
    assert (found.pairs, found.discordant, found.tie_share) == (7, 1, 2 / 7)
    assert found.kendall == 1 - 2 / 7  # ties help
    assert found.kendall_without_ties == 1 - 2 / 5
    z = 2 / math.sqrt(7) - math.sqrt(7)
    assert found.p == pytest.approx(2 * (0.5 - 0.5 * math.erf(abs(z) / math.sqrt(2))))


def test_a_metric_that_sees_nothing_gets_full_marks_with_ties_only():
    found = maege.chain_agreement([chain([0.1, 0.2])], [[1.0, 1.0]])
    assert (found.kendall, found.tie_share) == (1.0, 1.0) and math.isnan(found.kendall_without_ties)
    assert math.isnan(maege.sentence_correlation([chain([0.1, 0.2])], [[1.0, 1.0]]).pearson)


def test_perfect_and_reversed_metrics():
    chains = make_chains([TWO] * 5, put)
    pseudo = [list(each.pseudo) for each in chains]
    assert maege.sentence_correlation(chains, pseudo).pearson == pytest.approx(1)
    assert maege.chain_agreement(chains, pseudo).kendall == 1
    reverse = [[-value for value in row] for row in pseudo]
    assert maege.sentence_correlation(chains, reverse).spearman == pytest.approx(-1)
    assert (
        maege.chain_agreement(chains, reverse).kendall
        == maege.chain_agreement(chains, reverse).kendall_without_ties
        == -1
    )
    corpora = make_corpora([TWO], put)
    assert maege.corpus_correlation(corpora, [k**3 for k in range(11)]).spearman == pytest.approx(1)


def test_bad_scores():
    chains = [chain([0.1, 0.2])]
    with pytest.raises(ValueError, match="one list per chain"):
        maege.chain_agreement(chains, [[1.0]])
    with pytest.raises(ValueError, match="chain 0 has a text without a finite score"):
        maege.sentence_correlation(chains, [[1.0, math.nan]])
    corpora = make_corpora([TWO], put)
    with pytest.raises(ValueError, match="corpus 3 has no finite score"):
        maege.corpus_correlation(corpora, [1.0, 2.0, 3.0, math.inf, *range(7)])
    with pytest.raises(ValueError, match="10 metric scores but 11"):
        maege.corpus_correlation(corpora, [1.0] * 10)


@pytest.mark.parametrize(
    ("path", "expected", "lines"),
    [
        # sentences, chains, texts, pairs of the published filters; lines of the corpora
        ("conll2014/official-2014.combined.m2", (808, 1616, 6437, 12411), 901),
        ("cweb/CWEB-G.test.m2", (586, 1172, 3326, 4277), None),
        ("cweb/CWEB-S.test.m2", (374, 748, 1843, 1611), None),
    ],
)
def test_real_data(shared_data, path, expected, lines):
    from geceval.edits.edit import apply
    from geceval.edits.m2 import read_m2

    data = [AnnotatedSentence(sentence.source, sentence.edits) for sentence in read_m2(shared_data / path)]
    chains = make_chains(data, apply)
    lengths = [len(each.texts) for each in chains]
    pairs = sum(math.comb(length, 2) for length in lengths)
    assert (len({each.sentence for each in chains}), len(chains), sum(lengths), pairs) == expected
    assert maege.chain_agreement(chains, [each.pseudo for each in chains]).pairs == pairs
    if lines is not None:
        assert len(make_corpora(data, apply, Settings(max_edits=1)).sentences) == lines
