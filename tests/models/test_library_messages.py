"""Libraries are silent while any thread wants it, and speak again afterwards."""

import warnings

from transformers.utils import logging as log

from geceval.models.library_messages import quiet


def state():
    return log.get_verbosity(), log.is_progress_bar_enabled(), list(warnings.filters)


def test_blocks_of_two_threads_that_overlap():
    """Each puts back what it found: the second one found silence, which must not last."""
    before = state()
    first, second = quiet(), quiet()
    first.__enter__()
    silent = state()
    second.__enter__()
    first.__exit__(None, None, None)
    assert state() == silent != before
    second.__exit__(None, None, None)
    assert state() == before
    with quiet():
        assert state() == silent
    assert state() == before
