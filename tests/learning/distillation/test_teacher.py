"""What a teacher says of groups of texts."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.learning.distillation.groups import SHARD, Group
from geceval.learning.distillation.teacher import Teacher, read_scores, score_groups, shard_file
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.scorers.impara_lm import qualities

FLOAT = RunTime(dtype="float32")
GROUPS = [
    Group(("the cat sit on the mat .", "the cat sat on the mat .", "the cats sat on mats")),
    Group(("a dog likes", "a dogs like")),
]


@pytest.fixture(scope="module")
def teacher(merged):
    return Teacher(resolve(str(merged)), FLOAT, 5, 64)


def test_values_are_those_of_the_metric(teacher, merged):
    reader = CausalModel.load(resolve(str(merged)), FLOAT)
    for scored in teacher.score(GROUPS):
        assert scored.values == pytest.approx(qualities(reader, 1.0, scored.group.texts, FLOAT), abs=1e-4)


def test_token_scores_are_those_of_the_model(teacher):
    scored = next(iter(teacher.score(GROUPS[:1])))
    row = scored.tree.ids[np.flatnonzero(scored.tree.paths()[0])]
    with torch.no_grad():
        expected = teacher.reader.model(input_ids=torch.tensor(row)[None]).logits[0].log_softmax(dim=1)
    nodes = np.flatnonzero(scored.tree.paths()[0])
    steps = expected[torch.arange(len(row) - 1), torch.tensor(row[1:])]
    assert scored.log_probs[nodes][1:] == pytest.approx(steps.numpy(), abs=5e-3)
    top = expected.topk(5)
    assert (scored.top_ids[nodes] == top.indices.numpy()).all()
    assert scored.top_log_probs[nodes] == pytest.approx(top.values.numpy(), abs=5e-3)


def test_texts_that_are_too_long_are_left_out(merged):
    short = Teacher(resolve(str(merged)), FLOAT, 5, 12)
    assert [scored.group for scored in short.score([Group(("a cat", "the mat " * 20, "a dog"))])] == [
        Group(("a cat", "a dog"))
    ]
    assert list(short.score([Group(("a cat", "the mat " * 20))])) == []


def test_groups_keep_their_order(teacher, tmp_path):
    score_groups(lambda: teacher, GROUPS[::-1], {}, tmp_path)  # the largest last
    assert [scored.group for scored in read_scores(tmp_path, 2)] == GROUPS[::-1]


def test_a_shard_may_be_empty(merged, tmp_path):
    short = Teacher(resolve(str(merged)), FLOAT, 5, 3)
    score_groups(lambda: short, GROUPS, {}, tmp_path)
    assert list(read_scores(tmp_path, 2)) == []


def test_a_damaged_shard_is_named(teacher, tmp_path):
    score_groups(lambda: teacher, GROUPS, {}, tmp_path)
    shard = shard_file(tmp_path, 0)
    shard.write_bytes(shard.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"shard-00000.safetensors: damaged; remove it"):
        list(read_scores(tmp_path, 2))


def test_no_more_tokens_are_kept_than_there_are(merged):
    with pytest.raises(InputError, match="top must be at most 289"):
        Teacher(resolve(str(merged)), FLOAT, 290, 64)


def test_scoring_goes_on_with_the_first_missing_shard(teacher, tmp_path):
    groups = [Group((f"cat {number}", f"the cat {number}")) for number in range(2 * SHARD)]
    score_groups(lambda: teacher, groups, {"a": 1}, tmp_path)
    whole = list(read_scores(tmp_path, len(groups)))
    assert {scored.group for scored in whole} == set(groups)
    first = shard_file(tmp_path, 0).stat().st_mtime_ns
    kept = load_file(shard_file(tmp_path, 1))
    shard_file(tmp_path, 1).unlink()
    score_groups(lambda: teacher, groups, {"a": 1}, tmp_path)
    assert shard_file(tmp_path, 0).stat().st_mtime_ns == first
    again = load_file(shard_file(tmp_path, 1))
    assert all(np.array_equal(kept[name], again[name]) for name in kept)
    with pytest.raises(InputError, match="scores of another teacher or other texts"):
        score_groups(lambda: teacher, groups, {"a": 2}, tmp_path)
    score_groups(lambda: pytest.fail("nothing is missing"), groups[:SHARD], {"a": 1}, tmp_path)
