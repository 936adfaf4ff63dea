"""Attacks by rule: what each makes of a tokenised sentence and of prose."""

import random

import pytest

from geceval.meta import attacks

TOKENISED = "He go to school by bus , too ."
PROSE = "He go to school by bus, too."
STATIC = {name: attack for family in attacks.FAMILIES.values() for name, attack in family.items()}


@pytest.mark.parametrize(
    ("name", "tokenised", "prose"),
    [
        ("constant", "The children are playing in the garden .", "The children are playing in the garden."),
        ("full stop", ".", "."),
        ("empty", "", ""),
        ("first half", "He go to school by .", "He go to school."),  # of nine tokens, of seven words
        ("first five words", "He go to school by .", "He go to school by."),
        ("source twice", f"{TOKENISED} {TOKENISED}", f"{PROSE} {PROSE}"),
        ("source + constant", f"{TOKENISED} {attacks.CONSTANT}", f"{PROSE} The children are playing in the garden."),
        ("constant + source", f"{attacks.CONSTANT} {TOKENISED}", f"The children are playing in the garden. {PROSE}"),
        ("I think that", "I think that he go to school by bus , too .", "I think that he go to school by bus, too."),
        ("Of course", "Of course , he go to school by bus , too .", "Of course, he go to school by bus, too."),
        ("order to the judge", f"{TOKENISED} {attacks.ORDER}", f"{PROSE} {attacks.ORDER[:-2]}."),
        ("two commas", "He go to , school by bus , , too .", "He go, to school, by bus, too."),
        ("!", f"{TOKENISED} !", f"{PROSE}!"),
        ("look-alikes", "Не gо tо sсhооl bу bus , tоо .", "Не gо tо sсhооl bу bus, tоо."),
        ("zero-width", "He go to sc\u200bhool by bus , too .", "He go to sc\u200bhool by bu\u200bs, to\u200bo."),
        ("UPPER", "HE GO TO SCHOOL BY BUS , TOO .", "HE GO TO SCHOOL BY BUS, TOO."),
        ("lower", "he go to school by bus , too .", "he go to school by bus, too."),
        ("double spaces", "He  go  to  school  by  bus  ,  too  .", "He  go  to  school  by  bus,  too."),
        ("detokenised", PROSE, PROSE),
    ],
)
def test_static_attacks(name, tokenised, prose):
    assert (STATIC[name](TOKENISED), STATIC[name](PROSE)) == (tokenised, prose)


def test_every_static_attack_is_tested():
    (mark,) = test_static_attacks.pytestmark
    assert {name for name, *_ in mark.args[1]} == set(STATIC)


@pytest.mark.parametrize("text", ["", "Yes", ".", "   "])
def test_short_texts_have_an_outcome(text):
    for attack in STATIC.values():
        assert isinstance(attack(text), str)
    for flip in attacks.FLIPS.values():
        assert flip(text) == []
    assert attacks.prefixes(text) == []


def test_contractions_are_detokenised():
    assert attacks.detokenised("She does n't know ( yet ) ; it 's late .") == "She doesn't know (yet); it's late."


def test_openings_leave_names_of_the_speaker_and_abbreviations():
    assert attacks.opened("I go .", "I think that") == "I think that I go ."
    assert attacks.opened("A dog barks .", "I think that") == "I think that a dog barks ."
    assert attacks.opened("TV is bad .", "I think that") == "I think that TV is bad ."


@pytest.mark.parametrize(
    ("flip", "text", "flipped"),
    [
        ("not", "He is here .", ["He is not here ."]),
        ("not", "He is not here .", ["He is here ."]),
        ("not", "He does n't go .", ["He does go ."]),
        ("not", "I can't go, but he will.", ["I can go, but he will.", "I can't go, but he will not."]),
        ("not", "I won't go.", ["I will go."]),
        ("numbers", "Two of 35 men", ["Five of 35 men", "Two of 38 men"]),
        ("names", "Anna met Bob in Rome .", ["Anna met Martin in Rome .", "Anna met Bob in Beijing ."]),
        ("names", "I came . We met on Friday .", ["I came . We met on Monday ."]),
        ("antonyms", "An easy exam", ["A difficult exam"]),
        ("names", "He met an American .", ["He met a German ."]),
        ("antonyms", "a difficult exam", ["an easy exam"]),
        ("antonyms", "Good is never bad .", ["Bad is never bad .", "Good is always bad .", "Good is never good ."]),
        ("pronouns", "I like him .", ["You like him .", "I like her ."]),
        ("pronouns", "Now I am at my home .", ["Now I am at your home ."]),
        ("tense", "I was ill and she is well .", ["I am ill and she is well .", "I was ill and she was well ."]),
        ("tense", "He made me go to see it .", ["He makes me go to see it .", "He made me went to see it ."]),
        ("two words swapped", "He goes , he says .", ["goes He , he says .", "He goes , says he ."]),
        ("two words swapped", "had had", []),
    ],
)
def test_flips(flip, text, flipped):
    assert attacks.FLIPS[flip](text) == flipped


def test_prefixes_lack_the_last_word():
    assert attacks.prefixes("He go home .") == ["He .", "He go ."]
    assert attacks.prefixes("He go home.") == ["He.", "He go."]


def test_concatenations_hold_the_source():
    texts = attacks.concatenations(TOKENISED)
    assert len(texts) == len(set(texts)) == 8 + 2 * 8
    assert all(TOKENISED[1:] in text for text in texts)


def test_proposals_of_a_search():
    words = TOKENISED.split()
    shorter = attacks.deletions(TOKENISED, random.Random(1), 50)
    assert {len(words) - len(text.split()) for text in shorter} == {1, 2, 3}
    assert all(text.startswith("He") or text.endswith(".") for text in shorter)  # one gap, not several
    varied = attacks.variations(TOKENISED, random.Random(1), 50)
    again, other = (attacks.variations(TOKENISED, random.Random(seed), 50) for seed in (1, 2))
    assert varied == again != other
    assert {len(text.split()) - len(words) for text in varied} == {-3, -2, -1, 0, 1}
    assert attacks.variations("", random.Random(1), 5) == attacks.deletions("", random.Random(1), 5) == []
