"""Labels of error detection: the four schemes, and which token each edit labels."""

import pytest

from geceval.edits.edit import Edit
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.ged_labels import LABELS, label_ids, token_labels

# The published label code gives these edits and labels for
# "This is sample sentece . dummy" -> "This is a sample sentence ."
SOURCE = "This is sample sentece . dummy"
EDITS = [Edit(2, 2, "a", "M:DET"), Edit(3, 4, "sentence", "R:SPELL"), Edit(5, 6, "", "U:NOUN")]
EXPECTED = {
    2: ["CORRECT", "CORRECT", "INCORRECT", "INCORRECT", "CORRECT", "INCORRECT"],
    4: ["CORRECT", "CORRECT", "M", "R", "CORRECT", "U"],
    25: ["CORRECT", "CORRECT", "DET", "SPELL", "CORRECT", "NOUN"],
    55: ["CORRECT", "CORRECT", "M:DET", "R:SPELL", "CORRECT", "U:NOUN"],
}


def names(source, edits, classes, **options):
    return [LABELS[classes][label] for label in token_labels(source, edits, classes, **options)]


@pytest.mark.parametrize("classes", [2, 4, 25, 55])
def test_the_published_example(classes):
    assert names(SOURCE, EDITS, classes) == EXPECTED[classes]


def test_ids_of_the_schemes():
    """Ids as listed in the published label files."""
    assert [len(labels) for labels in LABELS.values()] == list(LABELS) == [2, 4, 25, 55]
    assert all(len(set(labels)) == len(labels) for labels in LABELS.values())
    expected = {
        25: {0: "CORRECT", 1: "ADJ", 5: "DET", 7: "NOUN:POSS", 15: "VERB:TENSE", 16: "ADJ:FORM", 21: "SPELL", 24: "WO"},
        55: {1: "M:ADJ", 15: "M:VERB:TENSE", 16: "R:ADJ", 30: "R:VERB:TENSE", 31: "R:ADJ:FORM", 36: "R:SPELL",
             39: "R:WO", 40: "U:ADJ", 54: "U:VERB:TENSE"},
    }  # fmt: skip
    for classes, ids in expected.items():
        assert {number: LABELS[classes][number] for number in ids} == ids
        assert all(label_ids(classes)[label] == number for number, label in ids.items())


def test_the_example_as_errant_extracts_it():
    (edits,) = get_annotator("bundled").edits([(SOURCE, "This is a sample sentence .")])
    assert names(SOURCE, edits, 4) == EXPECTED[4]
    assert names(SOURCE, edits, 55)[2:4] == ["M:DET", "R:SPELL"]


def test_spans_label_all_their_tokens_whatever_the_operation():
    # ERRANT gives M: to an edit with tokens on both sides: "Doctor said" -> "The doctor said"
    assert token_labels("Doctor said it", [Edit(0, 1, "The doctor", "M:DET")], 4) == [1, 0, 0]
    assert token_labels("a b c d", [Edit(1, 3, "x", "R:OTHER")]) == [0, 1, 1, 0]


def test_later_edits_overwrite_earlier_ones():
    edits = [Edit(1, 1, "the", "M:DET"), Edit(1, 2, "cat", "R:SPELL")]
    assert names("see caat now", edits, 25) == ["CORRECT", "SPELL", "CORRECT"]
    assert names("see caat now", edits[::-1], 25) == ["CORRECT", "DET", "CORRECT"]


def test_an_insertion_at_the_end_is_not_lost_and_gives_way_to_an_edit_of_the_last_token():
    final = Edit(2, 2, ".", "M:PUNCT")
    assert names("He left", [final], 4) == ["CORRECT", "M"]
    assert names("He left", [final, Edit(2, 2, "!", "M:OTHER")], 55) == ["CORRECT", "M:OTHER"]
    spelt = Edit(1, 2, "left", "R:SPELL")
    assert names("He leff", [spelt, final], 4) == names("He leff", [final, spelt], 4) == ["CORRECT", "R"]


def test_what_labels_nothing():
    noop, uncorrected = Edit(-1, -1, "", "noop"), Edit(0, 1, "", "UNK")
    for classes in LABELS:
        assert token_labels("a b", [noop, uncorrected], classes) == token_labels("a b", [], classes) == [0, 0]
    assert token_labels("", [Edit(0, 0, "a", "M:DET")]) == []
    assert token_labels("a  b", [Edit(1, 2, "c", "R:NOUN")]) == [0, 1]  # two spaces are no token


@pytest.mark.parametrize("kind", ["ArtOrDet", "", "R:FOO", "X:DET", "M", "R:CORRECT"])
def test_types_that_are_not_those_of_errant(kind):
    edits = [Edit(0, 1, "b", kind)]
    assert token_labels("a", edits) == [1]
    for classes in (4, 25, 55):
        with pytest.raises(ValueError, match=rf"edit \(0, 1, 'b'\) has the type '{kind}'.*need ERRANT edits"):
            token_labels("a", edits, classes)


def test_types_that_an_operation_does_not_have():
    """55 classes know SPELL as a replacement only."""
    edits = [Edit(0, 1, "b", "M:SPELL")]
    assert names("a", edits, 25) == ["SPELL"]
    with pytest.raises(ValueError, match="M:SPELL"):
        token_labels("a", edits, 55)


def test_options_are_checked():
    with pytest.raises(ValueError, match="classes must be one of 2, 4, 25, 55, got 3"):
        token_labels("a", [], 3)
    with pytest.raises(ValueError, match=r"edit \(2, 3, 'x'\) lies beyond the 1 tokens of 'a'"):
        token_labels("a", [Edit(2, 3, "x", "R:NOUN")])
