"""What transformers, peft and others say: silenced, or shortened for a message of our own."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Within the block transformers and peft show no bars, no reports and no notes about their own future."""
    from transformers.utils import logging as log

    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """The first line of an error's text, for a message of our own."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()  # torch sets some words in bold type
    return lines[0] if lines else type(error).__name__
