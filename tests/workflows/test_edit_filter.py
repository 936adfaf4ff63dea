"""Corrections without their doubtful edits, in tokens and in prose, and where texts have no ends in common."""

import dataclasses
import itertools

import pytest

import geceval
from geceval.edits.edit import Edit, apply
from geceval.edits.verdict import verdict
from geceval.workflows.edit_filter import JudgedCorrection, judge_edits

TOKENS = ("However he do n't goes home .", "However , he does n't go to home .")
PROSE = ("However he don't goes home.", "However, he doesn't go to home.")
EDITS = (Edit(1, 1, ","), Edit(2, 3, "does"), Edit(4, 5, "go to"))  # of ERRANT, without types

# Which edits are kept, and what is left, in tokens and in prose.
SUBSETS = [
    ((1, 0, 0), "However , he do n't goes home .", "However, he don't goes home."),
    ((0, 1, 0), "However he does n't goes home .", "However he doesn't goes home."),
    ((0, 0, 1), "However he do n't go to home .", "However he don't go to home."),
    ((1, 1, 0), "However , he does n't goes home .", "However, he doesn't goes home."),
    ((1, 0, 1), "However , he do n't go to home .", "However, he don't go to home."),
    ((0, 1, 1), "However he does n't go to home .", "However he doesn't go to home."),
]


def keeping(correction, kept):
    """The filtered text where the judge is sure of some edits, and sure that the others are wrong."""
    return dataclasses.replace(correction, probabilities=tuple(map(float, kept))).filtered(0.5)


@pytest.fixture(scope="module")
def judged():
    """Corrections in four pairings of tokens and prose; the sources and predictions of each."""
    pairs = {"tokens": TOKENS, "prose": PROSE, "mixed": (TOKENS[0], PROSE[1]), "tokenised": (PROSE[0], TOKENS[1])}
    return {name: judge_edits([pair[0]], [pair[1]])[0] for name, pair in pairs.items()}


def test_edits_and_probabilities_are_those_of_edit_quality(judged):
    each = judged["prose"]
    found, expected = ([(edit.start, edit.end, edit.correction) for edit in edits] for edits in (each.edits, EDITS))
    assert found == expected
    details = geceval.load("edit_quality").compute(sources=[PROSE[0]], predictions=[PROSE[1]])["edits"][0]
    assert list(each.probabilities) == [edit["probability"] for edit in details]


@pytest.mark.parametrize(("kept", "tokens", "prose"), SUBSETS)
def test_an_undone_edit_leaves_the_words_of_the_source(judged, kept, tokens, prose):
    assert keeping(judged["tokens"], kept) == tokens
    assert keeping(judged["prose"], kept) == prose
    # What differs in form from its source has that of the prediction.
    assert keeping(judged["mixed"], kept) == prose
    assert keeping(judged["tokenised"], kept) == tokens


ODD = [
    ("He  have\ta cat\u00a0here .", "He  has\ta cat\u00a0there ."),
    ("He said “I goes”  home…", 'He said "I go" to home...'),
    (" lead and trail  ", "leads an trail "),
    ("(He don`t) say ``no'' .", '( He does n\'t ) says "no" .'),
    ("I like cats .", ""),
    ("", "I like cats ."),
    ("a b c d e f", "He went to the shop"),
    ("\U0001f600 i goes", "I go \U0001f600"),
]


@pytest.mark.parametrize(("source", "prediction"), [TOKENS, PROSE, *ODD])
def test_with_all_edits_or_none_no_character_changes(source, prediction):
    (each,) = judge_edits([source], [prediction])
    assert each.filtered(0.0) == prediction
    if each.texts[0] == source:
        assert keeping(each, [0] * len(each.edits)) == source
    for kept in itertools.product([0, 1], repeat=len(each.edits)):
        left = [edit for edit, keep in zip(each.edits, kept, strict=True) if keep]
        letters = "".join(filter(str.isalpha, keeping(each, kept)))
        assert letters == "".join(filter(str.isalpha, apply(each.source, left)))


