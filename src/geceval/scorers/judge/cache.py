"""Answers on disk, one small file each: written at once, checked when read, shared by any number of processes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError
from geceval.core.files import write_text
from geceval.models.chat.reply import Messages
from geceval.scorers.judge.answers import read_grades

FORMAT = 1  # change it when the meaning of an entry changes


def key_of(fingerprint: Mapping[str, Any], messages: Messages) -> str:
    """SHA-256 of everything that an answer depends on: model, decoding settings, messages."""
    content = json.dumps([FORMAT, fingerprint, messages], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


class DamagedEntry(Exception):
    """A file of the cache that is not what was written there."""


class AnswerCache:
    """A folder of valid answers.

    Args:
        folder: Made if need be.

    Raises:
        OSError: If it cannot be made or written to: before anything is paid for.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        self.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{self.folder}: the cache cannot be written; pass another folder")

    def get(self, key: str, ids: Sequence[str]) -> dict[str, int] | None:
        """The grades that answered a question; `None` if it has not been answered.

        Args:
            key: From `key_of`.
            ids: The outputs of the question.

        Raises:
            DamagedEntry: If there is an entry that is not whole, not of this key, or not a valid answer.
            OSError: If the entry cannot be read.
        """
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        try:
            entry = json.loads(content)
            if entry["key"] != key or entry["sha256"] != _digest(key, entry["answer"]):
                raise InputError("another key or answer")
            return read_grades(entry["answer"], ids)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedEntry(str(self._path(key))) from error

    def put(self, key: str, answer: str) -> None:
        """Keep a valid answer; call it from one thread.

        Raises:
            OSError: If the entry cannot be written; none is there then, or the old one.
        """
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        entry = {"key": key, "answer": answer, "sha256": _digest(key, answer)}
        write_text(path, json.dumps(entry) + "\n")

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _digest(key: str, answer: str) -> str:
    return hashlib.sha256(f"{key}\n{answer}".encode("utf-8", "surrogatepass")).hexdigest()
