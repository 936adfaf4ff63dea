"""A bounded memory of what was computed last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """The values that were used last, at most `size` of them; `None` is no value. Threads may share one."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """The value of a key, which is then the one used last; `None` if it is not there (any more)."""
        value = self._values.get(key)
        if value is not None:
            with suppress(KeyError):  # another thread has just dropped it
                self._values.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Keep a value, and forget the one used longest ago if there are too many."""
        self._values[key] = value
        with suppress(KeyError):
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)

    def get_or_compute(
        self, keys: Iterable[Key], compute: Callable[[list[Key]], Iterable[tuple[Key, Value]]]
    ) -> dict[Key, Value]:
        """The values of distinct keys; those that are not there are computed, and kept as they come.

        Args:
            keys: In any order, with repetitions.
            compute: From the missing keys, in the order given, to each of them with its value, in any order.
        """
        found = {key: self.get(key) for key in dict.fromkeys(keys)}
        for key, value in compute([key for key, value in found.items() if value is None]):
            found[key] = value
            self.put(key, value)
        return found
