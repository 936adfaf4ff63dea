"""The tokens of a source in prose."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geceval.text.projection import project, with_marks_of
from geceval.text.tokenisers import detokenise

CASES = [  # source in tokens, prose, its tokens
    ("I do n't know .", "I don't know.", "I do n't know ."),
    ("I don't know .", "I don't know.", "I don't know ."),  # tokens are the source's, not the tokeniser's
    ("He can not go .", "He cannot go!", "He can not go !"),
    ("He cannot go .", "He cannot go!", "He cannot go !"),
    ("I dont know", "I dont, know", "I dont , know"),
    ("I do nt know", "I dont, know", "I do nt , know"),
    ("some times we go", "sometimes we go", "sometimes we go"),  # a correction, no trace of tokenisation
    ("a lot", "alot", "alot"),
    ("alot", "a lot", "a lot"),
    ("well - known men", "the well-known men", "the well - known men"),
    ("well-known men", "the well-known men", "the well-known men"),
    ("his/her book", "his/her books.", "his/her books ."),
    ("( see below )", "(see above)", "( see above )"),
    ("word(s) are", "The word(s) is", "The word(s) is"),
    ("of the U.S. army", "of the U.S. armies.", "of the U.S. armies ."),
    ("10 am or 10am", "10am or 10am", "10 am or 10am"),
    ("wait ... no", "wait... no", "wait ... no"),
    ("end.Then go", "end. Then go.", "end . Then go ."),  # what the learner glued is no model where it is parted
    ("I go , he said", "“I go,” he says", "“ I go , ” he says"),
    ("", "Hello, you.", "Hello , you ."),
    ("gone .", "", ""),
]


@pytest.mark.parametrize(("source", "prose", "tokens"), CASES)
def test_tokens_are_those_of_the_source_where_both_agree(source, prose, tokens):
    assert project(prose, source.split(), "ptb") == tokens


def test_hyphens_elsewhere_are_those_of_the_sources():
    assert project("a so-called well-known man", ["a", "well-known", "man"], "ptb") == "a so-called well-known man"
    assert project("a so-called well-known man", ["a", "man"], "ptb", True) == "a so - called well - known man"


@pytest.mark.parametrize(
    ("source", "prose", "paired", "text"),
    [
        ('He \'s " here "', "He’s “here”", False, 'He\'s "here"'),
        ("He ’s “ here ”", 'He\'s "here"', False, "He’s “here”"),
        ("He said `` yes ''", 'He says "yes"', True, "He says ``yes''"),
        ("He said yes", '"Yes," he says', True, "``Yes,'' he says"),
        ("-LRB- so -RRB-", "(so)", False, "-LRB-so-RRB-"),
        ("a - b", "a — b–c", False, "a - b-c"),
        ("don`t", "don't", False, "don't"),  # a wrong mark is corrected
        ("« yes »", '"yes"', False, '"yes"'),
        ("it ''s", '"it"', False, '"it"'),
    ],
)
def test_marks_are_those_of_the_source(source, prose, paired, text):
    assert with_marks_of(prose, source.split(), paired) == text


_WORDS = "a I can not cannot do n't don't dont nt 's it's well well-known 10 am é 𝕏 猫 -LRB-"
_SIGNS = "- , . ... … “ ” ` `` '' ' ’ ( ) % /"
_PIECES = st.sampled_from([*_WORDS.split(), *_SIGNS.split(), '"', "\n", "\u00a0"])
_TEXTS = st.one_of(st.text(max_size=30), st.lists(_PIECES, max_size=12).flatmap(
    lambda parts: st.sampled_from([" ", ""]).map(lambda joint: joint.join(parts))
))  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(_TEXTS, _TEXTS, st.sampled_from(["ptb", "13a", "char", "whitespace"]), st.booleans())
def test_no_character_is_lost_and_no_space(prose, source, tokeniser, hyphens):
    tokens = project(prose, source.split(), tokeniser, hyphens).split(" ")
    assert "".join(tokens) == "".join(prose.split())
    assert all(tokens) or tokens == [""]
    ends = {len("".join(prose.split()[:number])) for number in range(len(prose.split()) + 1)}
    assert ends <= {len("".join(tokens[:number])) for number in range(len(tokens) + 1)}


@settings(max_examples=200, deadline=None)
@given(_TEXTS, st.booleans())
def test_tokens_of_a_source_stay(source, hyphens):
    tokens = source.split()
    assert project(source, tokens, "ptb", hyphens) == " ".join(tokens)
    assert with_marks_of(source, tokens, "``" in tokens) == source or with_marks_of(source, tokens).split() == tokens


@settings(max_examples=200, deadline=None)
@given(_TEXTS, _TEXTS)
def test_projecting_twice_changes_nothing(prose, source):
    once = project(prose, source.split(), "ptb")
    again = project(once, once.split(), "ptb")
    assert again == once


def test_detokenised_sources_get_their_tokens_back():
    sources = ["I do n't think so , she 's ( very ) old .", 'The " U.S. " spent $ 10 % of it ; why ?']
    sources.append("He 'll can not-go .")
    assert [project(detokenise(source), source.split(), "ptb") for source in sources] == sources
