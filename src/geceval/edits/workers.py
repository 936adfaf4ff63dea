"""Processes that extract edits, each of which keeps the parses of its own share of the sources."""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geceval.edits.annotate import Annotator
    from geceval.edits.edit import Edit

_CHUNK = 64
_SECONDS_BETWEEN_LOOKS = 5


class Workers:
    """A fixed number of processes; all pairs of one source go to the same one, whose caches then serve it.

    They are started by the method that Python uses on the platform, without any thread, and live until `close` or the
    end of this process.

    Args:
        annotator: What the processes run; a copy of it, or, where processes are spawned, of its pipeline.
        count: Number of processes.
    """

    def __init__(self, annotator: Annotator, count: int) -> None:
        self.count = count
        self.process = os.getpid()
        self._links: list[Connection] = []
        self._processes = []
        for _ in range(count):
            link, other_end = multiprocessing.Pipe()
            process = multiprocessing.Process(target=_serve, args=(annotator, other_end), daemon=True)
            process.start()
            other_end.close()
            self._links.append(link)
            self._processes.append(process)

    def extract(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[list[int], list[tuple[Edit, ...]]]]:
        """Extract the edits of distinct pairs. If this ends early, the processes are of no further use.

        Yields:
            Places in `pairs` and the edits of the pairs there, chunk by chunk as they are done.

        Raises:
            RuntimeError: If a process dies.
            Exception: Whatever is raised in a process.
        """
        shares: list[list[int]] = [[] for _ in self._links]
        for place, (source, _) in enumerate(pairs):
            shares[zlib.crc32(source.encode("utf-8", "surrogatepass")) % self.count].append(place)
        chunks = [deque(share[k : k + _CHUNK] for k in range(0, len(share), _CHUNK)) for share in shares]
        queues = dict(zip(self._links, chunks, strict=True))
        busy: dict[Connection, list[int]] = {}
        try:
            for link in self._links:
                self._give(link, queues[link], busy, pairs)
            while busy:
                for link in wait(list(busy)):
                    edits = link.recv()
                    places = busy.pop(link)
                    self._give(link, queues[link], busy, pairs)
                    if isinstance(edits, Exception):
                        raise edits
                    yield places, edits
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
        link: Connection, queue: deque[list[int]], busy: dict[Connection, list[int]], pairs: Sequence[tuple[str, str]]
    ) -> None:
        if queue:
            busy[link] = queue.popleft()
            link.send([pairs[place] for place in busy[link]])


def may_start() -> bool:
    """Whether this process may have children; the daemonic workers of another pool may not."""
    return not multiprocessing.current_process().daemon


def _serve(annotator: Annotator, link: Connection) -> None:
    """Answer until the parent ends: forked siblings hold its end of the pipe too, so the pipe alone does not tell."""
    parent = multiprocessing.parent_process()
    while True:
        while not link.poll(_SECONDS_BETWEEN_LOOKS):
            if parent is not None and not parent.is_alive():
                return
        try:
            pairs = link.recv()
        except EOFError:
            return
        try:
            answer: object = list(annotator.extract(pairs))
        except Exception as error:  # it is raised again where the edits were asked for
            answer = error
        link.send(answer)
