"""Model cards are made from the results of their runs."""

import pytest

from geceval.core.files import ASSETS
from geceval.learning.card_parts import table
from geceval.learning.ged.card import ged_card
from geceval.learning.impara.card import impara_card
from geceval.learning.runs import read_results


@pytest.mark.parametrize(
    ("name", "card"), [("ged", ged_card), ("ged_25", ged_card), ("impara", impara_card), ("impara_ged", impara_card)]
)
def test_bundled_cards_are_made_from_their_results(name, card):
    folder = ASSETS / name
    assert (folder / "README.md").read_text(encoding="utf-8") == card(read_results(folder), folder)


def test_a_table_rounds_floats_alone():
    assert table(("a", "b"), [(1, 0.12345), ("x", 2.0)]) == "| a | b |\n| --- | --- |\n| 1 | 0.123 |\n| x | 2.000 |"
