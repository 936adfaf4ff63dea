"""Answers of language models: what is said around a correction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An answer without what is no part of the correction, and the names of the rules that took it away."""

    text: str
    rules: tuple[str, ...] = ()


def clean(answer: str, source: str) -> Cleaned:
    """A correction from the answer of a language model."""
    return Cleaned(answer)


def is_refusal(answer: str, source: str) -> bool:
    """Whether an answer refuses to correct."""
    return False
