"""Attribution of a metric's gain to edits: what the methods promise, against plain loops, in one scoring call."""

import itertools
import math
from dataclasses import dataclass

import pytest

import geceval
from geceval.core.result import Result
from geceval.edits.edit import Edit, apply
from geceval.scorers.base import Scorer
from geceval.scorers.gleu import Gleu
from geceval.scorers.m2 import M2
from geceval.workflows.attribution import Attribution, attribute

SOURCE = "a b c d e"
A, B, C, D = Edit(0, 1, "A"), Edit(1, 2, "B"), Edit(2, 3, "C"), Edit(4, 4, "D")


class Toy(Scorer):
    """A score that is no sum over edits; it notes what it is called with."""

    name = "toy"

    @dataclass(frozen=True)
    class Settings:
        gold_m2: str | None = None

    def __init__(self, worth, needs=False):
        super().__init__()
        self.worth, self.needs, self.calls = worth, needs, []

    def needs_references(self):
        return self.needs

    def _score(self, columns):
        self.calls.append((columns.sources, columns.predictions, columns.references))
        scores = [self.worth(set(text.split())) for text in columns.predictions]
        return Result(sum(scores) / len(scores), scores, "toy")


def curved(words):
    """A and B are worth little alone and much together, B and C repeat each other, d never matters."""
    alone = 0.1 + 0.2 * ("A" in words) + 0.1 * ("B" in words)
    return alone + 0.3 * ({"A", "B"} <= words) - 0.15 * ({"B", "C"} <= words)


def one(scorer, edits, source=SOURCE, **settings) -> Attribution:
    (found,) = attribute(scorer, [source], [edits], **settings)
    return found


def shapley_by_loop(players, worth):
    """The definition: the mean gain over all orders, from a function of a set of players."""
    shares = dict.fromkeys(players, 0.0)
    for order in itertools.permutations(players):
        for index, player in enumerate(order):
            shares[player] += worth({*order[: index + 1]}) - worth({*order[:index]})
    return [shares[player] / math.factorial(len(players)) for player in players]


def test_shapley_equals_the_mean_over_all_orders_and_sums_to_the_total():
    found = one(Toy(curved), [A, B, C, D])
    direct = shapley_by_loop([A, B, C, D], lambda edits: curved(set(apply(SOURCE, edits).split())))
    assert found.scores == pytest.approx(direct, abs=1e-12)
    assert math.fsum(found.scores) == pytest.approx(found.total, abs=1e-12)
    assert (found.source_score, found.total) == (0.1, pytest.approx(0.45))
    assert found.score == pytest.approx(0.55)
    # By hand: A has its 0.2 and half of the 0.3; C half of -0.15; D, which no score sees, nothing.
    assert found.scores == pytest.approx((0.35, 0.175, -0.075, 0.0), abs=1e-12)
    assert found.edits == (A, B, C, D)
    assert (found.prediction, found.method, found.note) == ("A B C d D e", "shapley", "")


@pytest.mark.parametrize("method", ["add", "sub", "shapley", "shapley_sampling"])
@pytest.mark.parametrize("rescale", ["safe", "ratio", "none"])
def test_every_method_gives_an_additive_metric_its_own_terms(method, rescale):
    def additive(words):
        return 0.25 * ("A" in words) - 0.5 * ("B" in words) + 0.75 * ("C" in words)

    found = one(Toy(additive), [A, B, C], method=method, rescale=rescale)
    assert found.scores == pytest.approx((0.25, -0.5, 0.75), abs=1e-12)
    assert found.note == ""


def test_add_and_sub():
    # D({A}) = .2, D({B}) = .1, D({C}) = 0; D(all) = .45, 1.5 of their sum.
    assert one(Toy(curved), [A, B, C], method="add").scores == pytest.approx((0.3, 0.15, 0.0))
    # D without A is -.05, without B .2, without C .6: lost are .5, .25 and -.15, of which .45 is .75.
    for rescale in ("safe", "ratio"):
        found = one(Toy(curved), [A, B, C], method="sub", rescale=rescale)
        assert found.scores == pytest.approx((0.375, 0.1875, -0.1125))
    for method, shares in (("add", (0.2, 0.1, 0.0)), ("sub", (0.5, 0.25, -0.15))):
        found = one(Toy(curved), [A, B, C], method=method, rescale="none")
        assert (found.scores, found.note) == (pytest.approx(shares), "")


