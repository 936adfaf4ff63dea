"""Errors caused by the caller's mistakes, so that the command line can distinguish them from bugs of geceval."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class UserError(Exception):
    """Something that the user can fix: a bad option, input or file. The message says what was expected and how."""


class InputError(UserError, ValueError):
    """A value, a file or a combination of options that cannot be used."""


class InputTypeError(UserError, TypeError):
    """A value of the wrong type, or an option that does not exist."""


class MissingExtraError(UserError, ImportError):
    """An optional dependency that is not installed; the message names the extra of the package that brings it."""


class Interrupted(Exception):
    """The user stopped the work; the message says what can be done with what there is."""


@contextlib.contextmanager
def named(metric: str) -> Iterator[None]:
    """Within the block, messages of user errors begin with the name of the metric."""
    try:
        yield
    except UserError as error:
        if str(error).startswith(f"{metric}: "):
            raise
        raise type(error)(f"{metric}: {error}") from error
