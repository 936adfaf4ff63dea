"""Limits on what visitors type, and errors shown as one sentence without a traceback."""

from __future__ import annotations

import functools
import html
import inspect
import logging
import unicodedata
from collections.abc import Callable
from typing import Any

import gradio as gr

from geceval.core.errors import InputError, UserError
from geceval.core.files import split_lines

logger = logging.getLogger("geceval.demo")

MAX_WORDS = 400
MAX_CHARACTERS = 6_000
MAX_REFERENCES = 8
SORRY = "Something went wrong on our side; please try another input, or run geceval on your own machine"


class Refused(InputError):
    """An input that the page does not take; the message is one sentence for the user."""


def polite(function: Callable[..., Any]) -> Callable[..., Any]:
    """An event handler whose errors arrive as `gr.Error` with one sentence."""

    @functools.wraps(function)
    def handler(*values: Any, **named: Any) -> Any:
        try:
            return function(*values, **named)
        except UserError as error:
            if not isinstance(error, Refused):
                logger.info("%s refused its input: %s", function.__name__, error)
            raise gr.Error(_shown(str(error)), title="Please check the input", print_exception=False) from error
        except gr.Error:
            raise
        except Exception as error:
            logger.exception("%s failed", function.__name__)
            raise gr.Error(f"{SORRY}.", title="Sorry", print_exception=False) from error

    handler.__signature__ = inspect.signature(function, eval_str=True)  # gradio takes types, not their names
    return handler


def _shown(message: str) -> str:
    """A message as the page shows it, which reads it as HTML."""
    line = " ".join(message.split())
    return html.escape(line if len(line) <= 400 else f"{line[:400]} …")


def check_text(name: str, text: Any) -> str:
    """A text that can be scored, with single spaces."""
    if not isinstance(text, str):
        raise Refused(f"Type {name} as text.")
    if len(text) > MAX_CHARACTERS or len(text.split()) > MAX_WORDS:
        words = len(text.split())
        if words > MAX_WORDS:
            size, limit = f"{words:,} words", f"{MAX_WORDS} words"
        else:
            size, limit = f"{len(text):,} characters", f"{MAX_CHARACTERS:,} characters"
        raise Refused(f"This page takes {limit} at most, but {name} has {size}.")
    strange = next((letter for letter in text if _is_strange(letter)), None)
    if strange is not None:
        raise Refused(f"Please paste plain text: {name} holds U+{ord(strange):04X}, which is no printable character.")
    return " ".join(text.split())


def _is_strange(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cs") and not letter.isspace()


def check_sentence(name: str, text: Any) -> str:
    """As `check_text`, for a sentence that must be there."""
    sentence = check_text(name, text)
    if not sentence:
        raise Refused(f"Nothing to do yet: type {name} first.")
    return sentence


def check_references(text: Any) -> list[str]:
    """References, one a line, blank lines left out."""
    if text is None:
        return []
    if not isinstance(text, str):
        raise Refused("Type the references as text, one a line.")
    if len(text) > MAX_CHARACTERS * MAX_REFERENCES:
        raise Refused(f"This page takes {MAX_REFERENCES} references of {MAX_WORDS} words each at most.")
    lines = [line for line in split_lines(text) if line.strip()]
    if len(lines) > MAX_REFERENCES:
        raise Refused(f"This page takes {MAX_REFERENCES} references at most, one a line, but there are {len(lines)}.")
    return [check_sentence(f"reference {number}", line) for number, line in enumerate(lines, start=1)]


def check_flag(name: str, value: Any) -> bool:
    """A truth value."""
    if not isinstance(value, bool):
        raise Refused(f"Say {name} with true or false.")
    return value
