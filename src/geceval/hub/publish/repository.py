"""What is published: the files of one repository, and the checks that come before anything is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError

_SECRET = re.compile(
    rb"\bhf_[A-Za-z0-9]{30,}"
    rb"|\bsk-[A-Za-z0-9_-]{32,}"
    rb"|\bgh[opsu]_[A-Za-z0-9]{36}|\bgithub_pat_\w{40,}"
    rb"|\bAKIA[0-9A-Z]{16}\b"
    rb"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_TENSORS = (".safetensors", ".parquet")  # long and compressed or numeric: only the token in use is looked for
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_TAG = re.compile(r"[A-Za-z0-9][\w.-]*")
_VERSION = re.compile(r"v?\d*\.\d*\.\d*")


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository of the Hub, as it should become."""

    name: str
    kind: str
    files: dict[str, bytes | Path]
    mark: str
    module: bool = False
    restricted: str = ""

    def hashes(self, path: str) -> tuple[str, str]:
        """The two names by which the Hub can know the content of a file: its git object and its SHA-256."""
        data = content(self.files[path])
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
        return blob.hexdigest(), hashlib.sha256(data).hexdigest()


def content(file: bytes | Path) -> bytes:
    """The bytes of a file of a repository."""
    return file if isinstance(file, bytes) else file.read_bytes()


def check(repositories: Iterable[Repository], private: bool, tag: str | None, token: str | None = None) -> None:
    """The checks that need no network."""
    if tag is not None and not _TAG.fullmatch(tag):
        raise InputError(f"--tag {tag!r}: letters, digits, dots and dashes only, e.g. v1")
    for repository in repositories:
        if not _HUB_ID.fullmatch(repository.name) or ".." in repository.name or "--" in repository.name:
            raise InputError(f"{repository.name!r} is no name of the Hub; it must be ORG/NAME")
        if repository.module and tag is not None and _VERSION.match(tag):
            raise InputError(
                f"--tag {tag}: evaluate takes three numbers for a release of its own and would load it unasked; "
                f"choose a tag like v1"
            )
        if repository.restricted and not private:
            raise InputError(f"{repository.name}: {repository.restricted}")
        for path, file in repository.files.items():
            _check_secrets(repository.name, path, content(file), token)


def _check_secrets(name: str, path: str, data: bytes, token: str | None) -> None:
    found = None if path.endswith(_TENSORS) else _SECRET.search(data)
    if found or (token and token.encode() in data):
        shown = (found[0] if found else token.encode())[:6].decode()
        raise InputError(f"{name}: {path} holds what looks like a token or key ({shown}...); remove it, and revoke it")
