"""Which options an analysis reads; the numbers are tried in tests/cli/test_meta.py."""

import pytest

from geceval.workflows.analyses import Settings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "zero"}, "the analysis 'system' reads no ties"),
        ({"window": 4, "ties": "zero"}, "the analysis 'system' reads no ties"),
        ({"level": "sentence", "aggregation": "trueskill"}, "the analysis 'sentence' reads no aggregation"),
        ({"level": "both", "aggregation": "average"}, "the analysis 'both' reads no aggregation"),
        ({"pairwise": "metric", "ties": "zero"}, "the analysis 'pairwise metric' reads no ties"),
        ({"top_k": True, "pairwise": "human"}, "top_k and pairwise are different analyses"),
        ({"level": "both", "window": 4}, "window is an analysis of one level"),
        ({"window": 1}, "window must be at least 2"),
    ],
)
def test_options_that_an_analysis_does_not_read_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Settings(**options)


def test_options_that_are_read():
    Settings(level="sentence", ties="zero", unexpanded=True)
    Settings(pairwise="human", ties="drop")
    Settings(top_k=True, aggregation="trueskill")
