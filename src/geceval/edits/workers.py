"""Processes that extract edits, each of which keeps the parses of its own share of the sources."""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geceval.edits.annotate import Annotator
    from geceval.edits.edit import Edit

_CHUNK = 64

_mine: Annotator | None = None


class Workers:
    """A fixed number of processes; all pairs of one source go to the same one, whose caches then serve it.

    The processes start with the first job, by the start method that Python uses on the platform, and live until
    `close` or the end of the interpreter. A forked copy of this process starts its own.

    Args:
        annotator: What the processes run; a copy of it, or, where processes are spawned, of its pipeline.
        count: Number of processes.
    """

    def __init__(self, annotator: Annotator, count: int) -> None:
        self.count = count
        self.process = os.getpid()
        self._pools = [ProcessPoolExecutor(1, initializer=_start, initargs=(annotator,)) for _ in range(count)]

    def extract(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[list[int], list[tuple[Edit, ...]]]]:
        """Extract the edits of distinct pairs.

        Yields:
            Places in `pairs` and the edits of the pairs there, chunk by chunk as they are done.

        Raises:
            RuntimeError: If a process dies.
        """
        shares: list[list[int]] = [[] for _ in self._pools]
        for place, (source, _) in enumerate(pairs):
            shares[zlib.crc32(source.encode()) % self.count].append(place)
        jobs: dict[Future, list[int]] = {}
        try:
            for pool, share in zip(self._pools, shares, strict=True):
                for start in range(0, len(share), _CHUNK):
                    places = share[start : start + _CHUNK]
                    jobs[pool.submit(_extract, [pairs[place] for place in places])] = places
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process that extracts edits died; use workers=1, or, in a script, put the call under "
                "`if __name__ == '__main__':` where Python spawns its processes (Windows, macOS)"
            ) from error
        finally:
            for job in jobs:
                job.cancel()

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)


def may_start() -> bool:
    """Whether this process may have children; the daemonic workers of another pool may not."""
    return not multiprocessing.current_process().daemon


def _start(annotator: Annotator) -> None:
    global _mine
    _mine = annotator


def _extract(pairs: Sequence[tuple[str, str]]) -> list[tuple[Edit, ...]]:
    if _mine is None:
        raise RuntimeError("the worker process was not started by Workers")
    return list(_mine.extract(pairs))
