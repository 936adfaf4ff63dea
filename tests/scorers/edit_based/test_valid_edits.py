"""False positives that the judge acquits: all with the threshold 0, none with 1, for any judge."""

import pytest

import geceval
from geceval import registry

SOURCES = ["He go to school in the yesterday .", "I likes big dog .", "All is well ."]
PREDICTIONS = ["He goes to the school yesterday .", "I like large dogs .", "All is well ."]
REFERENCES = [["He went to school yesterday ."], ["I like big dogs .", "I liked big dogs ."], ["All is well ."]]

# By hand: tp, fp, fn. Hits are `like` and `dogs`, and of m2 `in the` -> ``; false are `large`, and beside `goes` what
# ERRANT aligns as `school in` -> `` and `school` after `the`, and m2 joins to `go to` -> `goes to the`.
COUNTS = {"errant": ((2, 4, 2), (2, 0, 2)), "m2": ((3, 2, 1), (3, 0, 1))}
METRICS = ("errant", "m2", "cleme", "cleme2")


def compute(metric, **options):
    options = {"weights": "none", **options} if metric.startswith("cleme") else options
    return registry.make_scorer(metric, options).score(SOURCES, PREDICTIONS, REFERENCES)


@pytest.mark.parametrize("metric", COUNTS)
def test_what_the_judge_finds_right_is_neither_hit_nor_false_positive(metric):
    columns = {"sources": SOURCES, "predictions": PREDICTIONS, "references": REFERENCES}
    for options, expected in zip(({}, {"valid_edits": "judge", "judge_threshold": 0.0}), COUNTS[metric], strict=True):
        result = geceval.load(metric, **options).compute(**columns)
        assert (result["tp"], result["fp"], result["fn"]) == expected


@pytest.mark.parametrize("assumption", ["dependent", "independent"])
@pytest.mark.parametrize("metric", ["cleme", "cleme2"])
def test_a_valid_chunk_counts_nowhere(metric, assumption):
    plain, judged = (
        compute(metric, assumption=assumption, valid_edits=valid, judge_threshold=0.0).statistics
        for valid in ("references", "judge")
    )
    assert plain[:2, 0, 1].min() > 0  # both corrections have false positives
    assert (judged[:2, 0, [1, 4, 5]] == 0).all()
    assert (judged[..., [0, 2, 3]] == plain[..., [0, 2, 3]])[:2, 0].all()


@pytest.mark.parametrize("metric", METRICS)
def test_a_threshold_that_no_edit_reaches_leaves_every_count(metric):
    plain, judged = compute(metric), compute(metric, valid_edits="judge", judge_threshold=1.0)
    assert judged.score == plain.score and judged.scores == plain.scores
    assert "|valid_edits:references|judge_threshold:0.775|" in plain.signature and "judge:" not in plain.signature
    assert "|valid_edits:judge|judge_threshold:1.0|" in judged.signature and "|judge:bundled@" in judged.signature


def test_one_edit_that_reaches_the_threshold_is_no_false_positive():
    pair = [SOURCES[1]], [PREDICTIONS[1]]
    (edits,) = geceval.load("edit_quality").compute(sources=pair[0], predictions=pair[1])["edits"]
    assert [edit["correction"] for edit in edits] == ["like", "large", "dogs"]
    wrong, threshold = [e for e in edits if e["correction"] != "like"], edits[1]["probability"]
    options = {"valid_edits": "judge", "judge_threshold": threshold}
    result = registry.make_scorer("errant", options).score(*pair, [["I like big dog ."]])
    assert result.details["fp"] == sum(edit["probability"] < threshold for edit in wrong)


@pytest.mark.parametrize("level", ["correction_with_type", "detection_span", "detection_token"])
def test_every_level_of_errant_acquits(level):
    details = compute("errant", level=level, valid_edits="judge", judge_threshold=0.0).details
    assert (details["fp"], details["precision"]) == (0, 1.0)


def test_empty_texts_are_judged():
    options = {"valid_edits": "judge", "judge_threshold": 0.0}
    for metric in METRICS:
        result = registry.make_scorer(metric, options).score(["", "a b"], ["a", ""], [[""], ["a b"]])
        assert result.details.get("fp", result.details.get("fp_un")) == 0


def test_types_compare_with_references_alone():
    with pytest.raises(ValueError, match="types: edits are compared with references, not judged"):
        geceval.error_types(SOURCES, {"a": PREDICTIONS}, REFERENCES, options={"valid_edits": "judge"})
