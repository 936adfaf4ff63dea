"""What a teacher says of groups of texts, which it reads as trees of prefixes."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.scorers.impara_lm import qualities
from recipes.distillation.groups import SHARD, Group
from recipes.distillation.teacher import Teacher, prefix_tree, read_scores, score_groups, shard_file

FLOAT = RunTime(dtype="float32")
GROUPS = [
    Group(("the cat sit on the mat .", "the cat sat on the mat .", "the cats sat on mats")),
    Group(("a dog likes", "a dogs like")),
]


def test_what_sequences_begin_with_alike_is_one_path():
    tree = prefix_tree([[9, 1, 3, 2], [9, 1, 2], [9, 1]])
    assert tree.ids.tolist() == [9, 1, 2, 3, 2]
    assert tree.parents.tolist() == [0, 0, 1, 1, 3]
    assert tree.depths.tolist() == [0, 1, 2, 2, 3]
    assert tree.last.tolist() == [4, 2, 1]
    assert [np.flatnonzero(path).tolist() for path in tree.paths()] == [[0, 1, 3, 4], [0, 1, 2], [0, 1]]


@pytest.fixture(scope="module")
def teacher(merged):
    return Teacher(resolve(str(merged)), FLOAT, 64)


def test_values_are_those_of_the_metric(teacher, merged):
    reader = CausalModel.load(resolve(str(merged)), FLOAT)
    for scored in teacher.score(GROUPS):
        assert scored.values == pytest.approx(qualities(reader, 1.0, scored.group.texts, FLOAT), abs=1e-4)


def test_texts_that_are_too_long_are_left_out(merged):
    short = Teacher(resolve(str(merged)), FLOAT, 12)
    (scored,) = short.score([Group(("a cat", "the mat " * 20, "a dog"))])
    assert scored.group == Group(("a cat", "a dog"))
    assert list(short.score([Group(("a cat", "the mat " * 20))])) == []


def test_a_damaged_shard_is_named(teacher, tmp_path):
    score_groups(lambda: teacher, GROUPS, tmp_path)
    shard = shard_file(tmp_path, 0)
    shard.write_bytes(shard.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"shard-00000.safetensors: damaged; remove it"):
        list(read_scores(tmp_path, 2))


def test_scoring_goes_on_with_the_first_missing_shard(teacher, tmp_path):
    groups = [Group((f"cat {number}", f"the cat {number}")) for number in range(2 * SHARD)]
    score_groups(lambda: teacher, groups, tmp_path)
    assert {scored.group for scored in read_scores(tmp_path, len(groups))} == set(groups)
    first, kept = shard_file(tmp_path, 0).stat().st_mtime_ns, load_file(shard_file(tmp_path, 1))
    shard_file(tmp_path, 1).unlink()
    score_groups(lambda: teacher, groups, tmp_path)
    assert shard_file(tmp_path, 0).stat().st_mtime_ns == first
    again = load_file(shard_file(tmp_path, 1))
    assert all(np.array_equal(kept[name], again[name]) for name in kept)
    score_groups(lambda: pytest.fail("nothing is missing"), groups[:SHARD], tmp_path)
