"""PT-M2 and PT-ERRANT: weights and counts by hand, plain M2 as a special case, invariants."""

import numpy as np
import pytest

from geceval.core.f_score import Counts
from geceval.edits.edit import Edit
from geceval.scorers import pt_errant, pt_m2
from geceval.scorers.bertscore import Bertscore
from geceval.scorers.edit_based import pretrained_weights as pt
from geceval.scorers.m2 import M2
from geceval.scorers.m2 import Settings as M2Settings

SOURCES = ["He go to school by the bus .", "I likes cat .", "It is fine .", "She have two dog ."]
PREDICTIONS = ["He goes to school by bus .", "I like cats .", "It is very fine .", "She have two dog ."]
REFERENCES = [["He goes to school by bus .", "He went to school on the bus ."], ["I like cats .", "I like the cat ."]]
REFERENCES += [["It is fine ."], ["She has two dogs ."]]


def scores_by_table(table: dict[tuple[str, str], float]) -> pt.PairScorer:
    return lambda candidates, references: np.array([table[pair] for pair in zip(candidates, references, strict=True)])


GO, THE, A = Edit(1, 2, "goes"), Edit(5, 6, ""), Edit(5, 6, "a")
TABLE = {
    ("He go to school by the bus .", "R"): 0.50,
    ("He goes to school by the bus .", "R"): 0.80,  # u = GO: |.80 - .50| = .30
    ("He go to school by bus .", "R"): 0.60,  # u = THE: .10
    ("He go to school by a bus .", "R"): 0.45,  # u = A: |.45 - .50| = .05, a weight although it makes things worse
}


def test_weights_by_hand():
    comparison = pt.EditComparison(SOURCES[0], "R", [GO, A], [GO, THE], [(0, 0)])
    counts = pt.weighted_counts([comparison], scores_by_table(TABLE))[0]
    assert (counts.tp, counts.fp, counts.fn) == pytest.approx((0.30, 0.05, 0.10))
    # P = .3/.35, R = .3/.4
    assert counts.f(0.5) == pytest.approx(1.25 * (6 / 7) * 0.75 / (0.25 * (6 / 7) + 0.75))


def test_edits_that_all_weigh_nothing():
    flat = dict.fromkeys(TABLE, 0.5)
    comparison = pt.EditComparison(SOURCES[0], "R", [GO, A], [GO, THE], [(0, 0)])
    assert pt.weighted_counts([comparison], scores_by_table(flat)) == [Counts(0.0, 0.0, 0.0)]
    uniform = pt.weighted_counts([comparison], scores_by_table(flat), uniform_when_zero=True)[0]
    assert (uniform.tp, uniform.fp, uniform.fn) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_a_matched_alternative_weighs_what_it_weighs():
    gold = Edit(5, 6, "", alternatives=("a",))
    comparison = pt.EditComparison(SOURCES[0], "R", [A], [gold], [(0, 0)])
    counts = pt.weighted_counts([comparison], scores_by_table(TABLE))[0]
    assert (counts.tp, counts.fp, counts.fn) == (pytest.approx(0.05), 0.0, 0.0)


def test_self_weight_is_m2():
    for average in ("corpus", "sentence"):
        ours = pt_m2.PtM2(pt.Settings(weight="self", average=average))
        plain = M2(M2Settings(average=average))
        got, want = (scorer.score(SOURCES, PREDICTIONS, REFERENCES) for scorer in (ours, plain))
        assert got.score == pytest.approx(want.score)
        assert got.scores == pytest.approx(want.scores)
        assert got.details["tp"] == want.details["tp"]


def test_pt_m2_from_the_definition():
    """One sentence, one reference: w(u) from two BERTScores of whole sentences."""
    bertscore = Bertscore()

    def weight(text: str) -> float:
        made, unmade = (bertscore.score(["x"], [each], [[reference]]).score for each in (text, source))
        return abs(made - unmade)

    source, reference = SOURCES[0], REFERENCES[0][0]
    right = weight("He goes to school by the bus .")  # in both
    wrong = weight("He go at school by the bus .")  # in the prediction only
    missed = weight("He go to school by bus .")  # in the reference only
    result = pt_m2.PtM2().score([source], ["He goes at school by the bus ."], [[reference]])
    # "go to" -> "goes at" is one edit of MaxMatch unless the gold edit splits it, which it does here.
    assert result.details["tp"] == pytest.approx(right, abs=1e-5)
    assert result.details["fp"] == pytest.approx(wrong, abs=1e-5)
    assert result.details["fn"] == pytest.approx(missed, abs=1e-5)
    precision, recall = right / (right + wrong), right / (right + missed)
    assert result.score == pytest.approx(1.25 * precision * recall / (0.25 * precision + recall), abs=1e-4)


@pytest.mark.parametrize("scorer", [pt_m2.PtM2(), pt_errant.PtErrant(pt_errant.Settings(nlp="bundled"))])
def test_perfect_partial_and_unchanged(scorer):
    perfect = [row[0] for row in REFERENCES]
    assert scorer.score(SOURCES, perfect, REFERENCES).scores == pytest.approx([1, 1, 1, 1])
    result = scorer.score(SOURCES, PREDICTIONS, REFERENCES)
    assert result.scores[:2] == pytest.approx([1, 1])
    assert result.scores[2:] == [0.0, 0.0]  # a needless edit; errors left alone
    unchanged = scorer.score(SOURCES, SOURCES, REFERENCES)
    assert unchanged.scores == [0.0, 0.0, 1.0, 0.0] and unchanged.details["precision"] == 1.0
