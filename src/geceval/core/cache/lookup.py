"""Values looked up in memory, then on disk, and computed if they are in neither."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from geceval.core.cache.disk import DiskCache
from geceval.core.cache.memory import LRUCache

Key = TypeVar("Key")
Value = TypeVar("Value")

_WRITTEN_AFTER = 4096  # new values


def cached(
    keys: Iterable[Key],
    compute: Callable[[list[Key]], Iterable[tuple[Key, Value]]],
    memory: LRUCache[Key, Value],
    disk: DiskCache[Key, Value] | None = None,
) -> dict[Key, Value]:
    """The value of each key; values that had to be computed are stored in memory and on disk for the next time."""
    # If `compute` fails halfway, the values that it gave before are stored all the same.
    keys = list(dict.fromkeys(keys))
    found = memory.get_many(keys)
    if disk is not None:
        on_disk = disk.get_many([key for key in keys if key not in found])
        memory.put_many(on_disk)
        found.update(on_disk)
    fresh: dict[Key, Value] = {}

    def store() -> None:
        memory.put_many(fresh)
        if disk is not None:
            disk.put_many(fresh)
        fresh.clear()

    missing = [key for key in keys if key not in found]
    try:
        for key, value in compute(missing) if missing else ():
            found[key] = fresh[key] = value
            if len(fresh) >= _WRITTEN_AFTER:
                store()
    finally:
        store()
    return found
