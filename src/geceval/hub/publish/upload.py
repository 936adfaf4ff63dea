"""Uploading repositories to the Hub: each in one commit, so that it changes as a whole or not at all; then the tags."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from geceval.core.errors import InputError
from geceval.hub.publish.repository import Repository, check
from geceval.models.sources.library_messages import first_line
from geceval.models.sources.snapshots import http_error, offline
from geceval.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_OF_THE_HUB = (".gitattributes", "README.md")  # what a new repository may hold before anything was published


@dataclass(frozen=True, slots=True)
class Published:
    """The outcome for one repository."""

    url: str
    commit: str
    changed: bool


@dataclass(frozen=True, slots=True)
class _Remote:
    """A repository as it is on the Hub: path to hash (SHA-256 of large files, git object of others)."""

    private: bool = True
    head: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    tagged: dict[str, str] | None = None
    tag_commit: str = ""


def publish(repositories: Iterable[Repository], private: bool = False, tag: str | None = None) -> Iterator[Published]:
    """Make the repositories on the Hub what they are here."""
    # Everything is checked, here and there, before the first byte is sent. A repository then changes by one commit:
    # files that are no longer part of it are removed; older versions remain available as revisions. What is already
    # there is not sent again, so the same call continues an interrupted run. The user is identified by the token of `hf
    # auth login` or `HF_TOKEN`.
    import huggingface_hub

    repositories = list(repositories)
    check(repositories, private, tag, huggingface_hub.get_token())
    api = huggingface_hub.HfApi(library_name="geceval", library_version=__version__)
    with _in_our_words("the Hub"):
        api.whoami()
    remotes = []
    for repository in repositories:
        with _in_our_words(repository.name):
            remotes.append(_look(api, repository, tag))
        _check_remote(repository, remotes[-1], private, tag)
    for repository, remote in zip(repositories, remotes, strict=True):
        with _in_our_words(repository.name):
            published = _bring(api, repository, remote, private, tag)
        yield published


def _look(api: HfApi, repository: Repository, tag: str | None) -> _Remote:
    from huggingface_hub.errors import RepositoryNotFoundError

    where = {"repo_id": repository.name, "repo_type": repository.kind}
    try:
        info = api.repo_info(**where)
    except RepositoryNotFoundError:
        return _Remote()
    names = [ref for ref in api.list_repo_refs(**where).tags if ref.name == tag]
    tagged = _files(api, repository, tag) if names else None
    files = _files(api, repository, info.sha)
    return _Remote(bool(info.private), info.sha, files, tagged, names[0].target_commit if names else "")


def _files(api: HfApi, repository: Repository, revision: str) -> dict[str, str]:
    tree = api.list_repo_tree(repository.name, repo_type=repository.kind, revision=revision, recursive=True)
    files = [entry for entry in tree if hasattr(entry, "blob_id")]
    return {file.path: file.lfs.sha256 if file.lfs else file.blob_id for file in files}


def _check_remote(repository: Repository, remote: _Remote, private: bool, tag: str | None) -> None:
    if private and not remote.private:
        raise InputError(
            f"{repository.name} is there already and public; make it private on the Hub, or leave --private"
        )
    if set(remote.files) - set(_OF_THE_HUB) and not any(path.endswith(repository.mark) for path in remote.files):
        raise InputError(
            f"{repository.name} is there already and something else (no {repository.mark}); choose another name, or "
            f"remove it on the Hub"
        )
    if remote.tagged is not None and any(_changes(repository, remote.tagged)):
        raise InputError(f"{repository.name}: the tag {tag} already names another version; choose a new tag")


def _changes(repository: Repository, there: dict[str, str]) -> tuple[list[str], list[str]]:
    """Paths to send and paths to delete, given what is on the Hub."""
    new = [path for path in repository.files if there.get(path) not in repository.hashes(path)]
    return new, sorted(set(there) - set(repository.files) - {".gitattributes"})


def _bring(api: HfApi, repository: Repository, remote: _Remote, private: bool, tag: str | None) -> Published:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    where = {"repo_id": repository.name, "repo_type": repository.kind}
    url = f"{api.endpoint}/{'' if repository.kind == 'model' else repository.kind + 's/'}{repository.name}"
    if remote.tagged is not None:
        return Published(url, remote.tag_commit, changed=False)
    if remote.head is None:
        sdk = {"space_sdk": "gradio"} if repository.kind == "space" else {}
        api.create_repo(**where, private=private, exist_ok=True, **sdk)
        remote = _look(api, repository, tag=None)
    new, gone = _changes(repository, remote.files)
    commit = remote.head
    if new or gone:
        operations = [CommitOperationAdd(path, repository.files[path]) for path in new]
        operations += [CommitOperationDelete(path) for path in gone]
        message = f"Published with geceval {__version__}" + (f" as {tag}" if tag else "")
        info = api.create_commit(**where, operations=operations, commit_message=message, parent_commit=remote.head)
        commit = info.oid
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
        raise _refusal(what, error) from error
    except (http_error(), ConnectionError, RuntimeError) as error:  # RuntimeError: of the transfer of a large file
        if offline():
            raise ConnectionError(f"{what}: the Hub is switched off (HF_HUB_OFFLINE)") from error
        raise ConnectionError(
            f"{what}: the connection to the Hub failed ({first_line(error.__cause__ or error)}). A repository changes "
            f"as a whole or not at all; run the same command again to go on"
        ) from error


def _refusal(what: str, error: OSError) -> OSError:
    status = error.response.status_code
    said = error.response.headers.get("x-error-message") or first_line(error)
    if status == 401:
        return PermissionError(f"{what}: the token was not accepted ({said}); log in again: hf auth login")
    if status == 403:
        return PermissionError(f"{what}: the token may not do this ({said}); it needs the right to write there")
    if status in (409, 412):
        return OSError(f"{what}: somebody changed it at the same time ({said}); run the same command again")
    return OSError(f"{what}: the Hub answered {status} ({said}); run the same command again to go on")
