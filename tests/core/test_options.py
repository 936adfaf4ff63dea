"""Settings and run-time options are told apart by name and checked."""

from dataclasses import dataclass

import pytest

from geceval.core.options import RunTime, replace_options


@dataclass(frozen=True, slots=True)
class Settings:
    beta: float = 0.5

    def __post_init__(self):
        if self.beta <= 0:
            raise ValueError("beta must be positive")


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
