"""The pool of worker processes, asked again before it has answered."""

from __future__ import annotations

import os
import threading

import pytest

from geceval.edits.workers import Pool


def shout(jobs):
    return [text.upper() for (text,) in jobs]


def process_ids(jobs):
    return [os.getpid() for _ in jobs]


@pytest.fixture
def pool():
    pool = Pool()
    yield pool
    pool.close()


def jobs(name: str) -> list[tuple[str]]:
    return [(f"{name} {number}",) for number in range(200)]


def answers(name: str) -> dict[int, str]:
    return {number: f"{name.upper()} {number}" for number in range(200)}


def test_a_second_call_does_not_get_the_answers_of_the_first(pool):
    first = pool.run(shout, jobs("one"), 2)
    begun = dict([next(first)])
    assert dict(pool.run(shout, jobs("two"), 2)) == answers("two")
    assert begun | dict(first) == answers("one")
    assert dict(pool.run(shout, jobs("three"), 2)) == answers("three")


def test_threads_share_a_pool(pool):
    found = {}

    def ask(name):
        found[name] = [dict(pool.run(shout, jobs(name), 2)) for _ in range(3)]

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [answers(name)] * 3 for name in "abcd"}


def test_a_call_that_is_given_up_does_not_block_the_next(pool):
    first = pool.run(process_ids, jobs("one"), 2)
    next(first)
    first.close()
    found = dict(pool.run(process_ids, jobs("two"), 2))
    assert len(found) == 200 and os.getpid() not in found.values()  # done by workers, not here for want of them
