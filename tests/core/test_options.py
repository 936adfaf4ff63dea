"""Settings and run-time options are told apart by name and checked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from geceval.core.errors import InputError
from geceval.core.options import MODEL, PATH, FilePath, ModelName, RunTime, check_types, path_options, replace_options


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


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 2.0}, TypeError),
        ({"batch_size": True}, TypeError),
        ({"workers": -1}, ValueError),
        ({"dtype": "int8"}, ValueError),
    ],
)
def test_bad_run_time_options(options, error):
    with pytest.raises(error, match=next(iter(options))):
        RunTime(**options)


@dataclass(frozen=True, slots=True)
class Every:
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

    def __post_init__(self):
        check_types(self)


def test_values_of_the_right_types_pass():
    Every()
    Every(False, 3, 1, "b", "two", Path("a"), "b", [1, 2.5], [["a"], ("b",)], RunTime())
    Every(file="a", weights="b", systems=[])


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
    ],
)
def test_values_of_other_types_do_not(options, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        Every(**options)


@pytest.mark.parametrize("name", ["file", "model"])
def test_an_empty_path_is_not_the_folder_one_is_in(name):
    with pytest.raises(ValueError, match=f"{name} must not be empty"):
        Every(**{name: ""})


def test_a_choice_that_does_not_exist():
    with pytest.raises(ValueError, match="kind must be one of 'one', 'two', got 'three'"):
        Every(kind="three")


def test_marked_paths():
    assert path_options(Every) == {"file": PATH, "model": MODEL}
