"""Valid answers of the judge in the disk cache of a folder, so that none is paid for twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geceval.core.disk_cache import DiskCache
from geceval.core.files import expanded
from geceval.models.chat.base import Messages

FORMAT = 1  # change it when the meaning of an entry changes


def answer_key(fingerprint: Mapping[str, Any], messages: Messages) -> str:
    """SHA-256 of everything that an answer depends on: model, decoding settings, messages."""
    return hashlib.sha256(json.dumps([FORMAT, fingerprint, messages], sort_keys=True).encode()).hexdigest()


class AnswerCache:
    """The answers in a folder, which threads and processes may share."""

    def __init__(self, folder: str | Path | None) -> None:
        self._folder = None if folder is None else expanded(folder)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not os.access(self._folder, os.W_OK | os.X_OK):
                raise PermissionError(f"{self._folder}: the cache cannot be written; pass another folder")
        encoding = "utf-8", "surrogatepass"
        self._disk: DiskCache[str, str] = DiskCache(
            self._folder,
            ["judge", FORMAT],
            lambda answer: answer.encode(*encoding),
            lambda data: data.decode(*encoding),
        )

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The answers of those keys that have one; a damaged entry counts as missing."""
        keys = list(keys)
        found = self._disk.get_many(keys)
        files = {key: self._read_file(key) for key in keys if key not in found} if self._folder is not None else {}
        return found | {key: answer for key, answer in files.items() if answer is not None}

    def put(self, key: str, answer: str) -> None:
        """Write a valid answer at once."""
        self._disk.put_many({key: answer})

    def _read_file(self, key: str) -> str | None:
        """An answer in a JSON file of its own, as geceval 0.1 first wrote them."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            entry = json.loads((self._folder / key[:2] / f"{key}.json").read_bytes())
            content = f"{key}\n{entry['answer']}".encode("utf-8", "surrogatepass")
            if entry["sha256"] == hashlib.sha256(content).hexdigest():
                return entry["answer"]
        return None
