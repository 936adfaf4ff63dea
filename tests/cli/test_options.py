"""Options with several values, and options of metrics as text."""

from typing import Literal

import pytest

from geceval.cli.metric_options import metric_options, parse_value
from geceval.cli.options import repeat_flags

FLAGS = {"-m", "--metrics", "-p"}


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("-m a b -s x", "-m a -m b -s x"),
        ("--metrics a b c", "--metrics a --metrics b --metrics c"),
        ("--metrics=a b -s x y", "--metrics=a --metrics b -s x y"),
        ("-m a -m b c", "-m a -m b -m c"),
        ("-p - x --sentence y", "-p - -p x --sentence y"),  # a dash is standard input
        ("-s x y -- -m a b", "-s x y -- -m a b"),
        ("-m a b -- c", "-m a -m b -- c"),
        ("", ""),
    ],
)
def test_flags_are_repeated(arguments, wanted):
    assert repeat_flags(arguments.split(), FLAGS) == wanted.split()


@pytest.mark.parametrize("arguments", ["-m", "-m -p x", "-p x -m --", "-s x --metrics"])
def test_a_flag_without_value_is_named(arguments):
    with pytest.raises(ValueError, match="option (-m|--metrics) needs at least one value"):
        repeat_flags(arguments.split(), FLAGS)


@pytest.mark.parametrize(
    ("text", "annotation", "wanted"),
    [
        ("0.5", float, 0.5),
        ("1", float, 1.0),
        ("3", int | None, 3),
        ("none", int | None, None),
        ("none", str, "none"),
        ("none", Literal["none", "all"], "none"),
        ("none", Literal["sum", "mean"] | None, None),
        ("system", Literal["system"] | tuple[float, ...], "system"),
        ("3", int | str, 3),
        ("all", int | str, "all"),
        ("yes", bool, True),
        ("False", bool, False),
        ("R,M", list[str], ["R", "M"]),
        ("R, M", tuple[str, ...], ("R", "M")),
        ("", tuple[str, ...], ()),
        (".1,.2,.7", str | tuple[float, float, float], (0.1, 0.2, 0.7)),
        ("a=b", str, "a=b"),
        ("odd", Literal["auto", "float32"] | None, "odd"),  # which the metric refuses
        ("4", Literal[2, 4], 4),
    ],
)
def test_values(text, annotation, wanted):
    value = parse_value("x", text, annotation)
    assert value == wanted
    assert type(value) is type(wanted)


@pytest.mark.parametrize(
    ("text", "annotation", "message"),
    [
        ("half", float, "option x must be a number, got 'half'"),
        ("0.5", int, "option x must be a whole number, got '0.5'"),
        ("maybe", bool, "option x must be yes or no, got 'maybe'"),
        ("", int | None, "option x must be a whole number, got ''"),
    ],
)
def test_bad_values(text, annotation, message):
    with pytest.raises(ValueError, match=message):
        parse_value("x", text, annotation)


def test_options_go_to_the_metrics_that_have_them():
    options = metric_options(["gleu", "green"], ["unit=char", "iterations=2", "green.unit=word", "batch-size=8"])
    gleu = {"unit": "char", "iterations": 2, "batch_size": 8}
    assert options == {"gleu": gleu, "green": {"unit": "word", "batch_size": 8}}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("unit", "must be KEY=VALUE or METRIC.KEY=VALUE"),
        ("=3", "must be KEY=VALUE"),
        ("iteration=3", "unknown option 'iteration'; gleu has .*iterations"),
        ("green.unit=char", "is for 'green', which is not among -m gleu"),
    ],
)
def test_bad_options_are_named(assignment, message):
    with pytest.raises(ValueError, match=message):
        metric_options(["gleu"], [assignment])


def test_a_flag_goes_to_the_metrics_that_have_its_option():
    options = metric_options(["impara", "gleu", "errant"], None, threshold=0.9, average="sentence", beta=1.0)
    assert options == {"impara": {"threshold": 0.9}, "gleu": {}, "errant": {"average": "sentence", "beta": 1.0}}
    options = metric_options(["impara_lm", "impara"], ["impara.threshold=0.7"], threshold=0.9)
    assert options == {"impara_lm": {"threshold": 0.9}, "impara": {"threshold": 0.7}}
    with pytest.raises(ValueError, match="--threshold is for .*scribendi; none of them is among -m gleu green"):
        metric_options(["gleu", "green"], None, threshold=0.9)
