"""`geceval.compare`: the metrics' own scores, tested without scoring again."""

import numpy as np
import pytest

import geceval
from geceval.core.result import Result
from geceval.registry import make_scorer
from geceval.workflows.compare import compare_results

SOURCES = ["a b c d e", "f g h i", "a c e g i", "b d f h", "a a b b", "c c d d"] * 5
REFERENCES = [[text.replace("b", "x").replace("d", "y"), text.replace("c", "z")] for text in SOURCES]
FIRST = [row[0] for row in REFERENCES]
HALF = [FIRST[number] if number % 2 else text for number, text in enumerate(SOURCES)]
SYSTEMS = {"nothing": SOURCES, "half": HALF, "all": FIRST, "all again": FIRST}


@pytest.mark.parametrize("metric", ["gleu", "green", "m2", "i_measure"])
def test_scores_are_the_metrics_own(metric):
    found = geceval.compare(metric, SOURCES, SYSTEMS, REFERENCES, resamples=60)[metric]
    scorer = make_scorer(metric)
    for standing in found.standings:
        result = scorer.score(SOURCES, SYSTEMS[standing.system], REFERENCES)
        assert standing.score == result.score
        assert found.signature == result.signature
    nothing, half, whole, again = found.standings
    assert nothing.score < half.score < whole.score
    assert nothing.low <= nothing.score <= nothing.high and half.low < half.score < half.high
    assert max(whole.p.values()) < 0.05
    assert (again.score, again.low, again.p) == (whole.score, whole.low, whole.p)


def test_baseline_and_signature():
    found = geceval.compare("green", SOURCES, SYSTEMS, REFERENCES, resamples=30, seed=7, baseline="best")["green"]
    assert found.standings[2].difference == found.standings[3].difference == 0.0
    assert found.standings[3].p == {"bootstrap": 1.0, "randomisation": 1.0}
    assert found.standings[0].difference < 0
    settings = "|baseline:best|resamples:30|confidence:0.95|seed:7|"
    assert found.test.startswith(f"compare|methods:bootstrap,randomisation{settings}")


def test_difficulty_comes_from_all_systems():
    """GoToScorer's weights are defined by the systems together, as in `geceval score`."""
    columns = SOURCES[:6], {name: texts[:6] for name, texts in SYSTEMS.items()}, [row[:1] for row in REFERENCES[:6]]
    found = geceval.compare("gotoscorer", *columns, options={"gotoscorer": {"nlp": "bundled"}}, resamples=5)
    assert "difficulty:4systems@" in found["gotoscorer"].signature


def test_bad_input():
    with pytest.raises(TypeError, match="compare: needs sources"):
        geceval.compare("gleu", None, {"a": ["a"], "b": ["a"]}, ["a"])
    with pytest.raises(ValueError, match="pass at least two systems"):
        geceval.compare("gleu", SOURCES, {"a": SOURCES}, REFERENCES)
    with pytest.raises(TypeError, match="compare: unknown option 'samples'; the options are"):
        geceval.compare("gleu", SOURCES, SYSTEMS, REFERENCES, samples=5)
    with pytest.raises(ValueError, match="no system 'c' to compare with"):
        geceval.compare("gleu", SOURCES, SYSTEMS, REFERENCES, baseline="c")
    scorer = make_scorer("green")
    broken = {"a": Result(np.nan, [1.0, np.nan], "s"), "b": Result(0.0, [1.0, 1.0], "s")}
    with pytest.raises(ValueError, match="green: the score of a on sentence 2 is nan"):
        compare_results(scorer, broken)
