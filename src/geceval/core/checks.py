"""Checks of settings that several metrics share; the messages name the setting."""

from __future__ import annotations

from collections.abc import Sequence


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise a `ValueError` unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise a `TypeError` unless `value` is an int, a `ValueError` unless it is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def check_number(name: str, value: object) -> None:
    """Raise a `TypeError` unless `value` is a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")


def check_positive(name: str, value: object) -> None:
    """Raise a `TypeError` unless `value` is a number, a `ValueError` unless it is finite and above 0."""
    check_number(name, value)
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
