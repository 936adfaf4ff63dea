"""Publishing a finished checkpoint on the Hub from the folder of its training run."""

from __future__ import annotations

from pathlib import Path

from geceval.hub.publish.checkpoint import checkpoint_repository
from geceval.hub.publish.repository import check
from geceval.hub.publish.upload import publish


def push(folder: str | Path, repository: str, dry_run: bool = False) -> list[str]:
    """Publish a finished checkpoint, without `run/`, as `geceval publish checkpoint` does."""
    found = checkpoint_repository(folder, repository)
    check([found], private=False, tag=None)
    if not dry_run:
        list(publish([found]))
    return sorted(found.files)


def push_and_print(folder: str | Path, repository: str, dry_run: bool) -> None:
    """Call `push`, and print one line on what was, or would be, pushed."""
    names = push(folder, repository, dry_run)
    print(f"{'would push' if dry_run else 'pushed'} to {repository}: {', '.join(names)}")