@pytest.mark.parametrize(
    ("alone", "together", "ratio"),
    [
        ((0.2, -0.2), 0.5, (0.0, 0.0)),  # the sum is 0: published as zeros
        ((0.3, -0.1), -0.4, (-0.6, 0.2)),  # the sum has the other sign: signs turn round
        ((0.11, -0.1), 0.5, (5.5, -5.0)),  # the sum is near 0: shares explode
        ((0.3, 0.1), 0.0, (0.0, 0.0)),  # the total is 0: nothing is left of the shares
    ],
)
def test_where_the_ratio_is_no_use_the_safe_rule_shifts(alone, together, ratio):
    def worth(words):
        has = "A" in words, "B" in words
        return {(False, False): 0.0, (True, False): alone[0], (False, True): alone[1], (True, True): together}[has]

    assert one(Toy(worth), [A, B], method="add", rescale="ratio").scores == pytest.approx(ratio)
    found = one(Toy(worth), [A, B], method="add")
    gap = (together - sum(alone)) / 2
    assert found.scores == pytest.approx([share + gap for share in alone])
    assert found.scores[0] - found.scores[1] == pytest.approx(alone[0] - alone[1])
    assert math.fsum(found.scores) == pytest.approx(together, abs=1e-12)
    assert found.note == "the shares are far from the total: what is missing was divided equally"


def test_sampling_takes_all_orders_if_they_are_few():
    found = one(Toy(curved), [A, B, C, D], method="shapley_sampling", permutations=24)  # 4! = 24
    assert found.scores == pytest.approx(one(Toy(curved), [A, B, C, D]).scores, abs=1e-12)


def test_sampling_sums_to_the_total_and_nears_the_exact_values():
    edits = [Edit(i, i + 1, f"w{i}") for i in range(7)]  # 7! = 5040

    def worth(words):
        return len([word for word in words if word[0] == "w"]) ** 2 / 49 + 0.2 * ({"w0", "w3"} <= words)

    source = "a b c d e f g"
    exact = one(Toy(worth), edits, source).scores
    few = one(Toy(worth), edits, source, method="shapley_sampling", permutations=3, seed=5)
    assert math.fsum(few.scores) == pytest.approx(few.total, abs=1e-12)
    assert few.scores != pytest.approx(exact, abs=1e-3)  # it did sample
    assert few == one(Toy(worth), edits, source, method="shapley_sampling", permutations=3, seed=5)
    assert few.scores != one(Toy(worth), edits, source, method="shapley_sampling", permutations=3, seed=6).scores
    # A marginal gain deviates by less than 0.2 here, so its mean over 2,000 orders by about 0.2 / sqrt(2000) = 0.0045.
    many = one(Toy(worth), edits, source, method="shapley_sampling", permutations=2000)
    assert many.scores == pytest.approx(exact, abs=0.02)


def test_beyond_max_edits_shapley_is_sampled_and_says_so():
    edits = [Edit(i, i + 1, f"w{i}") for i in range(5)]
    scorer = Toy(lambda words: len(words & {"w0", "w1"}) / 2)
    few, many = attribute(scorer, [SOURCE] * 2, [edits[:4], edits], max_edits=4, permutations=5)
    assert (few.method, few.note) == ("shapley", "")
    assert (many.method, many.note) == ("shapley_sampling", "5 edits exceed max_edits=4: Shapley values are sampled")
    assert many.scores == pytest.approx((0.5, 0.5, 0, 0, 0))
    assert one(scorer, edits, method="add", max_edits=4).method == "add"


@pytest.mark.parametrize("method", ["add", "sub", "shapley", "shapley_sampling"])
def test_a_batch_is_one_call_and_gives_what_sentences_give_alone(method):
    sources = [SOURCE, "a x", SOURCE, "c", ""]
    rows = [[A, B, C, D], [A], [C, A], [], []]
    scorer = Toy(curved)
    batch = attribute(scorer, sources, rows, method=method, permutations=5)
    assert len(scorer.calls) == 1
    asked = list(zip(*scorer.calls[0][:2], strict=True))
    assert len(set(asked)) == len(asked)
    if method == "shapley":  # 16 + 2 + {C}, {A}, {A, C}, {} of the same source again + 1 + 1
        assert len(asked) == 16 + 2 + 1 + 1
    alone = [
        one(Toy(curved), row, source, method=method, permutations=5) for source, row in zip(sources, rows, strict=True)
    ]
    assert batch == alone
    assert (batch[3].scores, batch[3].source_score, batch[3].total) == ((), 0.1, 0.0)


def test_references_are_repeated_for_the_texts_of_their_sentence():
    scorer = Toy(curved, needs=True)
    attribute(scorer, ["a", "b"], [[A], [Edit(0, 1, "B")]], [["r", "s"], "t"])
    assert scorer.calls == [(["a", "a", "b", "b"], ["a", "A", "b", "B"], [["r", "s"], ["r", "s"], ["t"], ["t"]])]


