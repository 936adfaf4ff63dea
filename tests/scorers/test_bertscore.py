"""BERTScore by hand; tests/golden/test_golden.py has it beside the bert-score package."""

import pytest

from geceval.core.options import RunTime
from geceval.models.encoder import Encoder
from geceval.models.greedy_matching import default_layer
from geceval.scorers.bertscore import Bertscore, Settings

SOURCES = ["He go to school .", "I likes cat .", "It is a long day for all of us , is n't it ?", "A cat sat ."]
PREDICTIONS = ["He goes to school .", "I like the cats .", "It is a long day for us all , right ?", "A cat sat ."]
REFERENCES = [["He goes to school .", "He went to school ."], ["I like cats ."]]
REFERENCES += [["It has been a long day for us all , has n't it ?", SOURCES[2], "A long day !"]]
REFERENCES += [["The dog ran away quickly ."]]


def test_equal_texts_score_one_and_empty_texts_zero():
    result = Bertscore().score(["a", "b", "c"], ["A cat .", "", "A cat ."], [["A cat ."], ["A cat ."], [""]])
    assert result.scores == pytest.approx([1, 0, 0], abs=1e-6)


def test_the_best_reference_counts_for_each_statistic():
    one = [Bertscore().score([s], [p], [[r]]) for s, p, r in [("x", PREDICTIONS[0], r) for r in REFERENCES[0]]]
    both = Bertscore().score(["x"], [PREDICTIONS[0]], [REFERENCES[0]])
    for name in ("precision", "recall", "f"):
        assert both.details[name] == pytest.approx(max(result.details[name] for result in one), abs=1e-6)


@pytest.mark.parametrize(
    ("model", "layers", "layer"),
    [("bert-base-uncased", 12, 9), ("org/bert-base-uncased@main", 12, 9), ("/x/roberta-large/", 24, 17), ("my", 6, 5)],
)
def test_default_layer(model, layers, layer):
    assert default_layer(model, layers) == layer


def test_a_layer_that_is_not_there():
    with pytest.raises(ValueError, match="no layer 7; choose 1 to 6"):
        Bertscore(Settings(layer=7)).load()


def test_references_are_read_once_for_all_systems(monkeypatch):
    """The states of references stay; those of predictions, which differ from system to system, do not."""
    read = []
    states = Encoder.states
    monkeypatch.setattr(Encoder, "states", lambda self, texts, *rest: read.append(texts) or states(self, texts, *rest))
    scorer = Bertscore(Settings(layer=4), RunTime(cache=None))
    others = [f"{text} Yes ." for text in PREDICTIONS]
    scorer.score(SOURCES, PREDICTIONS, REFERENCES)
    second = scorer.score(SOURCES, others, REFERENCES)
    assert set(read[0]) == {*PREDICTIONS, *(text for row in REFERENCES for text in row)}
    assert read[1:] == [others]
    fresh = Bertscore(Settings(layer=4, max_length=100), RunTime(cache=None))
    assert second.scores == pytest.approx(fresh.score(SOURCES, others, REFERENCES).scores, abs=1e-6)
