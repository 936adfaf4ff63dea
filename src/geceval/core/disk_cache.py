"""A cache on disk: earlier results in a folder that any number of processes may share."""

import hashlib
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Generic, TypeVar

from geceval.core.cache import LRUCache, lru_cache
from geceval.core.files import expanded

logger = logging.getLogger("geceval")

Key = TypeVar("Key")
Value = TypeVar("Value")
Found = TypeVar("Found")

FILE = "geceval-1.sqlite"  # the number is the format's

_AT_ONCE = 500  # keys a query
_CHECKSUM = 8
_PATIENCE = 60.0  # seconds to wait for another process that writes
_WRITTEN_AFTER = 4096  # new values
_TABLE = "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL)"


class DiskCache(Generic[Key, Value]):
    """Values of one kind in a folder; it may hold other kinds."""

    def __init__(
        self,
        folder: str | Path | None,
        facts: Sequence[Any],
        pack: Callable[[Value], bytes | None],
        unpack: Callable[[bytes], Value],
    ) -> None:
        self._database = None if folder is None else _database(folder)
        self._facts, self._pack, self._unpack = facts, pack, unpack

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """The values of the keys that are stored."""
        if self._database is None:
            return {}
        digests = {self._digest(key): key for key in keys}
        return {digests[digest]: self._unpack(value) for digest, value in self._database.read(digests).items()}

    def put_many(self, values: Mapping[Key, Value]) -> None:
        """Store values, all of them or, if that fails, none; entries of the same keys are replaced."""
        if self._database is not None:
            packed = {self._digest(key): self._pack(value) for key, value in values.items()}
            self._database.write({digest: value for digest, value in packed.items() if value is not None})

    def _digest(self, key: Key) -> bytes:
        return hashlib.sha256(json.dumps([self._facts, key]).encode()).digest()


def cached(
    keys: Iterable[Key],
    compute: Callable[[list[Key]], Iterable[tuple[Key, Value]]],
    memory: LRUCache[Key, Value],
    disk: DiskCache[Key, Value] | None = None,
) -> dict[Key, Value]:
    """The value of each key, from memory, else from disk, else computed and stored in both."""
    keys = list(dict.fromkeys(keys))
    values = memory.get_many(keys)
    if disk is not None:
        on_disk = disk.get_many([key for key in keys if key not in values])
        memory.put_many(on_disk)
        values.update(on_disk)
    fresh: dict[Key, Value] = {}

    def store() -> None:
        memory.put_many(fresh)
        if disk is not None:
            disk.put_many(fresh)
        fresh.clear()

    missing = [key for key in keys if key not in values]
    try:
        for key, value in compute(missing) if missing else ():
            values[key] = fresh[key] = value
            if len(fresh) >= _WRITTEN_AFTER:
                store()
    finally:  # if `compute` fails halfway, the values that it gave before are stored all the same
        store()
    return values


class _Database:
    """The SQLite file of a folder; every call opens and closes it, so threads and forked processes may share it."""

    # An entry is found by the SHA-256 of everything that its value depends on and carries a checksum, so a damaged one
    # is computed again. A file that is damaged as a whole is set aside and a new one begun. If the folder cannot be
    # used, there is one warning and the work goes on without it.

    def __init__(self, folder: str | Path) -> None:
        self.file = expanded(folder) / FILE
        self._usable = True
        self._lock = threading.Lock()

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of the keys that are stored undamaged."""
        digests = list(keys)

        def select(database: sqlite3.Connection) -> dict[bytes, bytes]:
            values: dict[bytes, bytes | None] = {}
            for start in range(0, len(digests), _AT_ONCE):
                part = digests[start : start + _AT_ONCE]
                query = f"SELECT key, value FROM entries WHERE key IN ({','.join('?' * len(part))})"
                values.update((key, _checked(key, value)) for key, value in database.execute(query, part))
            return {key: value for key, value in values.items() if value is not None}

        if not digests or not self._usable or not os.path.isfile(self.file):  # noqa: PTH113 - also false where a folder may not be entered
            return {}
        return self._with_database("rw", select) or {}

    def write(self, items: Mapping[bytes, bytes]) -> None:
        """Store values, all of them or, if that fails, none; entries of the same keys are replaced."""

        def insert(database: sqlite3.Connection) -> None:
            rows = [(key, _checksum(key, value) + value) for key, value in items.items()]
            with database:
                database.execute(_TABLE)
                database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", rows)

        if items and self._usable:
            self._with_database("rwc", insert)

    def _with_database(self, mode: str, work: Callable[[sqlite3.Connection], Found]) -> Found | None:
        before = None
        try:
            if mode == "rwc":
                self.file.parent.mkdir(parents=True, exist_ok=True)
            before = _inode(self.file)
            address = f"{self.file.absolute().as_uri()}?mode={mode}"
            with self._lock, closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as database:
                database.execute("PRAGMA synchronous = OFF")  # checksums reveal what a power cut damages
                return work(database)
        except (OSError, sqlite3.OperationalError) as error:
            if "no such table" in str(error):  # made by a process that was killed before it wrote
                return None
            self._usable = False
            logger.warning("the cache %s is not used: %s", self.file, error)
        except sqlite3.DatabaseError as error:
            logger.warning("the cache %s is damaged (%s) and is begun anew", self.file, error)
            self._set_aside(before)
        return None

    def _set_aside(self, inode: int | None) -> None:
        """Make room for a new file, unless another process has done so by now."""
        try:
            if inode is not None and _inode(self.file) == inode:
                self.file.replace(self.file.with_suffix(".damaged"))
                Path(f"{self.file}-journal").unlink(missing_ok=True)
        except OSError:
            self._usable = False


@lru_cache(maxsize=16)
def _database(folder: str | Path) -> _Database:
    """One object per process and folder, so that each problem is reported once."""
    return _Database(folder)


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(key + value, digest_size=_CHECKSUM).digest()


def _checked(key: bytes, entry: Any) -> bytes | None:
    """The value of an entry, if it is undamaged and belongs to this key."""
    if not isinstance(entry, bytes) or entry[:_CHECKSUM] != _checksum(key, entry[_CHECKSUM:]):
        return None
    return entry[_CHECKSUM:]


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None
