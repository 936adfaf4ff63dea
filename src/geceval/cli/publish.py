"""`geceval publish`: metrics, checkpoints, data sets and Spaces on the Hub."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geceval.core.errors import InputError

if TYPE_CHECKING:
    from geceval.hub.repositories import Repository

publish = typer.Typer(no_args_is_help=True)


@publish.callback()
def callback() -> None:
    """Put metrics, checkpoints, data sets and Spaces on the Hub."""


Org = Annotated[str, typer.Option("--org", help="Your name on the Hub, or an organisation of yours.")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the repository; by default that of the folder.")]
Package = Annotated[
    str | None, typer.Option(metavar="URL|WHEEL", help="What to install geceval from; by default the package index.")
]
Tag = Annotated[str | None, typer.Option("--tag", metavar="v1", help="Name for this version.")]
Private = Annotated[bool, typer.Option("--private", help="Make new repositories private.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything and say what would be sent; send nothing.")]


@publish.command("modules")
def modules(
    org: Org,
    names: Annotated[list[str] | None, typer.Argument(help="Metrics; all by default.")] = None,
    package: Package = None,
    tag: Tag = None,
    private: Private = False,
    dry_run: DryRun = False,
) -> None:
    """Publish metrics for evaluate.load("ORG/NAME").

    Each becomes a Space.

    Example: geceval publish modules --org ORG --tag v1
    """
    from geceval.hub.repositories import module_repository
    from geceval.registry import list_metrics

    _publish([module_repository(name, org, package) for name in names or list_metrics()], private, tag, dry_run)


@publish.command("checkpoint")
def checkpoint(
    folder: Annotated[str, typer.Argument(help="Folder of a checkpoint, or bundled:NAME.")],
    org: Org,
    name: Name = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge adapters into their bases: transformers alone can load the result.")
    ] = False,
    tag: Tag = None,
    private: Private = False,
    dry_run: DryRun = False,
) -> None:
    """Publish a checkpoint for model="ORG/NAME".

    Example: geceval publish checkpoint my-impara --org ORG --tag v1
    """
    from geceval.hub.repositories import checkpoint_repository

    with tempfile.TemporaryDirectory() if merge else contextlib.nullcontext() as merged:
        target = f"{org}/{name or _last_part(folder)}"
        repository = checkpoint_repository(folder, target, merged=Path(merged) if merged else None)
        _publish([repository], private, tag, dry_run)


@publish.command("data")
def data(
    folder: Annotated[str, typer.Argument(help="Folder that `geceval data build` made.")],
    org: Org,
    name: Name = None,
    tag: Tag = None,
    private: Private = False,
    dry_run: DryRun = False,
) -> None:
    """Publish a data set for load_dataset("ORG/NAME").

    Without an open licence only with --private.

    Example: geceval publish data jfleg --org ORG
    """
    from geceval.hub.repositories import data_repository

    _publish([data_repository(folder, f"{org}/{name or _last_part(folder)}")], private, tag, dry_run)


@publish.command("space")
def space(
    org: Org,
    folder: Annotated[str, typer.Argument(help="Folder of a Gradio Space.")] = "spaces/demo",
    name: Name = None,
    package: Package = None,
    tag: Tag = None,
    private: Private = False,
    dry_run: DryRun = False,
) -> None:
    """Publish a Gradio Space.

    Example: geceval publish space spaces/demo --org ORG --package dist/geceval-0.1.0-py3-none-any.whl
    """
    from geceval.hub.repositories import space_repository

    if private and package and "://" not in package:
        raise InputError("--package FILE: a private Space cannot fetch its own wheel; pass a URL")
    _publish([space_repository(folder, f"{org}/{name or _last_part(folder)}", package)], private, tag, dry_run)


def publish_checkpoint(folder: str | Path, name: str, dry_run: bool = False) -> None:
    """Publish a finished checkpoint as `geceval publish checkpoint` does."""
    from geceval.hub.repositories import checkpoint_repository

    _publish([checkpoint_repository(folder, name)], private=False, tag=None, dry_run=dry_run)


def _last_part(folder: str) -> str:
    """`impara` of `bundled:impara`, `my-impara` of `models/my-impara/`."""
    return Path(folder.rpartition(":")[2]).resolve().name


def _publish(repositories: Sequence[Repository], private: bool, tag: str | None, dry_run: bool) -> None:
    from geceval.hub import publish
    from geceval.hub.repositories import content

    if dry_run:
        publish.check(repositories, private, tag)
        for repository in repositories:
            print(f"would publish the {repository.kind} {repository.name}:")
            for path in sorted(repository.files):
                print(f"  {path} ({len(content(repository.files[path])):,} bytes)")
        return
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    for published in publish.publish(repositories, private, tag):
        done = "published" if published.changed else "unchanged"
        print(f"{done} {published.url}{f' as {tag}' if tag else ''} ({published.commit[:7]})", flush=True)
