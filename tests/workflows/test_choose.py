"""`geceval.rerank`, `mbr`, `vote` and `oracle`: which of several corrections is taken."""

import itertools
import random

import numpy as np
import pytest

import geceval
from geceval.core.files import read_lines
from geceval.edits.voting import token_edits, voted_edits
from geceval.registry import make_scorer

SOURCES = ["He go to school .", "They sleeps .", "A cat sat ."]
SYSTEMS = {
    "a": ["He goes to school .", "They sleeps .", "A cat sat ."],
    "b": ["He goes to a school .", "They sleep .", "A cat sat ."],
    "c": ["He go to a school .", "They slept .", ""],
}
REFERENCES = [["He goes to school ."], ["They sleep ."], ["A cat sat ."]]
LISTS = [list(row) for row in zip(*SYSTEMS.values(), strict=True)]


def spans(edits):
    return [(edit.start, edit.end, edit.correction) for edit in edits]


def test_edits_are_differences_of_tokens():
    assert spans(token_edits("a b c d", "x a c  y z")) == [(0, 0, "x"), (1, 2, ""), (3, 4, "y z")]
    assert spans(token_edits("", "a")) == [(0, 0, "a")]
    assert token_edits("a  b", "a b") == []


def test_of_answers_the_corrections_are_chosen(caplog):
    source = ["He go to school.", "They sleeps."]
    answers = {
        "a": ["Sure! Here is the corrected sentence: He goes to school.", "Corrected: They sleep."],
        "b": ["He go to school.", "I am sorry, but I cannot help with that."],
    }
    best, options = ["He goes to school.", "They sleep."], {"text": "answers"}
    references = [[text] for text in best]
    assert geceval.rerank("gleu", source, answers, references, options={"gleu": options}).predictions == best
    assert "rerank: answers were cleaned: preamble 2; 1 refusal" in caplog.messages
    assert geceval.oracle("gleu", source, answers, references, options=options).predictions == best
    assert geceval.mbr("f0.5", source, [[text] for text in answers["a"]], options=options).predictions == best
    assert geceval.vote(source, {"a": answers["a"], "again": answers["a"]}, text="answers").predictions == best


@pytest.mark.parametrize(
    ("texts", "min_count", "kept"),
    [
        (["a x c d", "a x c d", "a b c"], 2, [(1, 2, "x")]),
        (["a x c d", "a x c d", "x y d", "x y d", "x y d"], 2, [(0, 3, "x y")]),  # nested: what more texts make
        (["a x y d", "a b z w"], 1, [(1, 3, "x y")]),  # overlapping, a vote each: further left
        (["a x c d", "a x y d"], 1, [(1, 2, "x")]),  # from one place: the shorter
        (["a x c d", "a y c d"], 1, [(1, 2, "x")]),  # of one span: that of the earlier text
        (["a x b c d", "a y b c d"], 1, [(1, 1, "x")]),  # insertions at one place
        (["a x c d", "a b x c d"], 1, [(1, 2, "x")]),  # an insertion beside a replacement
        (["x b c d", "a y c d"], 1, [(0, 1, "x"), (1, 2, "y")]),  # neighbours
        (["", "a b c d"], 1, [(0, 4, "")]),
    ],
)
def test_edits_that_many_make(texts, min_count, kept):
    assert spans(voted_edits("a b c d", texts, min_count)) == kept


def test_vote():
    chosen = geceval.vote(SOURCES, SYSTEMS)
    assert chosen.predictions == ["He goes to a school .", "They sleeps .", "A cat sat ."]
    assert chosen.indices == [1, 0, 0]  # "They sleeps .": no change has two votes
    assert geceval.vote(SOURCES, SYSTEMS, min_count=3).predictions == SOURCES
    assert geceval.vote(SOURCES, SYSTEMS, min_count=3).indices == [-1, 0, 0]
    assert geceval.vote(SOURCES, SYSTEMS, min_count=1).predictions[1] == "They sleep ."
    assert geceval.vote(SOURCES, LISTS).predictions == chosen.predictions
    assert geceval.vote(np.array(SOURCES), np.array(LISTS)) == geceval.vote(SOURCES, LISTS)
    assert chosen.signature.startswith("vote|text:auto|min_count:none|edits:difflib|")
    with pytest.raises(ValueError, match="min_count is 4, but no sentence has more than 3 candidates"):
        geceval.vote(SOURCES, SYSTEMS, min_count=4)
    with pytest.raises(ValueError, match="min_count must be at least 1"):
        geceval.vote(SOURCES, SYSTEMS, min_count=0)


