"""The cards of bundled checkpoints are made from the results of their runs."""

import pytest

from geceval.core.files import ASSETS
from geceval.learning.cards import impara_card, impara_lm_card, table
from geceval.learning.runs import read_results
from recipes.distillation.run import distillation_card
from recipes.edit_quality import edit_quality_card
from recipes.ged import ged_card
from recipes.meaning import meaning_card
from recipes.some import some_card

CARDS = {"ged": ged_card, "ged_25": ged_card, "some": some_card, "smollm2_some": some_card}
CARDS |= {"impara": impara_card, "impara_ged": impara_card, "smollm2_impara": impara_lm_card}
CARDS |= {"impara_lm": distillation_card, "meaning": meaning_card, "edit_quality": edit_quality_card}


@pytest.mark.parametrize("name", CARDS)
def test_bundled_cards_are_made_from_their_results(name):
    folder = ASSETS / name
    assert (folder / "README.md").read_text(encoding="utf-8") == CARDS[name](read_results(folder), folder)


def test_a_table_rounds_floats_alone():
    assert table(("a", "b"), [(1, 0.12345), ("x", 2.0)]) == "| a | b |\n| --- | --- |\n| 1 | 0.123 |\n| x | 2.000 |"
