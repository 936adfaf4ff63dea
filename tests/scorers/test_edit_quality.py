"""The judge of single edits: what it reads, its network against torch, counts, and texts at the borders."""

import numpy as np
import pytest
import torch

from geceval import registry
from geceval.edits.edit import Edit, common_ends
from geceval.models.edit_judge import FEATURES, HIDDEN, WINDOW, EditHead, features, surface
from geceval.scorers.edit_quality import EditQuality, contexts

SOURCE = "He go to the school every days ."


@pytest.fixture(scope="module")
def bundled():
    scorer = EditQuality()
    scorer.load()
    return scorer


def test_an_edit_is_read_after_all_others():
    edits = [Edit(1, 2, "goes"), Edit(3, 4, "")]
    corrected = "He goes to school every days ."
    befores = ["He go to school every days .", "He goes to the school every days ."]
    assert contexts(SOURCE, edits) == [(before, corrected) for before in befores]


def test_no_more_than_a_window_is_read_after_an_edit(bundled):
    words = " ".join("very" for _ in range(WINDOW))
    pairs = [(f"He go {words} {end} .", f"He goes {words} {end} .") for end in ("far", "abc def")]
    read = features(bundled._judge.model, pairs)
    assert read[0, :30] == pytest.approx(read[1, :30], abs=1e-5)
    early = [(f"He go far {words}", f"He goes far {words}"), (f"He go near {words}", f"He goes near {words}")]
    one, other = features(bundled._judge.model, early)[:, :30]
    assert np.abs(one - other).max() > 0.1


@pytest.mark.parametrize(
    ("left", "right", "ends"),
    [("abcd", "abxd", (2, 1)), ("ab", "ab", (2, 0)), ("aa", "aaa", (2, 0)), ("", "a", (0, 0)), ("ba", "ca", (0, 1))],
)
def test_common_ends_do_not_overlap(left, right, ends):
    assert common_ends(left, right) == ends


def test_surface_of_an_insertion_and_of_an_inflection():
    inserted = surface("go to school .", "go to the school .")
    assert inserted[:6] == [True, False, 0, 1, -1, 0.0]
    assert inserted[9] and not inserted[8]  # `the` is a function word; nothing was there before
    inflected = surface("he go .", "he goes .")
    assert inflected[2:6] == [1, 1, 0, pytest.approx(2 / 3)]  # difflib: 2 * 2 / (2 + 4)


def test_network_equals_torch():
    draw = torch.Generator().manual_seed(1)
    hidden, output = torch.nn.Linear(FEATURES, HIDDEN).double(), torch.nn.Linear(HIDDEN, 1).double()
    rows = torch.randn(5, FEATURES, generator=draw, dtype=torch.float64)
    mean, deviation = torch.zeros(FEATURES), torch.full((FEATURES,), 0.5)
    tensors = {"mean": mean, "deviation": deviation, "hidden.weight": hidden.weight, "hidden.bias": hidden.bias}
    tensors |= {"output.weight": output.weight[0], "output.bias": output.bias}
    head = EditHead({name: tensor.detach().numpy() for name, tensor in tensors.items()})
    with torch.no_grad():
        expected = output(torch.nn.functional.gelu(hidden((rows / 0.5).clip(-6, 6))))[:, 0]
    assert head.logits(rows.numpy()) == pytest.approx(expected.numpy(), abs=1e-9)


def test_counts_are_sums_of_probabilities(bundled):
    predictions = ["He goes to school every day .", "He go to the school every days ."]
    result = bundled.score([SOURCE, SOURCE], predictions)
    chances = [edit["probability"] for edit in result.details["edits"][0]]
    assert len(chances) == 3
    assert result.details["tp"] == pytest.approx(sum(chances))
    assert result.details["tp"] + result.details["fp"] == pytest.approx(3)
    assert result.scores == pytest.approx([np.mean(chances), 1.0])
    assert result.score == pytest.approx(np.mean(chances))
    assert bundled.aggregate(result.statistics[[0, 0, 1]]) == pytest.approx(np.mean(chances))
    assert result.details["fn"] >= 1  # the detector finds an error in the unchanged sentence


def test_judges_given_edits_as_it_judges_those_that_errant_finds(bundled):
    prediction = "He goes to school every day ."
    (rows,) = bundled.score([SOURCE], [prediction]).details["edits"]
    edits = [Edit(row["start"], row["end"], row["correction"]) for row in rows]
    (chances,) = bundled.judge([SOURCE], [edits[::-1]])
    assert chances == pytest.approx([row["probability"] for row in rows])


@pytest.mark.parametrize(
    ("source", "prediction", "edits"),
    [
        *(("", "", 0), ("He ran .", "", 1), ("", "He ran .", 1)),
        ("ran fast", "He ran fast .", 2),  # insertions at both ends
        ("I and you went .", "You and I went .", 2),  # two halves of one change
    ],
)
def test_texts_at_the_borders(bundled, source, prediction, edits):
    result = bundled.score([source], [prediction])
    (found,) = result.details["edits"]
    assert len(found) == edits
    assert all(0 < edit["probability"] < 1 for edit in found)
    assert result.scores[0] == (1.0 if not edits else pytest.approx(np.mean([e["probability"] for e in found])))


def test_overlapping_edits_are_refused(bundled):
    with pytest.raises(ValueError, match="overlap"):
        bundled.judge([SOURCE], [[Edit(1, 3, "goes"), Edit(2, 4, "at the")]])


def test_whole_rewrite_and_no_edits(bundled):
    whole, none = bundled.judge([SOURCE, SOURCE], [[Edit(0, 8, "Daily he attends school !")], []])
    assert whole.shape == (1,) and 0 < whole[0] < 1
    assert none.shape == (0,)
    assert bundled.judge([], []) == []


def test_bundled_judge_knows_plain_cases(bundled):
    sources = ["She like cats .", "I am agree with you .", "She likes cats .", "The weather is nice today ."]
    predictions = ["She likes cats .", "I agree with you .", "She likes the of cats .", "The weather is nicely today ."]
    scores = bundled.score(sources, predictions).scores
    assert min(scores[:2]) > 0.5 > max(scores[2:])


def test_a_checkpoint_without_a_head_is_refused():
    with pytest.raises(ValueError, match=r"edit_quality: .*impara_lm.*lacks geceval_base"):
        registry.make_scorer("edit_quality", {"model": "bundled:impara_lm"}).load()
