"""Arguments that make no sense, of the functions at the top of the package: one error that says what was expected."""

import pytest

import geceval
from geceval.edits.edit import Edit

COLUMNS = ["He go ."], ["He goes ."]
REFERENCES = [["He goes ."]]
SYSTEMS = {"a": COLUMNS[1], "b": COLUMNS[0]}


def compare(systems=SYSTEMS, metrics="gleu", **more):
    return geceval.compare(metrics, COLUMNS[0], systems, REFERENCES, **more)


MISTAKES = [
    (lambda: geceval.edit_impacts(*COLUMNS, runtime=3), "impacts: runtime must be a geceval.core.options.RunTime"),
    (lambda: geceval.edit_impacts(*COLUMNS, edits=3), "impacts: edits must be a list"),
    (lambda: geceval.edit_impacts(*COLUMNS, edits=[[Edit(1, 2, "goes"), 3]]), r"impacts: edits\[0\] must be a list of"),
    (lambda: geceval.detect(COLUMNS[0], runtime={"batch_size": 2}), "detect: runtime must be a .*got dict"),
    (lambda: geceval.attribute("gleu", *COLUMNS, REFERENCES, options=3), "gleu: options must be a dict"),
    (lambda: geceval.maege("gleu", "any.m2", options=3), "maege: options must be a dict of names and values, got int"),
    (lambda: geceval.maege("gleu", "any.m2", options={"gleu": 3}), "gleu: options must be a dict"),
    (lambda: geceval.maege(3, "any.m2"), "maege: metrics must be names of metrics, got 3"),
    (lambda: geceval.maege("gleu", 3), "maege: m2 must be the path of an M2 file, got int"),
    (lambda: geceval.attack(3), "attack: metrics must be names of metrics, got 3"),
    (lambda: geceval.attack("gleu", *COLUMNS), "attack: systems must be a dict of names and outputs, got list"),
    (lambda: compare(systems=3), "compare: systems must be a dict of names and predictions, got int"),
    (lambda: compare({"a": 3, "b": ["x"]}), "gleu: predictions must be a list"),
    (lambda: compare(metrics=3), "compare: metrics must be names of metrics"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_a_wrong_type(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare(options={"x": {}}), r"compare: options for 'x', which is not among \['gleu'\]"),
        (lambda: geceval.trainer_metrics(None, []), "trainer_metrics: name at least one metric"),
        (lambda: compare(metrics="cleme", predictions_m2=3), "cleme: predictions_m2 must have one M2 file per system"),
    ],
)
def test_metrics_that_are_not_scored(call, message):
    with pytest.raises(ValueError, match=message):
        call()
