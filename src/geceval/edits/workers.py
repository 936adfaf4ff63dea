"""Worker processes that extract edits."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

_CHUNK = 64
_WORTH_A_PROCESS = 64

Work = Callable[[Sequence[Any]], Iterable[Any]]
"""From jobs to their answers, in the same order. A job is a tuple whose first item is the source."""

_work: Work  # of a worker process


class Pool:
    """Processes that are started when there is work for them and stay ready for the next call with the same work."""

    # They serve one call at a time; a second call, from another thread or while the answers of the first are still
    # being read, is done in this process.

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._belongs_to = (0, 0)  # number of workers, and the id of the process that started them
        self._taken = threading.Lock()

    def run(self, work: Work, jobs: Sequence[Any], count: int) -> Iterator[tuple[int, Any]]:
        """Do jobs in this process, or in several where they are many; the index of each job with its answer."""
        few = count == 1 or len(jobs) < _WORTH_A_PROCESS
        # A child process of multiprocessing starts none: on exit it would wait for them before they are told to stop.
        is_main = multiprocessing.parent_process() is None
        if few or not is_main or not self._taken.acquire(blocking=False):
            yield from enumerate(work(jobs))
            return
        try:
            chunks = list(_chunks(jobs))
            results = self._started(work, count).map(_do, [[jobs[index] for index in chunk] for chunk in chunks])
            for indices, answers in zip(chunks, results, strict=True):
                yield from zip(indices, answers, strict=True)
        except BrokenProcessPool as error:
            self.close()
            raise RuntimeError(
                "a worker process that extracts edits died; use workers=1, or, in a script, put the call under "
                "`if __name__ == '__main__':` where Python spawns its processes (Windows, macOS)"
            ) from error
        except BaseException:
            self.close()
            raise
        finally:
            self._taken.release()

    def close(self) -> None:
        """End the processes, if there are any; a later call may start new ones."""
        if self._executor is not None and self._belongs_to[1] == os.getpid():
            self._executor.shutdown(cancel_futures=True)
        self._executor = None

    def _started(self, work: Work, count: int) -> ProcessPoolExecutor:
        if self._executor is None or self._belongs_to != (count, os.getpid()):
            self.close()
            self._executor = ProcessPoolExecutor(count, initializer=_begin, initargs=(work,))
            self._belongs_to = (count, os.getpid())
        return self._executor


def _chunks(jobs: Sequence[Any]) -> Iterator[list[int]]:
    """Indices of jobs, those of one source beside each other, so that a source is parsed only once."""
    by_source: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        by_source.setdefault(job[0], []).append(index)
    chunk: list[int] = []
    for indices in by_source.values():
        chunk += indices
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _begin(work: Work) -> None:
    """Prepare a worker process: it ignores Ctrl-C, which its parent handles, and exits when its parent does."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(jobs: Sequence[Any]) -> list[Any]:
    return list(_work(jobs))