def test_a_vote_is_in_the_form_of_its_candidates():
    sources = ['He said "I likes dog."  She go to school.', "Its 5 (five) o'clock now."]
    first = ['He said "I like dog."  She go to school.', "It's 5 (five) o'clock now."]
    second = ['He said "I like dog."  She goes to school.', "It's 5 (five) o'clock now."]
    third = ['He said "I likes dogs."  She goes to school.', "Its 5 (five) o'clock, now."]
    voted = geceval.vote(sources, {"1": first, "2": second, "3": third})
    assert voted.predictions == second and voted.indices == [1, 0]
    parts = geceval.vote(sources[:1], {"1": first[:1], "2": third[:1]}, min_count=1)
    assert parts.predictions == ['He said "I like dogs." She goes to school.'] and parts.indices == [-1]
    tokens = ['He said " I likes dog . " She go to school .']
    mixed = geceval.vote(tokens, {"1": first[:1], "2": third[:1]}, min_count=1)
    assert mixed.predictions == parts.predictions  # sources in tokens, candidates in prose


def test_the_vote_of_seven_systems_is_the_published_one(shared_data):
    """Omelianchuk et al. (2024), file `ens_m7`: M2 83.7 45.7 71.8."""
    systems = {path.name: read_lines(path) for path in sorted((shared_data / "pillars").glob("*.conll14.txt"))}
    sources, published = systems.pop("source.conll14.txt"), systems.pop("ens_m7.conll14.txt")
    assert len(systems) == 7
    assert geceval.vote(sources, systems).predictions == published


def test_rerank_takes_the_best_and_the_first_of_equal_ones():
    chosen = geceval.rerank("gleu", SOURCES, SYSTEMS, REFERENCES)
    assert chosen.predictions == [row[0] for row in REFERENCES] and chosen.indices == [0, 1, 0]
    assert chosen.signature.startswith("1 * gleu|")
    scores = [make_scorer("gleu").score(SOURCES, texts, REFERENCES).scores for texts in SYSTEMS.values()]
    assert chosen.values == np.array(scores).T.tolist()


def test_weights_multiply_the_scores():
    green, gleu = (np.array(geceval.rerank(name, SOURCES, SYSTEMS, REFERENCES).values) for name in ("green", "gleu"))
    chosen = geceval.rerank({"gleu": 2, "green": -0.5}, SOURCES, SYSTEMS, REFERENCES)
    assert chosen.values == pytest.approx(2 * gleu - 0.5 * green)
    assert chosen.indices == (2 * gleu - 0.5 * green).argmax(axis=1).tolist()
    assert geceval.rerank({"gleu": -1}, SOURCES, SYSTEMS, REFERENCES).indices == [2, 0, 2]
    with pytest.raises(ValueError, match="the weight of gleu must lie between"):
        geceval.rerank({"gleu": float("nan")}, SOURCES, SYSTEMS, REFERENCES)
    with pytest.raises(TypeError, match="the weight of gleu must be a number, got str '1'"):
        geceval.rerank({"gleu": "1"}, SOURCES, SYSTEMS, REFERENCES)


