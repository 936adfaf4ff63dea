"""What was computed before, kept in a folder that any number of processes may share.

The folder holds one SQLite file. An entry is found by the SHA-256 of everything its value depends on and carries a
checksum, so a damaged one is computed again; a file that is damaged as a whole is put away and a new one begun. A
folder that cannot be read or written costs one warning, never the work.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

logger = logging.getLogger("geceval")

Key = TypeVar("Key")
Value = TypeVar("Value")
Found = TypeVar("Found")

FILE = "geceval-1.sqlite"  # the number is that of the format

_AT_ONCE = 500  # keys a query
_WRITTEN_AFTER = 4096  # new values
_CHECKSUM = 8
_PATIENCE = 60.0  # seconds to wait for another process that writes
_TABLE = "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL)"


class DiskCache:
    """A folder of values that were computed before.

    Every call opens and closes the file, so that a store may be used by threads and forked processes alike.

    Args:
        folder: Made when something is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.file = Path(folder).expanduser() / FILE
        self._usable = True
        self._lock = threading.Lock()

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there and whole."""
        wanted = list(keys)

        def read(database: sqlite3.Connection) -> dict[bytes, bytes]:
            found = {}
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                places = ",".join("?" * len(part))
                query = f"SELECT key, value FROM entries WHERE key IN ({places})"
                found.update((key, _checked(key, value)) for key, value in database.execute(query, part))
            return {key: value for key, value in found.items() if value is not None}

        if not wanted or not self._usable or not _is_file(self.file):
            return {}
        return self._with_database("rw", read) or {}

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep values, all of them or, if that fails, none; entries of the same keys are replaced."""

        def write(database: sqlite3.Connection) -> None:
            rows = [(key, _checksum(key, value) + value) for key, value in items.items()]
            with database:
                database.execute(_TABLE)
                database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", rows)

        if items and self._usable:
            self._with_database("rwc", write)

    def _with_database(self, mode: str, work: Callable[[sqlite3.Connection], Found]) -> Found | None:
        before = None
        try:
            if mode == "rwc":
                self.file.parent.mkdir(parents=True, exist_ok=True)
            before = _inode(self.file)
            address = f"{self.file.absolute().as_uri()}?mode={mode}"
            with self._lock, closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as database:
                database.execute("PRAGMA synchronous = OFF")  # what a power cut damages is found out and made anew
                return work(database)
        except (OSError, sqlite3.OperationalError) as error:
            if "no such table" in str(error):  # made by a process that was killed before it wrote
                return None
            self._usable = False
            logger.warning("the cache %s is not used: %s", self.file, error)
        except sqlite3.DatabaseError as error:
            logger.warning("the cache %s is damaged (%s) and is begun anew", self.file, error)
            self._put_away(before)
        return None

    def _put_away(self, inode: int | None) -> None:
        """Make place for a new file, unless another process has done so by now."""
        try:
            if inode is not None and _inode(self.file) == inode:
                self.file.replace(self.file.with_suffix(".damaged"))
                Path(f"{self.file}-journal").unlink(missing_ok=True)
        except OSError:
            self._usable = False


@functools.lru_cache(maxsize=16)
def disk_cache(folder: str | Path) -> DiskCache:
    """The store of a folder, one a process, so that what is wrong with it is said once."""
    return DiskCache(folder)


def cached(
    compute: Callable[[list[Key]], Iterable[tuple[Key, Value]]],
    cache: str | Path | None,
    facts: Sequence[Any],
    pack: Callable[[Value], bytes | None],
    unpack: Callable[[bytes], Value],
) -> Callable[[list[Key]], Iterator[tuple[Key, Value]]]:
    """`compute`, for the keys only whose values a store does not have; what it gives goes there.

    Args:
        compute: From keys to each of them with its value, in any order.
        cache: Folder of the store; `None` computes everything.
        facts: All that the values depend on beside the keys: plain values that JSON can hold, as the keys must be.
        pack: From a value to bytes; to `None` if it is not to be kept.
        unpack: And back, to an equal value.
    """

    def look_first(missing: list[Key]) -> Iterator[tuple[Key, Value]]:
        if cache is None:
            yield from compute(missing)
            return
        store = disk_cache(cache)
        names = {key: _name(facts, key) for key in missing}
        found = store.get_many(names.values())
        for key in missing:
            if names[key] in found:
                yield key, unpack(found[names[key]])
        rest = [key for key in missing if names[key] not in found]
        fresh: dict[bytes, bytes] = {}
        try:
            for key, value in compute(rest) if rest else ():
                packed = pack(value)
                if packed is not None:
                    fresh[names[key]] = packed
                yield key, value
                if len(fresh) >= _WRITTEN_AFTER:
                    store.put_many(fresh)
                    fresh.clear()
        finally:
            store.put_many(fresh)

    return look_first


def _name(facts: Sequence[Any], key: Any) -> bytes:
    return hashlib.sha256(json.dumps([facts, key]).encode()).digest()


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(key + value, digest_size=_CHECKSUM).digest()


def _checked(key: bytes, entry: Any) -> bytes | None:
    """The value of an entry, if it is whole and of this key."""
    if not isinstance(entry, bytes) or entry[:_CHECKSUM] != _checksum(key, entry[_CHECKSUM:]):
        return None
    return entry[_CHECKSUM:]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # e.g. a folder on the way may not be entered
        return False


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None
