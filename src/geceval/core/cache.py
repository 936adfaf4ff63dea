"""Bounded caches in memory, and `clear_caches`, which empties every cache of the library."""

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])

_caches: weakref.WeakSet[Any] = weakref.WeakSet()


def clear_caches() -> None:
    """Empty every cache of geceval in this process: networks, pipelines, edits, answers for texts, files read.

    Afterwards everything is loaded and computed as in a new process. This frees memory, e.g. between two large models,
    once nothing else refers to them. Files that `cache=` wrote stay; worker processes of a pipeline stay until the
    pipeline is freed.
    """
    for cache in list(_caches):
        cache.cache_clear()


def lru_cache(maxsize: int | None = 128) -> Callable[[Function], Function]:
    """`functools.lru_cache`, emptied by `clear_caches`."""

    def decorate(function: Function) -> Function:
        wrapped = functools.lru_cache(maxsize)(function)
        _caches.add(wrapped)
        return wrapped  # type: ignore[return-value]

    return decorate


class LRUCache(Generic[Key, Value]):
    """The `size` most recently used values, emptied by `clear_caches`. Threads may share one; `None` is not a value."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Key, Value] = OrderedDict()
        _caches.add(self)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """The value of a key, which becomes the most recently used; `None` if it is not there."""
        value = self._values.get(key)
        if value is not None:
            with suppress(KeyError):  # another thread has just dropped it
                self._values.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Add a value; if there are too many, the least recently used one is dropped."""
        self._values[key] = value
        with suppress(KeyError):
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """The values of those keys that are there."""
        values = {key: self.get(key) for key in keys}
        return {key: value for key, value in values.items() if value is not None}

    def put_many(self, values: Mapping[Key, Value]) -> None:
        """Add several values, in their order."""
        for key, value in values.items():
            self.put(key, value)

    def drop(self, keys: Iterable[Key]) -> None:
        """Forget the values of these keys."""
        for key in keys:
            self._values.pop(key, None)

    def cache_clear(self) -> None:
        """Drop all values; named like the method of `functools.lru_cache`."""
        self._values.clear()
