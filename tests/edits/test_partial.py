"""Some edits are made, the others move with the text."""

import itertools

import pytest

from geceval.edits.edit import Edit, apply
from geceval.edits.partial import partly_corrected

SOURCE = "this are sentence with with errors"
EDITS = [Edit(0, 1, "These"), Edit(2, 2, "a"), Edit(2, 3, "long sentence"), Edit(4, 5, ""), Edit(6, 6, ". Indeed .")]


def test_what_is_made_and_what_is_left_give_the_full_correction():
    full = apply(SOURCE, EDITS)
    assert full == "These are a long sentence with errors . Indeed ."
    for size in range(len(EDITS) + 1):
        for made in itertools.combinations(range(len(EDITS)), size):
            text, left = partly_corrected(SOURCE, EDITS, made)
            assert len(left) == len(EDITS) - size
            assert text == apply(SOURCE, [EDITS[place] for place in made])
            assert apply(text, left) == full


def test_edits_out_of_order_are_refused():
    with pytest.raises(ValueError, match="in the order of the sentence"):
        partly_corrected(SOURCE, EDITS[::-1], [0])
