"""What a distillation can learn from and be measured on."""

import csv

import numpy as np
import pytest

from geceval.core.errors import InputError
from geceval.learning.recipe import Recipe
from recipes.distillation.groups import Group
from recipes.distillation.run import Job, hold_apart, rated_groups
from recipes.distillation.teacher import Scored


def told(*values):
    return Scored(Group(tuple(map(str, range(len(values))))), np.array(values, np.float32))


def test_groups_that_measure_nothing_are_refused():
    rows = [told(0, 0.3), told(1, 1), told(0, 2)]
    with pytest.raises(InputError, match=r"\(held\): no two texts of a sentence differ by 0.4 or more"):
        hold_apart(rows, 2)
    assert hold_apart([told(0, 0.4), *rows], 1)[1] == rows


def test_ratings_that_measure_nothing_are_refused(tmp_path):
    path = tmp_path / "toy.csv"
    with path.open("w", newline="") as file:
        rows = [["source", "output", "ave_g", "ave_f", "ave_m"], ["s", "a", 2, 2, 2], ["s", "b", 2.3, 2.3, 2]]
        csv.writer(file).writerows(rows)
    with pytest.raises(InputError, match=r"toy.csv: no two texts of a sentence differ by 0.4 or more"):
        rated_groups(path)


@pytest.mark.parametrize("recipe", [Recipe(lora_rank=4), Recipe(dropout=0.1)])
def test_a_student_learns_with_all_its_weights(recipe, tmp_path):
    with pytest.raises(InputError, match="no lora_rank and no dropout"):
        Job(m2=(tmp_path,), recipe=recipe)
