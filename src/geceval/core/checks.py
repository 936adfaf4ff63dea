"""Checks of settings that several metrics share; the messages name the setting."""

from __future__ import annotations

from collections.abc import Sequence

from geceval.core.errors import InputError, InputTypeError


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise a `ValueError` unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be one of {listed}, got {value!r}")


LARGEST = 1e6


def check_count(name: str, value: object, least: int = 1, most: int | None = None) -> None:
    """Raise a `TypeError` unless `value` is an int, a `ValueError` unless it lies in [`least`, `most`]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputTypeError(f"{name} must be an int, got {type(value).__name__}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    if most is not None and value > most:
        raise InputError(f"{name} must be at most {most}, got {value}")


def check_positive(name: str, value: float) -> None:
    """Raise a `ValueError` unless `value` lies in [1e-6, 1e6].

    Beyond that its square, which most formulas need, leaves the range of floating point or outweighs all else.
    """
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be positive and finite, got {value!r}")
    if not 1 / LARGEST <= value <= LARGEST:
        raise InputError(f"{name} must lie between {1 / LARGEST:g} and {LARGEST:g}, got {value!r}")


def check_moderate(name: str, value: float) -> None:
    """Raise a `ValueError` unless `value` lies in [-1e6, 1e6]."""
    if not -LARGEST <= value <= LARGEST:
        raise InputError(f"{name} must lie between {-LARGEST:g} and {LARGEST:g}, got {value!r}")
