"""Libraries are silent while any thread wants it, and speak again afterwards."""

import threading
import warnings

from transformers.utils import logging as log

from geceval.models.library_messages import quiet


def state():
    return log.get_verbosity(), log.is_progress_bar_enabled(), list(warnings.filters)


def test_blocks_within_one_another():
    before = state()
    with quiet():
        silent = state()
        assert silent != before
        with quiet():
            assert state()[:2] == silent[:2]
        assert state() == silent
    assert state() == before


def test_blocks_of_two_threads_do_not_overlap():
    """Each puts back what it found: had the second one found silence, silence would last."""
    before, inside, seen = state(), threading.Event(), []

    def second():
        inside.wait()
        with quiet():
            seen.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with quiet():
        inside.set()
        thread.join(0.2)
        seen.append("first")
    thread.join()
    assert seen == ["first", "second"]
    assert state() == before
