"""Measures by error type: a corpus worked out by hand, ERRANT's own counts, partitions, plain resampling."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geceval
from geceval.edits.edit import Edit, apply
from geceval.edits.m2 import M2Sentence, write_m2
from geceval.workflows.error_types import MEASURES

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
QUICK = {"resamples": 50, "shuffles": 50}

A, C, X = Edit(0, 1, "A", "R:DET"), Edit(2, 3, "C", "R:VERB"), Edit(1, 1, "x", "M:DET")
P, Q, Z = Edit(0, 1, "P", "R:DET"), Edit(1, 2, "Q", "R:DET"), Edit(2, 2, "z", "M:DET")
GOLD = [
    M2Sentence("a b c d e", {0: [A, C], 1: [A]}),
    M2Sentence("f g h", {0: [X], 1: []}),
    M2Sentence("k l", {0: [], 1: []}),
    M2Sentence('m " o "', {0: [], 1: []}),
    M2Sentence("p q r", {0: [P, Q], 1: [P, Z]}),
]
QUOTES = [Edit(1, 2, "“", "R:PUNCT"), Edit(3, 4, "”", "R:PUNCT")]
OTHER = Edit(1, 2, "Q", "R:PREP")  # an annotator's correction under another type
SYSTEM = [[A, Edit(3, 4, "D", "R:PREP")], [], [Edit(0, 1, "K", "R:VERB")], QUOTES, [P, OTHER]]
COPY: list[list[Edit]] = [[] for _ in SYSTEM]


@pytest.fixture
def measure(tmp_path):
    """Measure systems that are given by their edits beside gold edits: `[measure, type, system]` to estimate."""

    def measure(systems, gold=None, options=None, **test):
        gold = GOLD if gold is None else gold
        sources = [each.source for each in gold]
        write_m2(tmp_path / "gold.m2", gold)
        files, outputs = {}, {}
        for name, rows in systems.items():
            files[name] = tmp_path / f"{name}.m2"
            outputs[name] = [apply(source, edits) for source, edits in zip(sources, rows, strict=True)]
            write_m2(files[name], [M2Sentence(s, {0: list(edits)}) for s, edits in zip(sources, rows, strict=True)])
        options = {"gold_m2": tmp_path / "gold.m2", **(options or {})}
        found = geceval.error_types(sources, outputs, options=options, predictions_m2=files, **{**QUICK, **test})
        return {(each.measure, each.type, each.system): each for each in found.estimates}

    return measure


# Annotators by F0.5 so far. S1: beside 0 a hit, a false alarm, a miss, F .5; beside 1 no miss, F 5/9: 1. S2: 0 has a
# miss: 1. S3 and S4: three false alarms beside either. S5: beside 0 two hits (under the annotator's types), beside 1 a
# hit, a false alarm and a miss: 0. The sum is 3, 4, 0.
# DET alone. S1: a hit beside either: 0. S2: 1. S5: Q is no DET of the system, so a hit and a miss beside either.
# Sentences with DET: S1, S2 and S5 of an annotator, S1 and S5 of the system, which has all DET of 1 in S1, of 0 in S5.
# Clean sentences: S3 and S4; in S4 only the style of quotation marks changes.
BY_HAND = {
    ("type", "all"): (3, 4, 0, 3 / 7, 1, 15 / 31),  # 1.25 · 3/7 / (.25 · 3/7 + 1)
    ("type", "R"): (3, 4, 0, 3 / 7, 1, 15 / 31),
    ("type", "DET"): (3, 0, 0, 1, 1, 1),
    ("type", "PREP"): (0, 1, 0, 0, 1, 0),
    ("type", "VERB"): (0, 1, 0, 0, 1, 0),
    ("type", "PUNCT"): (0, 2, 0, 0, 1, 0),
    ("type_only", "all"): (3, 4, 0, 3 / 7, 1, 15 / 31),
    ("type_only", "M"): (0, 0, 0, None, None, None),  # S2: annotator 1; S5: annotator 0
    ("type_only", "DET"): (2, 0, 1, 1, 2 / 3, 10 / 11),  # 1.25 · 2/3 / (.25 + 2/3)
    ("type_only", "PREP"): (0, 2, 0, 0, 1, 0),
    ("type_only", "VERB"): (0, 1, 0, 0, 1, 0),  # S1: annotator 1; S3: a false alarm
    ("detection", "all"): (2, 2, 1, 1 / 2, 2 / 3, 4 / 7),
    ("detection", "DET"): (2, 0, 1, 1, 2 / 3, 4 / 5),
    ("detection", "M"): (0, 0, 2, 1, 0, 0),
    ("detection", "VERB"): (0, 1, 1, 0, 0, 0),
    ("detection", "PREP"): (0, 2, 0, 0, 1, 0),
    ("success", "all"): (2, 0, 1, None, None, 2 / 3),  # S1 as annotator 1, S5 as annotator 0
    ("success", "DET"): (2, 0, 1, None, None, 2 / 3),
    ("success", "VERB"): (0, 0, 1, None, None, 0),
    ("overcorrection", "all"): (1, 0, 1, None, None, 1 / 2),
    ("overcorrection", "VERB"): (1, 0, 1, None, None, 1 / 2),
    ("overcorrection", "PUNCT"): (0, 0, 2, None, None, 0),
    ("change_rate", "all"): (3, 0, 2, None, None, 3 / 5),
    ("change_rate", "DET"): (2, 0, 3, None, None, 2 / 5),
    ("change_rate", "PUNCT"): (0, 0, 5, None, None, 0),
}


def numbers(each):
    values = each.precision, each.recall, each.value
    return (each.tp, each.fp, each.fn, *(None if math.isnan(value) else value for value in values))


def test_a_corpus_worked_out_by_hand(measure):
    found = measure({"x": SYSTEM}, types=["all", "operation", "main", "M"])
    for key, values in BY_HAND.items():
        assert numbers(found[(*key, "x")]) == pytest.approx(values), key


def test_rows_without_anything_to_measure_are_left_out_unless_they_are_named(measure, caplog):
    found = measure({"x": SYSTEM, "copy": COPY})
    rows = [key[1] for key in found if key[0] == "type" and key[2] == "x"]
    assert rows == ["all", "R", "DET", "PREP", "PUNCT", "VERB"]
    assert ("detection", "M", "x") in found  # an annotator has one
    assert not caplog.records
    nothing = measure({"x": SYSTEM}, types=["DTE"])["type", "DTE", "x"]
    assert numbers(nothing) == (0, 0, 0, None, None, None)
    assert math.isnan(nothing.low) and math.isnan(nothing.high)
    assert caplog.messages == ["types: no edit has a type that 'DTE' selects; did you mean 'DET'?"]


@pytest.mark.parametrize(
    ("selector", "counts"),
    [("R:DET", (3, 0, 0)), ("DET,PREP", (3, 1, 0)), (" DET , PREP ", (3, 1, 0)), ("R:P*", (0, 3, 0)), ("P*", (0, 3, 0)),
     ("R", (3, 4, 0)), ("all", (3, 4, 0)), ("a*", (0, 0, 0)), ("VERB,all", (3, 4, 0)),
     ("M:DET", (0, 0, 0)), ("DET*", (3, 0, 0)), ("R:[DV]*", (3, 1, 0))],
)  # fmt: skip
def test_selectors(selector, counts, measure):
    found = measure({"x": SYSTEM}, types=[selector])
    assert {key[1] for key in found} == {selector}
    assert numbers(found["type", selector, "x"])[:3] == counts


def test_type_counts_are_those_of_errant_compare():
    """`errant_compare -cat 3` prints four decimal places."""
    corpus, golden = (json.loads((GOLDEN / f"{name}.json").read_text()) for name in ("corpus", "errant_bundled"))
    columns = corpus["sources"], corpus["systems"], corpus["references"]
    found = geceval.error_types(*columns, options={"nlp": "bundled"}, types=["full", "all"], **QUICK)
    for system, expected in golden["values"]["compare"].items():
        rows = {each.type: each for each in found.estimates if (each.measure, each.system) == ("type", system)}
        assert list(numbers(rows.pop("all"))) == pytest.approx(expected["correction"], abs=5e-5)
        rows = {name: list(numbers(each)) for name, each in rows.items() if not math.isnan(each.value)}
        assert rows == {name: pytest.approx(values, abs=5e-5) for name, values in expected["types"].items()}


TYPES = ["M:DET", "R:DET", "U:DET", "R:VERB:SVA", "R:NOUN:NUM", "UNK", "Vt", "ArtOrDet"]
EDITS = st.lists(st.none() | st.tuples(st.sampled_from("xy"), st.sampled_from(TYPES)), min_size=4, max_size=4).map(
    lambda row: [Edit(at, at + 1, *each) for at, each in enumerate(row) if each]
)
CORPUS = st.lists(st.tuples(EDITS, EDITS, EDITS), min_size=1, max_size=6)


@given(CORPUS)
def test_types_are_parts_of_the_whole(measure, rows):
    gold = [M2Sentence("a b c d", {0: first, 1: second}) for first, second, _ in rows]
    system = [edits for _, _, edits in rows]
    kinds = ["all", "operation", "main", "full", "R,M,U", "R:*", "R:DET,R:VERB:SVA,R:NOUN:NUM"]
    found = measure({"x": system}, gold, types=kinds, resamples=2, shuffles=2)
    counts = {key[1]: np.array(numbers(each)[:3]) for key, each in found.items() if key[0] == "type"}
    assert np.array_equal(counts["R:*"], counts["R:DET,R:VERB:SVA,R:NOUN:NUM"])
    assert np.array_equal(counts["all"], sum(counts.get(kind, np.zeros(3)) for kind in TYPES))
    operations = sum(counts.get(name, np.zeros(3)) for name in ("M", "R", "U"))
    assert np.array_equal(operations, counts["R,M,U"])
    assert np.array_equal(counts["all"], operations + sum(counts.get(name, np.zeros(3)) for name in ("Vt", "ArtOrDet")))
    assert "UNK" not in counts  # ERRANT counts it for detection only
    for _, row, _ in [key for key in found if key[0] == "success"]:
        both = found["success", row, "x"], found["detection", row, "x"]
        assert both[0].tp + both[0].fn == both[1].tp + both[1].fn  # sentences with such an error
        assert both[0].tp <= found["change_rate", "all", "x"].tp
    assert {each.tp + each.fn for key, each in found.items() if key[0] == "change_rate"} == {len(rows)}


def test_unk_counts_for_detection_levels_only(measure):
    gold = [M2Sentence("a b", {0: [Edit(0, 1, "a", "UNK")]}), M2Sentence("a b", {0: []})]
    system = {"x": [[Edit(0, 1, "c", "R:OTHER")], [Edit(0, 1, "c", "R:OTHER")]]}
    found = measure(system, gold, types=["all"])
    assert numbers(found["type", "all", "x"])[:3] == (0, 2, 0)
    assert numbers(found["overcorrection", "all", "x"])[:3] == (1, 0, 0)  # what an annotator marked is not clean
    found = measure(system, gold, {"level": "detection_span"}, types=["UNK", "OTHER"])
    assert numbers(found["type", "UNK", "x"])[:3] == (1, 0, 0)
    assert numbers(found["type", "OTHER", "x"])[:3] == (0, 1, 0)


def test_a_corpus_without_edits(measure):
    found = measure({"copy": COPY}, [M2Sentence("a b", {0: []})] * 5)
    assert {key[:2] for key in found} == {(name, "all") for name in MEASURES}
    assert numbers(found["type", "all", "copy"]) == (0, 0, 0, None, None, None)
    assert numbers(found["overcorrection", "all", "copy"]) == (0, 0, 5, None, None, 0)


def test_p_values_are_those_of_all_swaps(measure):
    """The five sentences of the corpus can be swapped in 32 ways."""
    found = measure({"x": SYSTEM, "copy": COPY}, types=["DET", "VERB"], baseline="copy", shuffles=20_000)
    rows = {  # hits, false alarms, misses of each sentence, see above; of the copy only misses
        ("type", "DET"): ([(1, 0, 0), (0, 0, 0), (2, 0, 0)], [(0, 0, 1), (0, 0, 0), (0, 0, 2)]),
        ("detection", "VERB"): ([(0, 0, 1), (0, 1, 0)], [(0, 0, 1), (0, 0, 0)]),
    }

    def value(sums, beta):
        tp, fp, fn = sums
        return (1 + beta * beta) * tp / ((1 + beta * beta) * tp + beta * beta * fn + fp)

    for (name, row), (ours, copies) in rows.items():
        beta = 1 if name == "detection" else 0.5
        differences = []
        for swaps in itertools.product((False, True), repeat=len(ours)):
            both = zip(ours, copies, swaps, strict=True)
            pairs = [(copy, own) if swap else (own, copy) for own, copy, swap in both]
            left, right = (np.sum(side, axis=0) for side in zip(*pairs, strict=True))
            differences.append(value(left, beta) - value(right, beta))
        each = found[name, row, "x"]
        assert each.difference == pytest.approx(differences[0])
        assert each.p == pytest.approx(np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12), abs=0.012)
        assert math.isnan(found[name, row, "copy"].p)
    det, verb = (found["detection", row, "x"] for row in ("DET", "VERB"))
    assert verb.p_holm == 1 and det.p_holm == pytest.approx(min(1, 2 * det.p))


def test_intervals_are_those_of_the_binomial_distribution(measure):
    """Each of 15 sentences has a hit or one mistake, F1 = 2k / (15 + k); of k ~ B(15, .4), P(k ≤ 2) = .027 and
    P(k ≤ 9) = .966, so that the quantiles .025 and .975 are those of k = 2 and k = 10.
    """
    each = measure({"x": SYSTEM * 3}, GOLD * 3, types=["all"], resamples=20_000)["detection", "all", "x"]
    assert (each.low, each.value, each.high) == pytest.approx((4 / 17, 12 / 21, 20 / 25))


def test_a_side_without_edits_is_no_difference(measure):
    found = measure({"x": SYSTEM, "copy": COPY}, types=["PUNCT"])
    false_alarms, none = (found["type", "PUNCT", name] for name in ("x", "copy"))
    assert numbers(false_alarms) == (0, 2, 0, 0, 1, 0)
    assert numbers(none) == (0, 0, 0, None, None, None)
    assert math.isnan(none.difference) and math.isnan(none.p) and math.isnan(none.p_holm)


def test_a_row_does_not_depend_on_the_others(measure):
    alone, among = measure({"x": SYSTEM, "copy": COPY}, types=["DET"]), measure({"x": SYSTEM, "copy": COPY})
    for key in alone:
        first, second = (rows[key] for rows in (alone, among))
        assert repr(first).partition("p_holm")[0] == repr(second).partition("p_holm")[0]


def test_prose_is_compared_as_tokens():
    sources, references = ["He go to school , too .", "It is good ."], [["He goes to school , too ."], ["It is good ."]]
    tokens, prose = ["He goes to school , too .", "It is good ."], ["He goes to school, too.", "It is good."]
    for name, system in {"tokens": tokens, "prose": prose}.items():
        found = geceval.error_types(sources, {name: system}, references, types=["all"], **QUICK)
        expected = dict.fromkeys(["type", "type_only", "detection", "success"], (1, 0, 0))
        expected |= {"overcorrection": (0, 0, 1), "change_rate": (1, 0, 1)}
        assert {each.measure: (each.tp, each.fp, each.fn) for each in found.estimates} == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"systems": ["a"]}, "types: systems must be a dict"),
        ({"systems": {}}, "types: systems must be a dict"),
        ({"types": "DET"}, "types: types must be a list of strings"),
        ({"shuffles": 0}, "types: shuffles must lie between 1"),
        ({"baseline": "z"}, "no system 'z'"),
        ({"predictions_m2": {"z": "z.m2"}}, "errant: predictions_m2 must have one M2 file per system"),
        ({"systems": {"x": "a"}}, "errant: predictions must be a list of strings, got str"),
        ({"sorts": 1}, "types: unknown option 'sorts'"),
    ],
)
def test_mistakes(arguments, message):
    systems = arguments.pop("systems", {"x": ["a"]})
    with pytest.raises((TypeError, ValueError), match=message):
        geceval.error_types(["a"], systems, [["b"]], **arguments)
