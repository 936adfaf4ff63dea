"""What a student learns at its nodes, from a teacher with a larger vocabulary."""

import numpy as np
import pytest
import transformers

from geceval.core.options import RunTime
from geceval.learning.distillation.groups import Group
from geceval.learning.distillation.student import cut_tokenizer
from geceval.learning.distillation.targets import Translation
from geceval.learning.distillation.teacher import Scored, Teacher, token_rows
from geceval.learning.distillation.trees import prefix_tree
from geceval.models.checkpoints import resolve


@pytest.fixture(scope="module")
def tokenizer(merged):
    return transformers.AutoTokenizer.from_pretrained(merged)


def scored_by_hand(tokenizer, text, top):
    """A text as a teacher scores it that gives every node the same likeliest tokens, a dictionary of probabilities."""
    tree = prefix_tree(token_rows(tokenizer, 0, [text]))
    shape = (len(tree.ids), 1)
    ids = np.tile(tokenizer.convert_tokens_to_ids(list(top)), shape).astype(np.int32)
    log_probs = np.log(np.tile(list(top.values()), shape)).astype(np.float16)
    return Scored(Group((text,)), tree, np.zeros(1), np.full(len(tree.ids), -30, np.float16), ids, log_probs)


def test_what_the_student_lacks_goes_to_its_first_piece_and_between_pieces_the_text_is_learnt(tokenizer):
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    student = cut_tokenizer(tokenizer, [number for number, name in enumerate(names) if name != "\u0120cat"])
    text, pieces = "the cat sat", student.tokenize("the cat sat")
    assert tokenizer.tokenize(text) == ["the", "\u0120cat", "\u0120sat"]
    first, second = pieces[1:3]
    assert first + second == "\u0120cat" and first in names  # two pieces
    scored = scored_by_hand(tokenizer, text, {"\u0120cat": 0.5, first: 0.125, "\u0120sat": 0.25})
    tree = prefix_tree(token_rows(student, student.bos_token_id, [text]))
    ids, probabilities = Translation(tokenizer, student).targets(scored, tree)
    found = [
        dict(zip(student.convert_ids_to_tokens(row[values > 0]), values[values > 0].tolist(), strict=True))
        for row, values in zip(ids, probabilities, strict=True)
    ]
    usual = pytest.approx({first: 0.625, "\u0120sat": 0.25}, abs=1e-3)
    assert found == [usual, usual, {second: 1.0}, usual]


def test_with_the_same_vocabulary_targets_are_what_the_teacher_says(merged, tokenizer):
    teacher = Teacher(resolve(str(merged)), RunTime(dtype="float32"), 5, 64)
    (scored,) = teacher.score([Group(("the cat sat", "the dog sat", "a cat"))])
    tree = prefix_tree(token_rows(tokenizer, 0, scored.group.texts))
    ids, probabilities = Translation(tokenizer, tokenizer).targets(scored, tree)
    inner = np.unique(tree.parents[1:])
    assert ids.shape == (len(inner), 9)
    assert (ids[:, :5] == scored.top_ids[inner]).all()
    assert probabilities[:, :5] == pytest.approx(np.exp(scored.top_log_probs[inner]), abs=1e-3)
    row = inner.tolist().index(0)  # both ways to begin are targets, likely or not
    for node in np.flatnonzero(tree.depths == 1):
        found = probabilities[row][ids[row] == tree.ids[node]]
        assert found.max() == pytest.approx(np.exp(scored.log_probs[node]), abs=1e-3)
    assert (probabilities.sum(axis=1) <= 1.001).all()
