"""M2: published figures, both averages, annotators, the quirks as options, and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, write_m2
from geceval.meta.correlation import correlate_systems
from geceval.scorers.m2 import M2, Settings

# The example of the official scorer's README, reconstructed: the texts and the scores .8/.8/.8 are remembered, and the
# count of 5 gold edits follows from them, so that annotator 1 finds nothing wrong with the second sentence.
OTTERS = [Edit(2, 3, "are"), Edit(3, 4, ""), Edit(5, 6, "predators")]
EXAMPLE = [
    M2Sentence("The cat sat at mat .", {0: [Edit(3, 4, "on"), Edit(4, 4, "the", alternatives=("a",))]}),
    M2Sentence("The dog .", {0: [Edit(1, 2, "dogs")], 1: []}),
    M2Sentence("Giant otters is an apex predator .", {0: OTTERS, 1: [Edit(1, 2, "otter")]}),
]
SOURCES = [sentence.source for sentence in EXAMPLE]
FIRST = ["A cat sat on the mat .", "The dog .", "Giant otters are apex predator ."]
# The README's second system scores .7500/.6000/.7143, that is 3 of 4 edits and 3 of 5 gold edits: one match less.
SECOND = ["A cat sat on the mat .", "The dog .", "Giant otters are an apex predator ."]


@pytest.fixture
def against(tmp_path):
    """A function that scores predictions against the gold edits of each source."""

    def score(sources, predictions, gold, **options):
        path = tmp_path / "gold.m2"
        write_m2(path, [M2Sentence(*row) for row in zip(sources, gold, strict=True)])
        return M2(Settings(gold_m2=str(path), **options)).score(sources, predictions)

    return score


@pytest.fixture
def scored(against):
    """A function that scores predictions on the example."""

    def score(predictions, **options):
        return against(SOURCES, predictions, [sentence.edits for sentence in EXAMPLE], **options)

    return score


@pytest.mark.parametrize(
    ("predictions", "precision", "recall", "f", "counts"),
    [(FIRST, 0.8, 0.8, 0.8, (4, 1, 1)), (SECOND, 0.75, 0.6, 0.7143, (3, 1, 2))],
)
def test_example_of_the_official_scorer(scored, predictions, precision, recall, f, counts):
    result = scored(predictions)
    found = [result.details[name] for name in ("precision", "recall", "f")]
    assert found == pytest.approx([precision, recall, f], abs=5e-5)
    assert result.score == result.details["f"]
    assert tuple(result.details[name] for name in ("tp", "fp", "fn")) == counts
    assert result.details["annotators"] == [0, 1, 0]


def test_sentence_average(scored):
    """2 of 3 and 2 of 2; nothing to do for annotator 1; 2 of 2 and 2 of 3."""
    result = scored(FIRST, average="sentence")
    expected = [1.25 * 2 / (0.25 * 2 + 3), 1.0, 1.25 * 2 / (0.25 * 3 + 2)]
    assert result.scores == pytest.approx(expected)
    assert result.score == pytest.approx(sum(expected) / 3)
    assert scored(FIRST).scores == result.scores
    assert result.details["f"] == pytest.approx(0.8)


def test_beta(scored):
    assert scored(SECOND, beta=1.0).score == pytest.approx(2 * 0.75 * 0.6 / 1.35)
    assert scored(SECOND, beta=2.0).score == pytest.approx(5 * 0.75 * 0.6 / (4 * 0.75 + 0.6))


def test_references_as_gold():
    references = ["He goes to the school", ["a b", "a c"]]
    result = M2().score(["He go to school", "a b"], ["He goes to school", "a b"], references)
    assert result.scores == pytest.approx([1.25 / (0.25 * 2 + 1), 1.0])
    assert result.details["annotators"] == [0, 0]
    assert (result.details["tp"], result.details["fp"], result.details["fn"]) == (1, 0, 1)


def test_duplicated_gold_counts_twice_and_is_warned_of(against, caplog):
    """The official scorer has this precision, too: tests/golden/m2.json."""
    assert against(["a b"], ["x b"], [{0: [Edit(0, 1, "x")] * 2}]).details["precision"] == 2
    assert "sort them and leave out repeats" in caplog.text


def test_unchanged_words_within_an_edit(against):
    wide = [{0: [Edit(0, 5, "x a b c y")]}]
    texts = ["s a b c t"], ["x a b c y"]
    assert against(*texts, wide, max_unchanged_words=3).score == 1


def test_too_large_a_sentence_is_reported(caplog):
    source = " ".join(f"s{i}" for i in range(80))
    prediction = " ".join(f"p{i}" for i in range(80))
    result = M2().score(["a b", source], ["a b", prediction], ["a b", prediction])
    assert result.details["single_path"] == [1]
    assert "(first: sentence 2)" in caplog.text
    assert result.score == 1


DISTINCT = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True).map(" ".join)


@given(st.lists(st.tuples(DISTINCT, st.tuples(DISTINCT, DISTINCT)), min_size=1, max_size=5), st.integers(0, 1))
def test_a_reference_scores_1_where_no_word_repeats(corpus, which):
    """Where words repeat, the official scorer can lose an insertion: see tests/edits/maxmatch/test_extraction.py."""
    sources, references = map(list, zip(*corpus, strict=True))
    result = M2().score(sources, [row[which] for row in references], list(map(list, references)))
    assert (result.score, result.scores) == (1, [1] * len(sources))


# Ng et al. (2014), official results of the CoNLL-2014 shared task without alternative answers: P, R, F0.5 in percent.
OFFICIAL = {
    "CAMB": (39.71, 30.10, 37.33),
    "CUUI": (41.78, 24.88, 36.79),
    "AMU": (41.62, 21.40, 35.01),
    "POST": (34.51, 21.73, 30.88),
    "NTHU": (35.08, 18.85, 29.92),
    "RAC": (33.14, 14.99, 26.68),
    "UMC": (31.27, 14.46, 25.37),
    "PKU": (32.21, 13.65, 25.32),
    "SJTU": (30.11, 5.10, 15.19),
    "UFC": (70.00, 1.72, 7.84),
    "IPN": (11.28, 2.85, 7.09),
    "IITB": (30.77, 1.39, 5.90),
}


@pytest.fixture(scope="module")
def results(gjg15, conll_2014):
    """Results of all systems that took part, and of the unchanged input."""
    scorer = M2(Settings(gold_m2=conll_2014))
    return {name: scorer.score(gjg15.sources, texts) for name, texts in gjg15.outputs.items()}


def test_official_results_of_conll_2014(results):
    for name, official in OFFICIAL.items():
        details = results[name].details
        assert tuple(round(100 * details[key], 2) for key in ("precision", "recall", "f")) == official, name


@pytest.mark.parametrize(
    ("sentence", "expected"),
    # Gong et al. (2022), Table 4: Pearson and Spearman with Expected Wins, then with TrueSkill.
    [(False, (0.623, 0.687, 0.672, 0.720)), (True, (0.871, 0.731, 0.864, 0.758))],
    ids=["M2", "SentM2"],
)
def test_correlation_with_people(results, gjg15, sentence, expected):
    scores = {name: sum(r.scores) / len(r.scores) if sentence else r.score for name, r in results.items()}
    found = [correlate_systems(scores, gjg15.scores[kind], list(scores)) for kind in ("ew", "ts")]
    assert [agreement.pearson for agreement in found] == pytest.approx(expected[0::2], abs=0.005)
    assert [agreement.spearman for agreement in found] == pytest.approx(expected[1::2], abs=0.0005)


def test_every_real_sentence_is_searched_in_full(results):
    assert {name: result.details["single_path"] for name, result in results.items()} == dict.fromkeys(results, [])
