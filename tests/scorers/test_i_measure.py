"""I-measure: the published example's counts, the rules of the reference choice, edge cases, a brute-force search."""

import functools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit, apply, without_overlaps
from geceval.edits.m2 import M2Sentence, read_m2, write_m2
from geceval.edits.three_way import count_columns
from geceval.scorers import i_measure
from geceval.scorers.i_measure import IMeasure, Settings, annotators_choices, plain_choices
from geceval.scorers.references.gold import m2_references

SOURCE = "Him walk in an park every days ."
# Annotator 0 corrects Him and days, annotator 1 an and days: only a mixture has all three corrections.
GOLD = """S Him walk in an park every days .
A 0 1|||R|||He|||REQUIRED|||-NONE-|||0
A 6 7|||R|||day|||REQUIRED|||-NONE-|||0
A 3 4|||R|||a|||REQUIRED|||-NONE-|||1
A 6 7|||R|||morning|||REQUIRED|||-NONE-|||1
"""
PREDICTION = "He walk in a park every days ."

words = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)
corpora = st.lists(st.tuples(words, words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=4)


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.m2"
    path.write_text(GOLD)
    return str(path)


def details(**options):
    return IMeasure(Settings(**options)).score([SOURCE], [PREDICTION])


def test_the_published_example_with_mixing(gold):
    # The program's bundled example has TP 2, TN 5, FP 0, FN 1 and prints
    # P 100, R 66.67, F 80, Acc 87.50, WAcc 90, base 62.50, I 73.33.
    result = details(gold_m2=gold)
    expected = {"tp": 2, "tn": 5, "fp": 0, "fn": 1, "fpn": 0, "precision": 1, "recall": 2 / 3, "f": 0.8}
    expected |= {"acc": 0.875, "wacc": 0.9, "base_wacc": 0.625}
    assert dict(result.details) == pytest.approx(expected)
    assert f"{100 * result.score:.2f}" == "73.33"
    assert result.scores == [result.score]


def test_the_published_example_without_mixing():
    # -nomix: TP 1, TN 5, FP 1, FN 1; WAcc 70, base 75, I -6.67. Plain references are never mixed.
    references = [["He walk in an park every day .", "Him walk in a park every morning ."]]
    result = IMeasure().score([SOURCE], [PREDICTION], references)
    assert [result.details[name] for name in ("tp", "tn", "fp", "fn")] == [1, 5, 1, 1]
    assert result.details["wacc"] == pytest.approx(0.7)
    assert result.details["base_wacc"] == pytest.approx(0.75)
    assert f"{100 * result.score:.2f}" == "-6.67"


def test_the_weight_of_a_change():
    columns = (["a b c d"], ["a b x d"], [["a b c d"]])
    for weight in (1, 2, 5):
        result = IMeasure(Settings(change_weight=weight)).score(*columns)
        assert result.details["wacc"] == pytest.approx(3 / (3 + weight))


@pytest.mark.parametrize(
    ("source", "prediction", "reference", "expected"),
    [
        *(("", "", "", 1.0), ("a", "a", "a", 1.0), ("a b", "a b", "a c", 0.0), ("a", "", "a", -1.0)),
        *(("", "a", "a", 1.0), ("", "a", "", -1.0), ("a", "a", "", 0.0), ("a", "", "", 1.0)),
    ],
)
def test_edge_cases(source, prediction, reference, expected):
    result = IMeasure().score([source], [prediction], [[reference]])
    assert [result.score, *result.scores] == [expected, expected]


def test_the_corpus_adds_up_the_counts_of_the_chosen_references():
    sources, predictions = ["a b c", "d e"], ["a x c", "d f"]
    result = IMeasure().score(sources, predictions, [["a x c", "a b y"], ["d e"]])
    # Sentence 1, reference 1: TP 1, TN 2 of a base of 2/3. Sentence 2: FP 1, TN 1, base 1.
    assert [result.details[k] for k in ("tp", "fp", "fn", "tn")] == [1, 1, 0, 3]
    assert result.scores == pytest.approx([1.0, 1 / 3 - 1])
    weighted, base = (2 * 1 + 3) / (2 * 2 + 3), 4 / 5
    assert result.score == pytest.approx(weighted / base - 1)


@functools.cache
def slow_values(triple, aspect):
    """WAcc, I and Acc of one sentence, from the column counts; w = 2."""
    unchanged, missed, needless, right, other = count_columns([triple])[0].tolist()
    base_kept, base_missed, *_ = count_columns([(triple[0], triple[0], triple[2])])[0].tolist()
    base = base_kept / (base_kept + base_missed) if base_kept + base_missed else 1.0
    tp, fp, fn, fpn = right, needless + other, missed + other, other
    if aspect == "detection":
        tp, fp, fn, fpn = right + other, needless, missed, 0
    below, below_weighted = tp + fp + unchanged + fn - fpn, 2 * (tp + fp) + unchanged + fn - 1.5 * fpn
    weighted = (2 * tp + unchanged) / below_weighted if below_weighted else 1.0
    if weighted == base:
        i = math.floor(weighted)
    else:
        i = (weighted - base) / (1 - base) if weighted > base else weighted / base - 1
    return weighted, i, (tp + unchanged) / below if below else 1.0


def slow_best(source, prediction, references):
    """I of the reference with the best correction WAcc, I, Acc, then the same for detection, then the first."""
    triples = [tuple(tuple(text.split()) for text in (source, prediction, reference)) for reference in references]
    return max(triples, key=lambda t: (*slow_values(t, "correction"), *slow_values(t, "detection")))


@given(corpora, st.randoms(use_true_random=False))
def test_sentences_take_the_best_reference_whatever_stands_beside_them(corpus, shuffler):
    shuffled = list(corpus)
    shuffler.shuffle(shuffled)
    result = IMeasure().score(*zip(*shuffled, strict=True))
    assert result.scores == pytest.approx([slow_values(slow_best(*row), "correction")[1] for row in shuffled])
    assert result.score == IMeasure().score(*zip(*corpus, strict=True)).score
    assert all(-1 <= score <= 1 for score in (result.score, *result.scores))


def test_beyond_the_bound_mixing_goes_place_by_place_and_says_so(tmp_path, caplog, monkeypatch):
    # Six places, two annotators who alternate: 64 combinations; the prediction follows neither of them.
    source = "a b c d e f g h i j k l"
    edits = {a: [Edit(2 * n, 2 * n + 1, f"{'xy'[a]}{n}", "R", a) for n in range(6)] for a in (0, 1)}
    write_m2(tmp_path / "gold.m2", [M2Sentence(source, edits)])
    assert annotators_choices(source, edits).size == 64
    prediction = "x0 b y1 d x2 f y3 h i j k l"
    scorer = IMeasure(Settings(gold_m2=str(tmp_path / "gold.m2")))
    best = scorer.score([source], [prediction])
    assert caplog.text == ""
    monkeypatch.setattr(i_measure, "MAX_MIXED", 63)
    found = scorer.score([source], [prediction])
    assert "more than 63 combinations of the annotators' corrections for 1 of 1 sentence;" in caplog.text
    assert dict(found.details) == dict(best.details)
    assert [best.details[k] for k in ("tp", "fp", "fn", "tn")] == [4, 0, 2, 6]
    plain = [[apply(source, row) for row in edits.values()]]
    assert IMeasure().score([source], [prediction], plain).details["tp"] == 2


def test_the_source_of_conll_2014_scores_0(gjg15, conll_2014):
    # By definition: no better than itself; a sentence that the best annotator left alone scores 1.
    result = IMeasure().score(gjg15.sources, gjg15.sources, m2_references("i_measure", conll_2014, gjg15.sources))
    assert result.score == 0.0
    unchanged = [any(not edits for edits in sentence.edits.values()) for sentence in read_m2(conll_2014)]
    assert result.scores == [float(whole) for whole in unchanged]


def texts(source: str, edits: dict[int, list[Edit]]) -> list[str]:
    choices = annotators_choices(source, edits)
    found = [" ".join(choices.text(pick)) for pick in choices.all_picks()]
    assert len(found) == choices.size
    return found


def test_corrections_of_different_places_combine():
    edits = {0: [Edit(0, 1, "A"), Edit(3, 4, "D")], 1: [Edit(2, 2, "x")]}
    assert texts("a b c d", edits)[:2] == ["A b c D", "a b x c d"]
    assert sorted(texts("a b c d", edits)) == sorted(f"{a} b{x} c {d}" for a in "aA" for x in ("", " x") for d in "dD")


def test_corrections_of_one_place_exclude_each_other():
    edits = {0: [Edit(0, 2, "X")], 1: [Edit(1, 3, "Y"), Edit(3, 4, "d")], 2: []}
    assert sorted(texts("a b c d", edits)) == ["X c d", "a Y d", "a b c d"]


def test_an_insertion_that_touches_another_edit_is_not_combined_with_it():
    edits = {0: [Edit(1, 1, "the")], 1: [Edit(0, 1, "A the")], 2: [Edit(1, 2, "the b")]}
    assert sorted(texts("a b", edits)) == ["A the b", "a the b"]
    assert sorted(texts("a b c", {0: [Edit(1, 1, "x")], 1: [Edit(1, 1, "y")]})) == ["a x b c", "a y b c"]


def test_what_annotators_agree_on_is_in_every_reference():
    edits = {0: [Edit(0, 1, "A"), Edit(2, 3, "C")], 1: [Edit(0, 1, "A")]}
    assert texts("a b c", edits) == ["A b C", "A b c"]


def test_plain_references_are_not_taken_apart():
    choices = plain_choices(["a  b", "a c", "a b"])
    assert [choices.text(pick) for pick in choices.all_picks()] == [("a", "b"), ("a", "c")]


spans = st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from(["", "x", "y z"]))
rows = st.lists(spans.map(lambda e: Edit(e[0], min(4, e[0] + e[1]), e[2])), max_size=3)


@given(st.dictionaries(st.integers(0, 3), rows, min_size=1))
def test_each_annotators_own_reference_comes_first(edits):
    source = "a b c d"
    own = [apply(source, without_overlaps(row)) for row in edits.values()]
    found = texts(source, edits)
    assert set(found[: len(own)]) >= set(own)
    assert len(set(annotators_choices(source, edits).all_picks())) == len(found)
