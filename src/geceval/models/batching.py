"""Batches: the texts that a network reads together, and the device that reads them."""

import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import Any, TypeVar

SENTENCE = 32  # tokens; longer texts count as several sentences

Job = TypeVar("Job")
Answer = TypeVar("Answer")


def form_batches(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Indices of the texts of each batch, the longest texts first."""
    # A batch has at most `batch_size` texts and, padding included, `batch_size` times 32 tokens, whatever the length of
    # the texts; only a text that is longer forms a batch by itself. At most a sixteenth of the limit is padding.
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batches = []
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        size = max(1, min(batch_size, batch_size * SENTENCE // longest))
        batch = order[start : start + size]
        padding = accumulate(longest - lengths[index] for index in batch)
        batches.append(batch[: sum(tokens <= batch_size * SENTENCE // 16 for tokens in padding)])
        start += len(batches[-1])
    return batches


def share_out(work: Callable[[Any, Job], Answer], models: Sequence[Any], jobs: Iterable[Job]) -> Iterator[Answer]:
    """Do each job with whichever model is free first; answers come in the order of the jobs."""
    if len(models) == 1:
        for job in jobs:
            yield work(models[0], job)
        return
    free: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for model in models:
        free.put(model)

    def run(job: Job) -> Answer:
        model = free.get()
        try:
            return work(model, job)
        finally:
            free.put(model)

    with ThreadPoolExecutor(len(models)) as pool:
        yield from pool.map(run, jobs)
