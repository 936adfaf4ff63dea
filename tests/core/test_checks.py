"""Checks of settings: ends of the ranges, the name in the message; types are checked by their annotations."""

import pytest

from geceval.core.checks import check_count, check_moderate, check_positive


@pytest.mark.parametrize("value", [1e-6, 0.5, 1, 1e6])
def test_positive_numbers_pass(value):
    check_positive("beta", value)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "beta must be positive and finite, got 0"),
        (-1.0, ValueError, "beta must be positive and finite"),
        (float("nan"), ValueError, "beta must be positive and finite, got nan"),
        (float("inf"), ValueError, "beta must be positive and finite, got inf"),
        (1e200, ValueError, "beta must lie between 1e-06 and 1e[+]06"),  # its square overflows: F would be nan
        (1e-200, ValueError, "beta must lie between"),  # its square is 0
        (10**400, ValueError, "beta must"),
    ],
)
def test_other_numbers_do_not(value, error, message):
    with pytest.raises(error, match=message):
        check_positive("beta", value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308, -1e7])
def test_numbers_that_sums_cannot_bear(value):
    check_moderate("a", -2.5)
    with pytest.raises(ValueError, match="a must lie between -1e[+]06 and 1e[+]06"):
        check_moderate("a", value)


def test_counts():
    check_count("order", 3, least=3, most=3)
    with pytest.raises(ValueError, match="order must be at least 1, got 0"):
        check_count("order", 0)
    with pytest.raises(ValueError, match="order must be at most 100, got 101"):
        check_count("order", 101, most=100)
    with pytest.raises(TypeError, match="order must be an int, got float"):
        check_count("order", 1.0)
