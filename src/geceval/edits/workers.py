"""Worker processes that extract edits; all pairs of one source go to the same process, whose caches then serve it.

`concurrent.futures` cannot say which process does a job: one `ProcessPoolExecutor` of two processes took 18 % more
processor time for the ERRANT edits of six systems, as sources were parsed in both. One executor per process is as fast,
but all except the first would be forked from a process with threads, which can deadlock.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

_CHUNK = 64
_SECONDS_BETWEEN_LOOKS = 5
_WORTH_A_PROCESS = 64

Work = Callable[[Sequence[Any]], Iterable[Any]]
"""From jobs to their answers, in the same order. A job is a tuple whose first item is the source."""


class Pool:
    """Processes that are started when there is work for them and stay ready for the next call."""

    # They serve one call at a time; a second call, from another thread or while the answers of the first are still
    # being read, is done in this process.

    def __init__(self) -> None:
        self._workers: Workers | None = None
        self._taken = threading.Lock()

    def run(self, work: Work, jobs: Sequence[Any], count: int) -> Iterator[tuple[int, Any]]:
        """Do jobs in this process, or in several where they are many."""
        few = count == 1 or len(jobs) < _WORTH_A_PROCESS
        if few or not may_start() or not self._taken.acquire(blocking=False):
            yield from enumerate(work(jobs))
            return
        try:
            yield from self._run_in_processes(work, jobs, count)
        finally:
            self._taken.release()

    def _run_in_processes(self, work: Work, jobs: Sequence[Any], count: int) -> Iterator[tuple[int, Any]]:
        if self._workers is None or (self._workers.count, self._workers.process) != (count, os.getpid()):
            self.close()
            self._workers = Workers(work, count)
        try:
            for indices, answers in self._workers.run(jobs):
                yield from zip(indices, answers, strict=True)
        except BaseException:  # also if nobody wants the rest: answers to come must not meet the next question
            self.close()
            raise

    def close(self) -> None:
        """End the processes, if there are any; a later call may start new ones."""
        if self._workers is not None and self._workers.process == os.getpid():
            self._workers.close()
        self._workers = None


class Workers:
    """A fixed number of processes; all jobs of one source go to the same one, whose caches then serve it."""

    # They are started by the method that Python uses on the platform, without any thread, and live until `close` or the
    # end of this process.

    def __init__(self, work: Work, count: int) -> None:
        self.count = count
        self.process = os.getpid()
        self._links: list[Connection] = []
        self._processes = []
        for _ in range(count):
            link, other_end = multiprocessing.Pipe()
            process = multiprocessing.Process(target=_serve, args=(work, other_end), daemon=True)
            process.start()
            other_end.close()
            self._links.append(link)
            self._processes.append(process)

    def run(self, jobs: Sequence[Any]) -> Iterator[tuple[list[int], list[Any]]]:
        """Do distinct jobs. If this ends early, the processes are of no further use."""
        shares: list[list[int]] = [[] for _ in self._links]
        for index, job in enumerate(jobs):
            shares[zlib.crc32(job[0].encode("utf-8", "surrogatepass")) % self.count].append(index)
        chunks = [deque(share[k : k + _CHUNK] for k in range(0, len(share), _CHUNK)) for share in shares]
        queues = dict(zip(self._links, chunks, strict=True))
        busy: dict[Connection, list[int]] = {}
        try:
            for link in self._links:
                self._give(link, queues[link], busy, jobs)
            while busy:
                for link in wait(list(busy)):
                    answers = link.recv()
                    indices = busy.pop(link)
                    self._give(link, queues[link], busy, jobs)
                    if isinstance(answers, Exception):
                        raise answers
                    yield indices, answers
        except (EOFError, ConnectionError) as error:
            raise RuntimeError(
                "a worker process that extracts edits died; use workers=1, or, in a script, put the call under "
                "`if __name__ == '__main__':` where Python spawns its processes (Windows, macOS)"
            ) from error

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.terminate()
        for process, link in zip(self._processes, self._links, strict=True):
            process.join()
            link.close()

    @staticmethod
    def _give(
        link: Connection, queue: deque[list[int]], busy: dict[Connection, list[int]], jobs: Sequence[Any]
    ) -> None:
        if queue:
            busy[link] = queue.popleft()
            link.send([jobs[index] for index in busy[link]])


def may_start() -> bool:
    """Whether this process may have children; the daemonic workers of another pool may not."""
    return not multiprocessing.current_process().daemon


def _serve(work: Work, link: Connection) -> None:
    """Answer until the parent ends: forked siblings hold its end of the pipe too, so the pipe alone does not tell."""
    parent = multiprocessing.parent_process()
    while True:
        while not link.poll(_SECONDS_BETWEEN_LOOKS):
            if parent is not None and not parent.is_alive():
                return
        try:
            jobs = link.recv()
        except EOFError:
            return
        try:
            answer: object = list(work(jobs))
        except Exception as error:  # it is raised again where the answers were asked for
            answer = error
        link.send(answer)
