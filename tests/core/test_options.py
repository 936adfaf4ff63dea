"""Settings and run-time options are told apart by name and checked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from geceval.core.errors import InputError
from geceval.core.options import (
    MODEL,
    PATH,
    Count,
    FilePath,
    ModelName,
    Moderate,
    Options,
    Positive,
    Range,
    RunTime,
    check_count,
    path_options,
    replace_options,
)


@dataclass(frozen=True, slots=True)
class Settings:
    beta: float = 0.5

    def __post_init__(self):
        if self.beta <= 0:
            raise InputError("beta must be positive")


def test_each_option_finds_its_place():
    settings, runtime = replace_options("toy", Settings(), RunTime(), {"beta": 1.0, "batch_size": 3})
    assert (settings, runtime) == (Settings(1.0), RunTime(batch_size=3))


def test_an_unknown_option_lists_those_that_exist():
    message = r"toy: unknown option 'bata'; the options are: beta, batch_size, cache, device, dtype, progress, workers"
    with pytest.raises(TypeError, match=message):
        replace_options("toy", Settings(), RunTime(), {"bata": 1.0})


def test_values_are_checked_by_the_settings_themselves():
    with pytest.raises(ValueError, match="^toy: beta must be positive"):
        replace_options("toy", Settings(), RunTime(), {"beta": 0.0})
    with pytest.raises(TypeError, match="^toy: batch_size must be an int"):
        replace_options("toy", Settings(), RunTime(), {"batch_size": "3"})
    with pytest.raises(ValueError, match="workers must be at least 1, got -1"):
        RunTime(workers=-1)


@dataclass(frozen=True, slots=True)
class Every(Options):
    """A field of every type that options have."""

    flag: bool = True
    count: int | None = None
    share: float = 0.5
    name: str = "a"
    kind: Literal["one", "two"] = "one"
    file: FilePath | None = None
    model: ModelName = "bundled"
    weights: str | tuple[float, ...] = ()
    systems: Sequence[Sequence[str]] | None = None
    runtime: RunTime | None = None
    level: Literal["span", "token"] | None = None
    classes: Literal[2, 4] | None = None
    size: Count | None = None
    order: Annotated[int, Range(3, 100)] = 3
    beta: Positive = 0.5
    slope: Moderate | None = None


def test_values_of_the_right_types_pass():
    Every()
    Every(False, 3, 1, "b", "two", Path("a"), "b", [1, 2.5], [["a"], ("b",)], RunTime())
    Every(file="a", weights="b", systems=[], level="span", classes=4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flag": "no"}, "flag must be a bool, got str 'no'"),
        ({"flag": 1}, "flag must be a bool, got int 1"),
        ({"flag": None}, "flag must be a bool, got None"),
        ({"count": True}, "count must be an int, got bool True"),
        ({"count": 2.0}, "count must be an int, got float 2.0"),
        ({"share": "0.5"}, "share must be a number, got str '0.5'"),
        ({"share": True}, "share must be a number, got bool True"),
        ({"name": 3}, "name must be a string, got int 3"),
        ({"kind": 1}, "kind must be one of 'one', 'two', got int 1"),
        ({"file": 3}, "file must be a path, got int 3"),
        ({"model": Path("a")}, "model must be a string (name or folder of a model), got PosixPath"),
        ({"weights": (1, "2")}, "weights must be a string or a list of numbers, got tuple (1, '2')"),
        ({"weights": 1}, "weights must be a string or a list of numbers, got int 1"),
        ({"systems": "ab"}, "systems must be a list of lists of strings, got str 'ab'"),
        ({"systems": ["ab"]}, "systems must be a list of lists of strings, got list ['ab']"),
        ({"runtime": {}}, "runtime must be a RunTime, got dict {}"),
        ({"level": 1}, "level must be one of 'span', 'token', got int 1"),
        ({"classes": True}, "classes must be one of 2, 4, got bool True"),
        ({"size": 2.0}, "size must be an int, got float 2.0"),
        ({"beta": "1"}, "beta must be a number, got str '1'"),
    ],
)
def test_values_of_other_types_do_not(options, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        Every(**options)


@pytest.mark.parametrize("value", ["a\0b", "a\ud800b", Path("a\0b")])
def test_a_path_that_no_file_can_have(value):
    with pytest.raises(InputError, match="^cache must be a name that a file can have, got .*a.*b'"):
        RunTime(cache=value)
    with pytest.raises(InputError, match="^file must be a name that a file can have, got"):
        Every(file=value)
    RunTime(cache="a\udcffb")  # a byte that is not UTF-8


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        *[("beta", value, "lie between 1e-06 and 1e[+]06, got") for value in (0, -1.0, 1e-200)],
        ("beta", float("nan"), "lie between 1e-06 and 1e[+]06, got nan"),
        ("beta", float("inf"), "lie between 1e-06 and 1e[+]06, got inf"),
        ("beta", 1e200, "lie between 1e-06"),  # its square overflows: F would be nan
        ("beta", 10**400, "lie between 1e-06"),
        *[("slope", value, "lie between -1e[+]06 and 1e[+]06") for value in (float("nan"), float("inf"), 1e308, -1e7)],
        ("size", 0, "be at least 1, got 0"),
        ("order", 101, "lie between 3 and 100, got 101"),
        ("order", 2, "lie between 3 and 100, got 2"),
        ("kind", "three", "be one of 'one', 'two', got 'three'"),
        ("level", "word", "be one of 'span', 'token', got 'word'"),  # beside none
        ("classes", 3, "be one of 2, 4, got 3"),
        *[(name, "", "not be empty") for name in ("file", "model")],  # not the folder one is in
    ],
)
def test_values_beyond_their_range(option, value, message):
    with pytest.raises(ValueError, match=f"^{option} must {message}"):
        Every(**{option: value})


def test_counts_that_are_arguments_of_a_function():
    check_count("order", 3, least=3, most=3)
    with pytest.raises(ValueError, match="order must be at least 1, got 0"):
        check_count("order", 0)
    with pytest.raises(TypeError, match="order must be an int, got float"):
        check_count("order", 1.0)


def test_marked_paths():
    assert path_options(Every) == {"file": PATH, "model": MODEL}
