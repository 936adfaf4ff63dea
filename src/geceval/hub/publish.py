"""Publishing repositories on the Hub: each in one commit, so that it changes as a whole or not at all, then its tag."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geceval.core.errors import InputError
from geceval.hub.repositories import Repository, content
from geceval.models.library_messages import reason
from geceval.models.origins.hub import http_error, offline
from geceval.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import DatasetInfo, ModelInfo, SpaceInfo

    Info = ModelInfo | DatasetInfo | SpaceInfo

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
_OF_THE_HUB = (".gitattributes", "README.md")  # what a new repository may hold before anything was published
_AGAIN = "run the same command again to go on"
_REFUSALS = {
    401: ("the token was not accepted", "log in again: hf auth login"),
    403: ("the token may not do this", "it needs the right to write there"),
    409: ("somebody changed it at the same time", _AGAIN),
    412: ("somebody changed it at the same time", _AGAIN),
}


@dataclass(frozen=True, slots=True)
class Published:
    """The outcome for one repository."""

    url: str
    commit: str
    changed: bool


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
    secret = None if path.endswith(_TENSORS) else _SECRET.search(data)
    if secret or (token and token.encode() in data):
        shown = (secret[0] if secret else token.encode())[:6].decode()
        raise InputError(f"{name}: {path} holds what looks like a token or key ({shown}...); remove it, and revoke it")


def publish(repositories: Sequence[Repository], private: bool = False, tag: str | None = None) -> Iterator[Published]:
    """Make the repositories on the Hub what they are here, by the token of `hf auth login` or `HF_TOKEN`."""
    # Everything is checked, here and there, before the first byte is sent. What is already there is not sent again, so
    # the same call continues an interrupted run.
    import huggingface_hub

    check(repositories, private, tag, huggingface_hub.get_token())
    api = huggingface_hub.HfApi(library_name="geceval", library_version=__version__)
    with _in_our_words("the Hub"):
        api.whoami()
    remotes = []
    for repository in repositories:
        with _in_our_words(repository.name):
            remotes.append((_look(api, repository), _look(api, repository, tag) if tag else None))
        _check_remote(repository, *remotes[-1], private, tag)
    for repository, (head, tagged) in zip(repositories, remotes, strict=True):
        with _in_our_words(repository.name):
            published = _bring(api, repository, tagged or head, private, None if tagged else tag)
        yield published


def _look(api: HfApi, repository: Repository, revision: str | None = None) -> Info | None:
    """A repository as it is on the Hub, at a revision; `None` if there is none."""
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    try:
        return api.repo_info(repository.name, repo_type=repository.kind, revision=revision, files_metadata=True)
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return None


def _hashes(info: Info) -> dict[str, str]:
    """Path to hash: SHA-256 of large files, git object of others."""
    return {file.rfilename: file.lfs.sha256 if file.lfs else file.blob_id for file in info.siblings}


def _check_remote(
    repository: Repository, head: Info | None, tagged: Info | None, private: bool, tag: str | None
) -> None:
    if head is None:
        return
    paths = set(_hashes(head))
    if private and not head.private:
        raise InputError(f"{repository.name} is there already and public; make it private there, or leave --private")
    if paths - set(_OF_THE_HUB) and not any(path.endswith(repository.mark) for path in paths):
        raise InputError(
            f"{repository.name} is there already and something else (no {repository.mark}); choose another name, or "
            f"remove it on the Hub"
        )
    if tagged is not None and any(_changes(repository, tagged)):
        raise InputError(f"{repository.name}: the tag {tag} already names another version; choose a new tag")


def _changes(repository: Repository, info: Info) -> tuple[list[str], list[str]]:
    """Paths to send and paths to delete, given what is on the Hub."""
    there = _hashes(info)
    new = [path for path in repository.files if there.get(path) not in repository.hashes(path)]
    return new, sorted(set(there) - set(repository.files) - {".gitattributes"})


def _bring(api: HfApi, repository: Repository, info: Info | None, private: bool, tag: str | None) -> Published:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    where = {"repo_id": repository.name, "repo_type": repository.kind}
    url = f"{api.endpoint}/{'' if repository.kind == 'model' else repository.kind + 's/'}{repository.name}"
    if info is None:
        sdk = {"space_sdk": "gradio"} if repository.kind == "space" else {}
        api.create_repo(**where, private=private, exist_ok=True, **sdk)
        info = _look(api, repository)
    new, gone = _changes(repository, info)
    commit = info.sha
    if new or gone:
        operations = [CommitOperationAdd(path, repository.files[path]) for path in new]
        operations += [CommitOperationDelete(path) for path in gone]
        message = f"Published with geceval {__version__}" + (f" as {tag}" if tag else "")
        commit = api.create_commit(**where, operations=operations, commit_message=message, parent_commit=info.sha).oid
    if tag:
        api.create_tag(**where, tag=tag, revision=commit)
    return Published(url, commit, changed=bool(new or gone))


@contextlib.contextmanager
def _in_our_words(what: str) -> Iterator[None]:
    """Convert errors of huggingface_hub and of the network into one line that says what to do."""
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

    try:
        yield
    except LocalTokenNotFoundError as error:
        raise PermissionError("no token of the Hub; make one that may write, and run: hf auth login") from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        said = error.response.headers.get("x-error-message") or reason(error)
        problem, advice = _REFUSALS.get(status, (f"the Hub answered {status}", _AGAIN))
        raise OSError(f"{what}: {problem} ({said}); {advice}") from error
    except (http_error(), ConnectionError, RuntimeError) as error:  # RuntimeError: of the transfer of a large file
        if offline():
            raise ConnectionError(f"{what}: the Hub is switched off (HF_HUB_OFFLINE)") from error
        raise ConnectionError(
            f"{what}: the connection to the Hub failed ({reason(error.__cause__ or error)}). A repository changes "
            f"as a whole or not at all; {_AGAIN}"
        ) from error
