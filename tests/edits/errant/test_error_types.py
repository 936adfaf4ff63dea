"""Types for the edits of M2 files, in one process or several."""

from geceval.edits.edit import Edit
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.errant.error_types import with_types
from geceval.edits.m2 import M2Sentence


def test_types_of_every_annotator():
    sentence = M2Sentence(
        "She go to school .", {0: [Edit(1, 2, "goes")], 4: [], 7: [Edit(0, 3, "She go to", "x", 7)]}, 5
    )
    (typed,) = with_types([sentence], get_annotator("bundled"))
    assert typed == M2Sentence(
        "She go to school .",
        {0: [Edit(1, 2, "goes", "R:VERB:SVA")], 4: [], 7: [Edit(0, 3, "She go to", "UNK", 7)]},
        5,
    )


def test_processes_change_nothing():
    sentences = [
        M2Sentence(f"He like {'very ' * (number % 7)}dogs", {0: [Edit(1, 2, "likes")]}) for number in range(600)
    ]
    annotator = get_annotator("bundled")
    assert with_types(sentences, annotator, workers=2) == with_types(sentences, annotator)
