"""What belongs in the repository of a module, of a data set and of a Space."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

from geceval.core.errors import InputError
from geceval.hub.cards import lint_data_card, lint_metric_card, lint_space_card, read_card
from geceval.hub.load import module_folder
from geceval.hub.publish.repository import Repository, content

OPEN_LICENSES = frozenset(
    [
        "apache-2.0",
        "bsd-3-clause",
        "cc0-1.0",
        "cdla-permissive-2.0",
        "cdla-sharing-1.0",
        "mit",
        "odbl",
        "odc-by",
        "pddl",
    ]
    + [f"cc-by{rest}-{version}" for rest in ("", "-sa", "-nc", "-nc-sa") for version in ("3.0", "4.0")]
)
"""Licences, as the Hub names them, that let anyone pass converted texts on (some for non-commercial use only)."""

_LICENCE_FILES = ("LICENSE", "LICENSE.md", "LICENSE.txt")
_SPACE_TEXTS = ("requirements.txt", "packages.txt", "README.md", *_LICENCE_FILES)
_SPACE_SUFFIXES = (".py", ".json", ".css", ".js", ".html", ".svg", ".png", ".jpg", ".webp", ".ico")

_OURS = re.compile(r"(geceval|\.)(\[[\w,-]+\])?\s*")  # a requirement: by name, or the folder of the repository

_APP = '''"""A page to try this metric; made by `geceval publish modules`."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Else {name}.py, which lies here, would hide a package of the same name.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE]

from geceval.hub.publish.page import page  # noqa: E402

demo = page(HERE / "{name}.py")

if __name__ == "__main__":
    demo.launch()
'''


def module_repository(name: str, org: str, package: str | None = None) -> Repository:
    """A metric as a Space that `evaluate.load("ORG/NAME")` reads, with a page for trying it out."""
    folder = module_folder(name)
    check_card(folder / "README.md", lint_metric_card)
    files: dict[str, bytes | Path] = {file: folder / file for file in ("README.md", f"{name}.py", "requirements.txt")}
    files["app.py"] = _APP.format(name=name).encode()
    if package is not None and not _is_url(package):
        raise InputError(f"--package {package}: a metric's page needs a URL, of a wheel or git+https://...")
    _install_from(package, files, f"{org}/{name}")
    return Repository(f"{org}/{name}", "space", files, mark=f"{name}.py", module=True)


def data_repository(folder: str | Path, name: str) -> Repository:
    """A data set in parquet files with a card, as `geceval data build` makes it."""
    folder = Path(folder)
    check_card(folder / "README.md", lint_data_card)
    files = collect(folder, lambda path: path.name in ("README.md", *_LICENCE_FILES) or path.suffix == ".parquet")
    licence = read_card(folder / "README.md").metadata["license"]
    restricted = f"its licence is {licence!r}, which lets nobody pass the texts on; --private keeps a copy for yourself"
    if licence in OPEN_LICENSES:
        restricted = ""
    return Repository(name, "dataset", files, mark=".parquet", restricted=restricted)


def space_repository(folder: str | Path, name: str, package: str | None = None) -> Repository:
    """A Gradio Space."""
    folder = Path(folder)
    check_card(folder / "README.md", lint_space_card)
    files = collect(folder, lambda path: path.name in _SPACE_TEXTS or path.suffix in _SPACE_SUFFIXES)
    app = read_card(folder / "README.md").metadata["app_file"]
    for needed in (app, "requirements.txt"):
        if needed not in files:
            raise InputError(f"{folder}: {needed} is missing")
    _install_from(package, files, name)
    return Repository(name, "space", files, mark=app)


def _is_url(package: str) -> bool:
    return "://" in package


def _install_from(package: str | None, files: dict[str, bytes | Path], name: str) -> None:
    """Let the requirements of a Space install geceval from a package; a wheel becomes one of its files."""
    # A Space is built from its requirements alone: it reaches a wheel of its own only by its URL.
    from huggingface_hub import constants

    lines = content(files["requirements.txt"]).decode().splitlines()
    own = {row: found[2] or "" for row, line in enumerate(lines) if (found := _OURS.fullmatch(line))}
    if package is None:
        if any(lines[row].startswith(".") for row in own):
            raise InputError(
                "requirements.txt installs geceval from this folder, which a Space does not have: build a wheel "
                "(python -m build --wheel) and pass --package dist/geceval-VERSION-py3-none-any.whl"
            )
        return
    if not _is_url(package):
        wheel = Path(package)
        if wheel.suffix != ".whl" or not wheel.is_file():
            raise InputError(f"--package {package}: expected a URL, or the file of a wheel")
        files[wheel.name] = wheel
        package = f"{constants.ENDPOINT}/spaces/{name}/resolve/main/{wheel.name}"
    for row, extras in own.items():
        lines[row] = f"geceval{extras} @ {package}"
    files["requirements.txt"] = "".join(f"{line}\n" for line in lines).encode()


def check_card(card: Path, lint: Callable[[Path], list[str]]) -> None:
    """Raise a `ValueError` that names all mistakes of a card, if there are any."""
    if not card.is_file():
        raise FileNotFoundError(f"{card}: there is no card; nothing is published without one")
    if problems := lint(card):
        raise InputError(f"{card}: {'; '.join(problems)}")


def collect(folder: Path, belongs: Callable[[Path], bool], without: Collection[str] = ()) -> dict[str, bytes | Path]:
    """The files of a folder and its sub-folders, hidden ones and caches of Python left out."""
    files = {}
    inside = folder.resolve()
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in below.parts)
        if hidden or below.parts[0] in without or not path.is_file():
            continue
        if not belongs(below):
            raise InputError(f"{path}: does not belong in what is published from {folder}; move it elsewhere")
        if not path.resolve().is_relative_to(inside):
            raise InputError(
                f"{path}: a link to {path.resolve()}, outside of {folder}; copy the file if it is to go out"
            )
        files[below.as_posix()] = path
    return files
