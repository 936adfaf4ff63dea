"""Negatives by rule: exact texts of small cases, and the wordings that are kept out of training."""

import random

import pytest

from recipes.negatives import KINDS, Corpus, is_kept_out, make, neighbours

TEXT = "However , my brother Peter does not like cold water because he is two ."


@pytest.fixture(scope="module")
def corpus():
    return Corpus(
        ["We met Anna in the old garden yesterday .", "Luckily for us , it rained .", "", "Of course , it did ."]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_another_text_again_and_again(kind, corpus):
    sentence = corpus.sentences[0] if kind == "near_sentence" else TEXT
    made = {
        make(kind, sentence, Corpus([sentence, "They met Anna , too .", "It rained ."]), random.Random(seed))
        for seed in range(20)
    }
    assert made - {None}
    assert sentence not in made
    assert make(kind, sentence, corpus, random.Random(3)) == make(kind, sentence, corpus, random.Random(3))


@pytest.mark.parametrize(
    ("kind", "text", "made"),
    [
        ("doubled", "He ran .", {"He ran . He ran ."}),
        ("negated", "He is old .", {"He is not old .", "He is n't old .", "He is never old ."}),
        ("negated", "They know not .", {"They know ."}),
        ("number_changed", "We saw two .", {f"We saw {n} ." for n in ("three", "four", "five", "thousand", "hundred")}),
        ("number_changed", "We saw him .", {None}),
        ("name_changed", "Yesterday Peter came .", {"Yesterday Anna came ."}),
        ("clause", "He was at home because it rained all day .", {"He was at home .", "It rained all day ."}),
        ("content_dropped", "He saw water .", {"He saw .", "He water .", "He ."}),
        ("commas_added", "He ran home .", {"He , ran , home ."}),
        ("commas_added", "Yes .", {None}),
        ("tail_cut", "He ran .", {None}),
    ],
)
def test_texts_of_a_kind(kind, text, made, corpus):
    found = {make(kind, text, corpus, random.Random(seed)) for seed in range(200)}
    if kind == "number_changed" and made != {None}:
        assert made <= found
        assert all(text.startswith("We saw ") and text.endswith(" .") for text in found - {None})
    elif kind == "negated" and "not" in text:
        assert made <= found
    else:
        assert found - {None} == made - {None}


def test_openings_come_from_the_corpus_but_for_those_kept_out(corpus):
    assert "Luckily for us ," in corpus.openings
    assert not [opening for opening in corpus.openings if opening.startswith("Of course")]
    assert is_kept_out(["I", "think", "that"])
    assert not is_kept_out(["I", "think", "so"])
    for seed in range(200):
        made = make("filler_before", TEXT, corpus, random.Random(seed))
        assert made.endswith(TEXT[0].lower() + TEXT[1:]) or made.endswith(TEXT)
        assert not made.startswith(("Of course", "I think that", "First of all"))


def test_neighbours_share_rare_words():
    # "the" is in all sentences and weighs nothing; "cat" is in two.
    texts = ["the cat sat", "the cat ran home", "the dog slept", "the weather"]
    assert neighbours(texts) == {texts[0]: [texts[1]], texts[1]: [texts[0]], texts[2]: [], texts[3]: []}
