"""Model cards are made from the results of their runs."""

import pytest

from geceval.core.files import ASSETS
from geceval.learning.cards import impara_card, impara_lm_card, table
from geceval.learning.runs import read_results


@pytest.mark.parametrize(
    ("name", "card"), [("impara", impara_card), ("impara_ged", impara_card), ("smollm2_impara", impara_lm_card)]
)
def test_bundled_cards_are_made_from_their_results(name, card):
    folder = ASSETS / name
    assert (folder / "README.md").read_text(encoding="utf-8") == card(read_results(folder), folder)


def test_a_table_rounds_floats_alone():
    assert table(("a", "b"), [(1, 0.12345), ("x", 2.0)]) == "| a | b |\n| --- | --- |\n| 1 | 0.123 |\n| x | 2.000 |"