def test_the_same_source_with_other_references_is_scored_again():
    scorer = Gleu()
    found = attribute(scorer, ["a b"] * 2, [[Edit(0, 1, "A")]] * 2, [["A b"], ["a b"]])
    assert found[0].total > 0 > found[1].total


def test_edits_may_come_in_any_order():
    """Sheet section 9: other programs apply permuted edits at the wrong places."""
    edits = [Edit(3, 4, "D D"), Edit(0, 0, "A"), Edit(1, 2, ""), Edit(2, 3, "C")]
    for method in ("add", "sub", "shapley", "shapley_sampling"):
        straight = one(Toy(curved), sorted(edits, key=lambda edit: edit.start), method=method)
        shuffled = one(Toy(curved), edits, method=method)
        assert shuffled.prediction == straight.prediction == "A a C D D e"
        in_order, in_any = (dict(zip(found.edits, found.scores, strict=True)) for found in (straight, shuffled))
        assert in_any == pytest.approx(in_order)


def test_corrected_texts_give_errants_edits_and_texts_and_edits_may_be_mixed():
    scorer = Toy(lambda words: len(words & {"goes", "school"}) / 2)
    predictions = ["He goes to school .", [Edit(3, 4, "school"), Edit(1, 2, "goes")]]
    text, edits = attribute(scorer, ["He go  to shool .", "He go to shool ."], predictions)
    assert [(edit.start, edit.end, edit.correction) for edit in text.edits] == [(1, 2, "goes"), (3, 4, "school")]
    assert text.scores == edits.scores == (0.5, 0.5)
    assert (text.source, text.prediction) == ("He go to shool .", "He goes to school .")
    assert text.how.startswith("attribution|method:shapley|rescale:safe|permutations:64|max_edits:10|seed:1|nlp:")
    assert one(scorer, [A], "a").how.split("|")[-2] == "nlp:off"


def test_a_metric_that_reads_edits_and_one_by_name():
    source, reference = "He go to shool .", [["He goes to school ."]]
    edits = [Edit(1, 2, "goes"), Edit(3, 4, "shcool")]
    (found,) = attribute(M2(), [source], [edits], reference)
    # F0.5 of {right}: P 1, R .5, so 1.25 * .5 / (.25 + .5) = .8333; of {wrong} 0; of both .5; of none 0.
    assert found.scores == pytest.approx((0.6666667, -0.1666667), abs=1e-6)
    (named,) = geceval.attribute("m2", [source], [edits], reference, options={"beta": 1.0})
    # F1: 2/3, 0, 1/2.
    assert named.scores == pytest.approx((7 / 12, -1 / 12))
    assert "|beta:1.0|" in named.signature


@pytest.mark.parametrize(
    ("sources", "predictions", "error", "message"),
    [
        ([SOURCE], [[A, Edit(0, 2, "x")]], ValueError, r"predictions\[0\]: edits .* overlap"),
        (["a", "b"], [[A], [B]], ValueError, r"predictions\[1\]: edit \(1, 2, 'B'\) lies beyond the 1 tokens of 'b'"),
        ([SOURCE], [[A], [B]], ValueError, "1 source but 2 predictions"),
        ([], [], ValueError, "sources and predictions are empty"),
        ([SOURCE], SOURCE, TypeError, "predictions must be a list of strings, got str"),
        ([SOURCE], [A], TypeError, r"predictions\[0\] must be a text or a list of Edits, got"),
        ([SOURCE], [[A, "b"]], TypeError, r"predictions\[0\] must be a text or a list of Edits, got"),
        ([3], [[A]], TypeError, r"sources\[0\] must be a string, got int"),
    ],
)
def test_mistakes_name_the_row_and_nothing_is_scored(sources, predictions, error, message):
    scorer = Toy(curved)
    with pytest.raises(error, match=r"^attribution of toy: .*" + message):
        attribute(scorer, sources, predictions)
    assert not scorer.calls


def test_missing_references_gold_files_and_scores_that_are_not_finite():
    with pytest.raises(ValueError, match="attribution of toy: needs references"):
        attribute(Toy(curved, needs=True), [SOURCE], [[A]])
    with pytest.raises(ValueError, match="attribution of m2: gold_m2 .* pass references"):
        attribute(M2(M2.Settings(gold_m2="gold.m2")), [SOURCE], [[A]])
    with pytest.raises(ValueError, match="attribution of toy, sentence 2: 'A b c d e' scores nan"):
        attribute(Toy(lambda words: math.nan if "A" in words else 0.0), ["x", SOURCE], [[], [A]])