@pytest.mark.parametrize(
    ("source", "edits", "kept", "expected"),
    [
        ("b c", [Edit(0, 0, "a"), Edit(2, 2, "d")], (0, 1), "b c d"),  # insertions at both ends
        ("b c", [Edit(0, 0, "a"), Edit(2, 2, "d")], (1, 0), "a b c"),
        ("a b", [Edit(0, 0, "x"), Edit(0, 1, "y")], (0, 1), "y b"),  # an insertion before a replacement
        ("a b", [Edit(0, 0, "x"), Edit(0, 1, "y")], (1, 0), "x a b"),
        ("a b c", [Edit(0, 1, ""), Edit(1, 2, "y")], (1, 0), "b c"),  # neighbours, one undone
        ("a b c", [Edit(0, 1, ""), Edit(1, 2, "y")], (0, 1), "a y c"),
        ("a b c", [Edit(1, 2, "x"), Edit(2, 3, "")], (0, 1), "a b"),
        ("a b c", [Edit(0, 1, ""), Edit(3, 3, "a")], (0, 1), "a b c a"),  # two halves of one change of word order
        ("a b c", [Edit(0, 3, "x y")], (0,), "a b c"),  # a sentence that is written anew
        ("a", [Edit(0, 1, "")], (1,), ""),
        ("a", [Edit(0, 0, "x"), Edit(0, 1, "")], (1, 0), "x a"),
    ],
)
def test_edits_that_touch(source, edits, kept, expected):
    prediction = apply(source, edits)
    texts = (source, prediction)
    each = JudgedCorrection(source, tuple(edits), tuple(map(float, kept)), texts, tuple(map(str.split, texts)))
    assert each.filtered(0.5) == expected == apply(source, each.kept(0.5))


def test_the_function_takes_columns_and_answers_of_language_models():
    assert geceval.filter_edits(list(TOKENS), list(TOKENS), least=1.0) == list(TOKENS)
    answer = "Corrected sentence: However, he doesn't go to home."
    assert geceval.filter_edits([PROSE[0]], [answer], least=0.0, text="answers") == [PROSE[1]]
    assert geceval.filter_edits([PROSE[0]], [answer], least=1.0, text="answers") == [PROSE[0]]
    with pytest.raises(ValueError, match=r"least must lie between 0 and 1, got 1\.5"):
        geceval.filter_edits(["a"], ["b"], least=1.5)
    for least in ("x", True, None):
        with pytest.raises(TypeError, match=r"least must be a number, got (str 'x'|bool True|None)"):
            geceval.filter_edits(["a"], ["b"], least=least)
    with pytest.raises(ValueError, match=r"filter: 1 source but 2 predictions"):
        geceval.filter_edits(["a"], ["b", "c"])


def test_probabilities_in_words():
    for words, chances in {"doubtful": (0, 0.7749), "probably right": (0.775, 0.8999), "right": (0.9, 1)}.items():
        assert [verdict(chance) for chance in chances] == [words] * 2


def test_what_filter_cannot_judge_is_told(caplog):
    sources = [f"The {name} have a red house near the sea ." for name in ("man", "dog", "king", "boy", "cook", "girl")]
    learners = ["A man see the dog .", "My father eat bread .", "Birds sings at night .", "We likes soup a lot ."]
    learners += ["Nobody know this town .", "It rain every day here ."]
    geceval.filter_edits(learners, [*learners[1:], learners[0]])
    assert any("is a line missing or doubled there?" in text for text in caplog.messages)
    caplog.clear()
    geceval.filter_edits(sources, sources)
    assert not caplog.messages
    german = ["Ich habe nach Hause gegangen und die Tür ist nicht offen .", "Der Hund und die Katze sind nicht hier ."]
    geceval.filter_edits(german * 3, german * 3)
    assert any("the judge of edits reads English only" in text for text in caplog.messages)
    assert not any("text around the correction" in text for text in caplog.messages)
    geceval.filter_edits([PROSE[0]], [f"Sure! Here is the corrected sentence: {PROSE[1]}"])
    assert any("filter: 1 prediction has text around the correction" in text for text in caplog.messages)
