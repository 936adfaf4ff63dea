"""Scribendi Score: its distances against golden values, its verdicts against a plain loop on small models."""

import numpy as np
import pytest

from geceval.core.cache import clear_caches
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.scorers.scribendi import Scribendi, Settings, similarity, token_sort_ratio

SOURCES = ["He go to school every days .", "She like cats .", "They are happy .", "", "a b", "It are wrong ."]
PREDICTIONS = ["He goes to school every day .", "She likes the cats .", "They are happy .", "New .", ""]
PREDICTIONS.append("It is wrong .")


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, make_causal):
    return make_causal(9, request.param)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [  # from fuzzywuzzy 0.18.0 with python-Levenshtein 0.27.5
        ("He go to school every days .", "every day he goes to school", 94),
        ("The Cat .", "the cat", 100),
        ("Don't go", "do n't go", 82),
        ("café au lait", "cafe au lait", 96),
        ("...", "!!!", 100),
        ("", "abc", 0),
        ("snake_case", "snake case", 50),
        ("Ελλάδα", "ελλάδα", 100),
        ("I like cats .", "I dislike dogs .", 40),
    ],
)
def test_token_sort_ratio_is_that_of_fuzzywuzzy(left, right, expected):
    assert token_sort_ratio(left, right) == expected


def test_the_larger_of_both_counts():
    assert similarity("every days he go", "he go every days") == 1.0  # distance ratio .5
    assert similarity("A-1", "A-2") == 0.67  # distance ratio 2/3, which token sort ratio rounds
    assert similarity("A cat", "A cat !!!!") == 1.0  # punctuation counts for the distance ratio only
    assert similarity("été", "hiver") == 0.0


def perplexity(folder, text):
    """By the model's own loop, which tests/models/test_causal.py holds against transformers."""
    return CausalModel.load(resolve(folder)).perplexities([text])[0]


def verdict(folder, source, prediction, threshold):
    if source == prediction:
        return 0.0
    if perplexity(folder, source) <= perplexity(folder, prediction):
        return -1.0
    return 1.0 if similarity(source, prediction) >= threshold else -1.0


@pytest.mark.parametrize("batch_size", [1, 64])
@pytest.mark.parametrize("threshold", [0.8, 0.0, 1.0])
def test_equals_a_plain_loop(folder, threshold, batch_size):
    sources, predictions = SOURCES + PREDICTIONS, PREDICTIONS + SOURCES  # of each pair, one direction is the better
    scorer = Scribendi(Settings(model=str(folder), threshold=threshold), RunTime(batch_size=batch_size))
    result = scorer.score(sources, predictions)
    expected = [verdict(folder, *pair, threshold) for pair in zip(sources, predictions, strict=True)]
    assert result.scores == expected
    assert result.score == sum(expected)
    assert scorer.aggregate(np.array([expected, expected[::-1]])).tolist() == [sum(expected)] * 2
    counts = {"positive": 1.0, "unchanged": 0.0, "negative": -1.0}
    assert result.details == {name: expected.count(value) for name, value in counts.items()}
    assert result.details["unchanged"] == 2
    assert (result.details["positive"] > 0) == (threshold < 1)


def test_all_unchanged_reads_nothing(folder, monkeypatch):
    monkeypatch.setattr(CausalModel, "_run", lambda *_: pytest.fail("read"))
    result = Scribendi(Settings(model=str(folder))).score(["a b c"] * 3, ["a b c"] * 3)
    assert (result.score, result.scores) == (0.0, [0.0] * 3)


def test_no_model_is_bundled():
    with pytest.raises(ValueError, match="no checkpoint 'scribendi' is bundled.*a Hub id or one of: 'smollm2'"):
        Scribendi(Settings(model="bundled")).load()


def test_where_gpt2_cannot_be_had_the_error_says_what_to_do_and_nothing_else_is_taken(monkeypatch, tmp_path, smollm2):
    """Although the large model is installed."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    clear_caches()
    with pytest.raises(ValueError, match="^scribendi: gpt2: .*the Hub is switched off.*hf download gpt2 .* folder"):
        Scribendi().load()
