"""What metrics gain by single edits, against plain calls of the metric; references and kinds of edits."""

import numpy as np
import pytest

from geceval import registry
from geceval.corpora.edit_labels import LabelledEdit
from geceval.edits.edit import Edit, apply
from geceval.workflows.meta_evaluation import gains_by_edits, in_references, kinds_of_edits

SOURCE = "He go to school yesterday ."
WENT, THE, DELETED = Edit(1, 2, "went"), Edit(3, 3, "the"), Edit(4, 5, "")
TARGETS = {SOURCE: ["He went to school yesterday .", "He went to the school ."]}
DATA = [
    LabelledEdit(SOURCE, THE, False, (WENT, THE), "A"),
    LabelledEdit(SOURCE, WENT, True, (WENT, THE), "A"),
    LabelledEdit(SOURCE, DELETED, False, (WENT, THE, DELETED), "B"),
    LabelledEdit(SOURCE, WENT, False, (WENT, THE), "B"),
]


def alone(source: str, edit: Edit) -> LabelledEdit:
    return LabelledEdit(source, edit, True, (edit,))


def gleu(*edits: Edit) -> float:
    (score,) = registry.make_scorer("gleu").score([SOURCE], [apply(SOURCE, edits)], [TARGETS[SOURCE]]).scores
    return score


def test_alone():
    gains, signature = gains_by_edits(registry.make_scorer("gleu"), DATA, "add", TARGETS)
    assert gains == pytest.approx([gleu(each.edit) - gleu() for each in DATA], abs=1e-12)
    assert gains[1] == gains[3] > 0
    assert signature.startswith("gleu|")


def test_left_out():
    gains, _ = gains_by_edits(registry.make_scorer("gleu"), DATA, "sub", TARGETS)
    parts = [gleu(WENT, THE) - gleu(WENT), gleu(WENT, THE) - gleu(THE), gleu(WENT, THE, DELETED) - gleu(WENT, THE)]
    assert gains == pytest.approx([*parts, parts[1]], abs=1e-12)


def test_shapley():
    gains, _ = gains_by_edits(registry.make_scorer("gleu"), DATA[:2], "shapley", TARGETS)
    total = gleu(WENT, THE) - gleu()
    # Two players: the mean of what an edit gains alone and of what is lost without it.
    assert gains[0] == pytest.approx((gleu(THE) - gleu() + gleu(WENT, THE) - gleu(WENT)) / 2, abs=1e-12)
    assert gains.sum() == pytest.approx(total, abs=1e-12)


def test_insertions_at_one_place_keep_their_order():
    first, second = Edit(3, 3, "the"), Edit(3, 3, "old")
    rows = [LabelledEdit(SOURCE, edit, True, (first, second)) for edit in (second, first)]
    gains, _ = gains_by_edits(registry.make_scorer("gleu"), rows, "sub", TARGETS)
    both = gleu(first, second)
    assert gains == pytest.approx([both - gleu(first), both - gleu(second)], abs=1e-12)


def test_verdict_of_references():
    assert in_references(DATA, TARGETS).tolist() == [1, 1, 1, 1]
    assert in_references(DATA, {SOURCE: TARGETS[SOURCE][:1]}).tolist() == [0, 1, 0, 1]
    wide = alone(SOURCE, Edit(0, 2, "He went"))  # the same edit, with a word that it keeps
    assert in_references([wide], TARGETS).tolist() == [1]


def test_kinds():
    wide = alone(SOURCE, Edit(2, 3, "to the"))
    assert kinds_of_edits([*DATA[:3], wide], "operation").tolist() == ["M", "R", "U", "M"]
    assert kinds_of_edits(DATA[:2], "type").tolist() == ["DET", "VERB:TENSE"]


def test_prose_is_tokenised_for_its_kind():
    rows = [alone("However I like cat", Edit(0, 1, "However,")), alone("He likes cat.", Edit(2, 3, "cats."))]
    assert kinds_of_edits(rows, "operation").tolist() == ["M", "R"]
    assert kinds_of_edits(rows, "type").tolist() == ["PUNCT", "NOUN:NUM"]


def test_whether_a_text_is_prose_does_not_depend_on_other_rows():
    prose = alone("He go to school, yesterday.", Edit(1, 2, "goes"))
    targets = {**TARGETS, prose.source: ["He goes to school , yesterday ."]}
    apart, _ = gains_by_edits(registry.make_scorer("gleu"), [prose], "add", targets)
    among, _ = gains_by_edits(registry.make_scorer("gleu"), [*DATA, prose], "add", targets)
    assert among[-1] == apart[0] > 0


def test_an_edit_that_changes_nothing_gains_nothing():
    row = alone("a b", Edit(2, 2, ""))
    gains, _ = gains_by_edits(registry.make_scorer("gleu"), [row], "add", {"a b": ["a b"]})
    assert np.array_equal(gains, [0.0])
    assert kinds_of_edits([row], "type").tolist() == ["UNK"]


def test_the_judge_of_edits_says_itself_how_likely_each_is_right():
    judge = registry.make_scorer("edit_quality")
    odds, signature = gains_by_edits(judge, DATA, "sub", TARGETS)
    chances = [judge.judge([each.source], [each.together])[0][each.together.index(each.edit)] for each in DATA]
    assert 1 / (1 + np.exp(-odds)) == pytest.approx(chances, abs=1e-6)
    assert signature.startswith("edit_quality|")
    prose = alone("She like cats.", Edit(1, 2, "likes"))
    tokens = alone("She like cats .", Edit(1, 2, "likes"))
    (first, second), _ = gains_by_edits(judge, [prose, tokens], "add", TARGETS)
    assert first == pytest.approx(second, abs=1e-5)
    assert first > 0