def test_lists_may_differ_in_length_and_repeat():
    lists = [["He goes to school .", "He goes to school .", "He go ."], [], ["A cat sits .", "A cat sat ."]]
    best = geceval.rerank("gleu", SOURCES, lists, REFERENCES)
    for chosen in (best, geceval.vote(SOURCES, lists), geceval.oracle("m2", SOURCES, lists, REFERENCES)):
        assert chosen.predictions == ["He goes to school .", "They sleeps .", "A cat sat ."]
        assert chosen.indices[:2] == [0, -1]
    assert list(map(len, best.values)) == [3, 0, 2]
    assert geceval.vote(SOURCES, [[], [], []]).predictions == SOURCES
    assert geceval.rerank("gleu", SOURCES, {"same": SOURCES}, REFERENCES).predictions == SOURCES


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({"a": SOURCES, "b": SOURCES[:2]}, "vote, b: 3 sources but 2 predictions; row 2 has no partner"),
        ([["x"]], "vote: 3 sources but 1 list of candidates"),
        (SOURCES, r"vote: candidates\[0\] must be a list of texts, got str"),
        ({}, "vote: there is nothing to choose from"),
        ([["x"], [None], ["y"]], r"vote, 1: predictions\[1\] must be a string, got None"),
        (None, r"candidates must be a list of texts for each sentence, or a dict of systems, got NoneType"),
        ([["x"], None, ["y"]], r"candidates\[1\] must be a list of texts, got NoneType"),
    ],
)
def test_mistakes_are_named(candidates, message):
    with pytest.raises((ValueError, TypeError), match=message):
        geceval.vote(SOURCES, candidates)


@pytest.mark.parametrize(
    ("utility", "values"),
    [  # edits: {go -> goes}, {go -> goes, + a}, {+ a}
        ("agreement", [1, 2, 1]),
        ("jaccard", [1 / 2, 1, 1 / 2]),
        ("recall", [1 / 2, 2, 1 / 2]),
        ("precision", [1, 1, 1]),
        ("f0.5", [1.25 / 1.5, 2 * 1.25 / 2.25, 1.25 / 1.5]),
    ],
)
def test_utilities_of_raina_and_gales(utility, values):
    chosen = geceval.mbr(utility, SOURCES, SYSTEMS)
    assert chosen.values[0] == pytest.approx(values)
    assert chosen.indices[0] == (0 if utility == "precision" else 1)
    empty = {"agreement": [0, 0, 0], "recall": [1, 1, 2], "precision": [2, 2, 0]}.get(utility, [1, 1, 0])
    assert chosen.values[2] == empty  # two without an edit, and one that deletes all


def test_a_metric_as_utility():
    chosen = geceval.mbr("gleu", SOURCES, SYSTEMS)
    gleu, (a, b, c) = make_scorer("gleu"), SYSTEMS.values()
    of_b = [gleu.score(SOURCES, b, [[text] for text in other]).scores[0] for other in (a, c)]
    assert chosen.values[0][1] == pytest.approx(sum(of_b)) and chosen.indices[0] == 1
    assert geceval.mbr("gleu", SOURCES, {"a": a}).indices == [0, 0, 0]
    with pytest.raises(ValueError, match="impara_lm takes no references"):
        geceval.mbr("impara_lm", SOURCES, SYSTEMS)
    with pytest.raises(ValueError, match="utility must be f0.5, jaccard"):
        geceval.mbr("f1", SOURCES, SYSTEMS)


def test_the_oracle_is_the_best_of_all_choices():
    """Every choice among three candidates of five sentences, with two annotators each."""
    rng, scorer = random.Random(4), make_scorer("m2")

    def near(text: str) -> str:
        return " ".join(rng.choice([word, word, rng.choice("xy")]) for word in text.split())

    sources = [near("a b c d") for _ in range(5)]
    systems = {name: [near(source) for source in sources] for name in "xyz"}
    references = [[near(source), near(source)] for source in sources]
    rows = [scorer.score(sources, texts, references).rows() for texts in systems.values()]
    choices = itertools.product(range(3), repeat=5)
    samples = np.array([[rows[k][i] for i, k in enumerate(choice)] for choice in choices])
    chosen = geceval.oracle("m2", sources, systems, references)
    assert scorer.score(sources, chosen.predictions, references).score == scorer.aggregate(samples).max() > 0
    assert geceval.oracle("gleu", SOURCES, SYSTEMS, REFERENCES).indices == [0, 1, 0]
