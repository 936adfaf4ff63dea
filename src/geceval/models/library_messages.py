"""Messages of transformers, peft and others: silenced, or shortened for a message of our own."""

import contextlib
import re
import threading
import warnings
from collections.abc import Iterator

_lock = threading.RLock()  # what is silenced belongs to the whole process, so other threads wait


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Within the block transformers and peft show no bars, no reports and no notes about their own future."""
    from transformers.utils import logging as log

    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
        log.set_verbosity_error()
        log.disable_progress_bar()
        try:
            yield
        finally:
            log.set_verbosity(verbosity)
            if bars:
                log.enable_progress_bar()


def reason(error: BaseException) -> str:
    """The first line of an error's text."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()  # torch sets some words in bold type
    return lines[0] if lines else type(error).__name__
