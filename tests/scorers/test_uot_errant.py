"""UOT-ERRANT: vectors, masses and plans by hand, perfect and empty corrections, bounds, types, files, signature."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from geceval import registry
from geceval.core.errors import InputError
from geceval.edits.edit import Edit
from geceval.scorers.attribution.attribute import attribute
from geceval.scorers.edit_based.edit_vectors import edit_vectors
from geceval.scorers.edit_based.transport_plans import TABLE_HEADER, plan_table, transport

SOURCES = ["He go to school by the bus .", "I likes cat .", "It is fine .", "She have two dog .", "WE are happy ."]
PREDICTIONS = [
    "He goes to school by bus .",
    "I like cats .",
    "It is very fine .",
    "She have two dog .",
    "We are happy .",
]
REFERENCES = [
    ["He goes to school by bus .", "He went to school on the bus ."],
    ["I like the cat .", "I like cats ."],
    ["It is fine ."],
    ["She has two dogs ."],
    ["We are happy ."],
]
FIRST = [row[0] for row in REFERENCES]
CHOICES = [
    {},
    {"vectors": "src-add"},
    {"mass": "uniform"},
    {"cost": "cosine"},
    {"mass": "uniform", "cost": "cosine", "vectors": "src-add"},
]

# The source "x y z" and what becomes of it by y -> b, by z -> c, and by both; in the plane.
TABLE = {"x y z": (1.0, 0.0), "x b z": (1.0, 2.0), "x y c": (4.0, 0.0), "x b c": (4.0, 2.5), "x B z": (1.0, 0.0)}
B, C = Edit(1, 2, "b", "R:NOUN"), Edit(2, 3, "c", "R:VERB")


def embed(texts):
    return np.array([TABLE[text] for text in texts])


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        # all - all but b = (4, 2.5) - (4, 0), all - all but c = (4, 2.5) - (1, 2)
        ("ref-remove", [[0.0, 2.5], [3.0, 0.5]]),
        # b alone - source = (1, 2) - (1, 0), c alone - source = (4, 0) - (1, 0)
        ("src-add", [[0.0, 2.0], [3.0, 0.0]]),
    ],
)
def test_vectors_and_masses_by_hand(vectors, expected):
    (side,) = edit_vectors([("x y z", [B, C])], embed, vectors)
    assert side.vectors.tolist() == expected
    assert side.masses.tolist() == pytest.approx([math.hypot(*row) for row in expected])
    (uniform,) = edit_vectors([("x y z", [B, C])], embed, vectors, "uniform")
    assert uniform.masses.tolist() == [0.5, 0.5]


def test_edits_that_do_not_count():
    """Noops, edits without a correction, repeated ones, and those that overlap an earlier one."""
    noop = Edit(-1, -1, "-NONE-", "noop")
    (side,) = edit_vectors([("x y z", [noop, Edit(0, 1, "x", "UNK"), C, B, B, Edit(1, 3, "q", "R:OTHER")])], embed)
    assert side.edits == [B, C]


def test_each_distinct_text_is_embedded_once():
    seen: list[list[str]] = []

    def count(texts):
        seen.append(list(texts))
        return embed(texts)

    edit_vectors([("x y z", [B, C]), ("x y z", [B]), ("x y z", [])], count)
    (texts,) = seen
    assert sorted(texts) == ["x b c", "x b z", "x y c", "x y z"]


def test_counts_by_type_by_hand():
    """The system makes b alone, of length 2; the reference b and c, as vectors (0, 2.5) and (3, .5).

    From b to b: the distance is .5; what c takes, at a distance of sqrt(9 + 2.25), is below 1e-4. With reg = reg_m = .1
    that leaves sqrt(2 * 2.5) exp(-.5 / .3), since the reference's own kernel is diagonal to 1e-15.
    """
    system, reference = edit_vectors([("x y z", [B]), ("x y z", [B, C])], embed)
    (plan,) = transport([(system, reference)])
    moved, mass_of_c = math.sqrt(2 * 2.5) * math.exp(-0.5 / 0.3), math.hypot(3, 0.5)
    counts = plan.counts()
    noun, verb = counts["R:NOUN"], counts["R:VERB"]
    assert (noun.tp, noun.fp, noun.fn) == pytest.approx((moved, 2 - moved, 2.5 - moved), abs=1e-4)
    assert (verb.tp, verb.fp, verb.fn) == pytest.approx((0.0, 0.0, mass_of_c), abs=1e-4)
    assert plan_table([plan]) == [
        (0, str(B), "R:NOUN", 2.0, str(B), "R:NOUN", 2.5, pytest.approx(moved, abs=1e-4)),
        (0, "", "", 0.0, str(C), "R:VERB", pytest.approx(mass_of_c), 0.0),
    ]
    assert len(TABLE_HEADER) == len(plan_table([plan])[0])


@pytest.mark.parametrize("behaviour", ["normalised", "published"])
def test_an_edit_that_the_encoder_does_not_see(behaviour):
    (unseen, seen) = edit_vectors([("x y z", [Edit(1, 2, "B", "R:ORTH")]), ("x y z", [B])], embed)
    assert unseen.masses.tolist() == [0.0]
    for cost in ("euclidean", "cosine"):
        plans = transport([(unseen, seen), (seen, unseen), (unseen, unseen)], cost, behaviour)
        assert [plan.plan.tolist() for plan in plans] == [[[0.0]]] * 3


def scorer(**options):
    return registry.make_scorer("uot_errant", {"nlp": "bundled", **options})


@pytest.mark.parametrize("options", CHOICES)
def test_a_perfect_correction_scores_exactly_one(options):
    result = scorer(**options).score(SOURCES, FIRST, REFERENCES)
    assert result.score == 1.0 and result.scores == [1.0] * len(SOURCES)
    assert (result.details["precision"], result.details["recall"]) == (1.0, 1.0)
    assert (result.details["fp"], result.details["fn"]) == (0.0, 0.0)


def test_the_published_defect():
    """Uniform masses of two edits: each moves .5^(4/3), so P is 2^(-1/3); a single edit of mass 1 moves all."""
    result = scorer(behaviour="published", mass="uniform").score(
        SOURCES[1:3], ["I like cats .", SOURCES[2]], FIRST[1:3]
    )
    assert result.scores[1] == 1.0
    perfect = scorer(behaviour="published", mass="uniform").score(SOURCES[:1], FIRST[:1], FIRST[:1])
    assert perfect.score == pytest.approx(2 ** (-1 / 3), abs=1e-6)
    above = scorer(behaviour="published").score(SOURCES[1:2], FIRST[1:2], FIRST[1:2])
    assert above.details["precision"] > 1 and above.details["fp"] < 0


@pytest.mark.parametrize("options", CHOICES)
def test_bounds_and_order(options):
    result = scorer(**options).score(SOURCES, PREDICTIONS, REFERENCES)
    assert result.scores[0] == result.scores[1] == 1.0
    assert result.scores[2] == result.scores[3] == 0.0  # a false alarm; nothing done
    assert 0 < result.score < 1
    details = result.details
    assert details["precision"] == pytest.approx(details["tp"] / (details["tp"] + details["fp"]))
    assert details["annotators"][:2] == [0, 1]
    for grain in ("operation", "main", "full"):
        rows = details["by_type"][grain].values()
        for name in ("tp", "fp", "fn"):
            assert sum(row[name] for row in rows) == pytest.approx(details[name])
    assert details["by_type"]["full"]["M:ADV"]["fp"] > 0


def invented(draw: random.Random) -> tuple[list[str], list[str], list[str]]:
    words = ["the", "a", "cat", "cats", "sat", "on", "mat", "dogs", "runs", "likes"]
    sources = [[draw.choice(words) for _ in range(draw.randint(3, 7))] for _ in range(25)]
    left, right = (
        [" ".join(draw.choice(words) if draw.random() < 0.3 else word for word in row) for row in sources]
        for _ in range(2)
    )
    return [" ".join(row) for row in sources], left, right


@pytest.mark.parametrize("options", CHOICES)
def test_bounds_and_swapped_sides(options):
    sources, left, right = invented(random.Random(1))
    metric = scorer(**options)
    one, other = metric.score(sources, left, right), metric.score(sources, right, left)
    assert all(0 <= score <= 1 for score in (*one.scores, *other.scores))
    assert 0 < one.details["precision"] < 1 and 0 < one.details["recall"] < 1
    assert one.details["precision"] == pytest.approx(other.details["recall"], abs=1e-5)
    assert one.details["recall"] == pytest.approx(other.details["precision"], abs=1e-5)


def test_plans_are_those_of_the_score():
    metric = scorer()
    plans = metric.plans(SOURCES, PREDICTIONS, REFERENCES)
    result = metric.score(SOURCES, PREDICTIONS, REFERENCES)
    assert sum(float(plan.plan.sum()) for plan in plans) == pytest.approx(result.details["tp"])
    assert [(edit.start, edit.end, edit.correction) for edit in plans[1].gold] == [(1, 2, "like"), (2, 3, "cats")]
    assert plans[2].plan.shape == (1, 0) and plans[3].plan.shape == (0, 2)


def test_edits_from_files_on_both_sides(tmp_path):
    """With both files nothing is parsed, and the edits are those that ERRANT would find."""
    (tmp_path / "gold.m2").write_text(
        "S She have two dog .\nA 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0\n"
        "A 3 4|||R:NOUN:NUM|||dogs|||REQUIRED|||-NONE-|||0\n\n"
    )
    (tmp_path / "system.m2").write_text("S She have two dog .\nA 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0\n\n")
    files = {"gold_m2": str(tmp_path / "gold.m2"), "predictions_m2": str(tmp_path / "system.m2")}
    columns = [SOURCES[3]], ["She has two dog ."]
    found = scorer(**files).score(*columns)
    expected = scorer().score(*columns, ["She has two dogs ."])
    assert found.score == expected.score and found.details == expected.details
    assert "gold_m2:gold.m2@" in found.signature and "predictions_m2:system.m2@" in found.signature
    with pytest.raises(ValueError, match=r"do not make predictions\[0\]"):
        scorer(**files).score([SOURCES[3]], ["She had two dog ."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vectors": "add"}, "uot_errant: vectors must be one of 'ref-remove', 'src-add'"),
        ({"behaviour": "paper"}, "uot_errant: behaviour must be one of"),
        ({"reg": 0}, "uot_errant: reg must be positive"),
        ({"max_length": 2}, "uot_errant: max_length must be at least 3"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(InputError, match=message):
        scorer(**options)


def test_a_checkpoint_that_is_missing(tmp_path):
    with pytest.raises(InputError, match="^uot_errant: "):
        scorer(model=str(tmp_path)).score(SOURCES, PREDICTIONS, REFERENCES)


def test_every_setting_is_in_the_signature():
    usual = scorer().score(SOURCES[:1], PREDICTIONS[:1], REFERENCES[:1]).signature
    assert "model:bundled@" in usual and "max_length:128" in usual and "dtype:float32" in usual
    for option in (
        *({"vectors": "src-add"}, {"mass": "uniform"}, {"cost": "cosine"}, {"behaviour": "published"}),
        *({"reg": 0.2}, {"reg_m": 0.2}, {"max_length": 64}, {"beta": 1.0}, {"average": "sentence"}),
    ):
        assert scorer(**option).score(SOURCES[:1], PREDICTIONS[:1], REFERENCES[:1]).signature != usual


def test_attribution_of_a_sentence():
    """The gains of two right edits sum to the gain of both: from 0 for the source to 1."""
    (found,) = attribute(scorer(), SOURCES[:1], PREDICTIONS[:1], [FIRST[0]])
    assert found.total == 1.0 and sum(found.scores) == pytest.approx(1.0)
    assert all(score > 0 for score in found.scores)
