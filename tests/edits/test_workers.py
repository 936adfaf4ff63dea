"""The pool of worker processes: asked again before it has answered, interrupted, and killed."""

import os
import signal
import subprocess
import sys
import threading
import time

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


# It goes on and ends, which it would not if it waited for workers of its own; the answers go back by the exit code.
OF_A_CHILD = """
import multiprocessing
from geceval.edits.workers import Pool
def shout(jobs):
    return [text.upper() for (text,) in jobs]
def child():
    jobs = [(f"one {number}",) for number in range(200)]
    raise SystemExit(7 if dict(Pool().run(shout, jobs, 2))[199] == "ONE 199" else 1)
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join(20)
code = process.exitcode
process.kill()
assert code == 7, code
"""


def test_a_process_of_multiprocessing_ends():
    subprocess.run([sys.executable, "-c", OF_A_CHILD], check=True, timeout=60, stdin=subprocess.DEVNULL)


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


def die(jobs):
    os._exit(1)


def test_a_worker_that_dies_is_an_error_and_not_the_end(pool):
    with pytest.raises(RuntimeError, match="a worker process that extracts edits died; use workers=1"):
        list(pool.run(die, jobs("one"), 2))
    assert dict(pool.run(shout, jobs("two"), 2)) == answers("two")


def test_the_jobs_of_a_source_go_to_one_process(pool):
    work = [(f"source {number % 20}", f"text {number}") for number in range(400)]
    found = dict(pool.run(process_ids, work, 2))
    assert all(len({found[index] for index in range(source, 400, 20)}) == 1 for source in range(20))


SCRIPT = """
import os, sys, time
from geceval.edits.workers import Pool

def work(jobs):
    os.write(1, f"{os.getpid()}\\n".encode())  # at once, or two processes write into one line
    time.sleep(float(sys.argv[1]))
    return jobs

list(Pool().run(work, [(str(number),) for number in range(2000)], 2))
"""


@pytest.fixture
def working(tmp_path):
    """Start a script whose workers are busy for some seconds; the script, and the ids of its two workers."""
    (tmp_path / "script.py").write_text(SCRIPT)
    started = []

    def start(seconds: float):
        command = [sys.executable, tmp_path / "script.py", str(seconds)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 - a job in the background ignores it
        started.append(subprocess.Popen(command, text=True, start_new_session=True, preexec_fn=heard, **pipes))
        workers: set[int] = set()
        while len(workers) < 2:  # on a busy machine one may take two chunks before the other starts
            workers.add(int(started[0].stdout.readline()))
        return started[0], workers

    yield start
    for script in started:
        if script.poll() is None:
            os.killpg(script.pid, signal.SIGKILL)


def test_workers_end_with_their_parent_even_if_it_is_killed(working):
    script, workers = working(60)
    script.kill()
    deadline = time.monotonic() + 20
    while alive := [worker for worker in workers if is_alive(worker)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_interrupt_ends_all_processes_with_one_message(working):
    script, workers = working(1)
    os.killpg(script.pid, signal.SIGINT)  # Ctrl-C reaches every process of the terminal
    _, errors = script.communicate(timeout=20)
    assert script.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1 and errors.rstrip().endswith("KeyboardInterrupt")
    assert not any(map(is_alive, workers))
