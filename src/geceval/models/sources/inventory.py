"""What `model=` can be by name, and where each is on this machine; nothing is fetched and no weights are loaded."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import install_command
from geceval.core.files import ASSETS
from geceval.models.sources.gguf import cached_copy
from geceval.models.sources.named import NAMED, asset_name, base_name, large_base, located, weights_file
from geceval.models.sources.snapshots import CheckpointError, cached_snapshot


@dataclass(frozen=True, slots=True)
class Listed:
    """A checkpoint that has a name."""

    name: str
    description: str
    licence: str
    where: str
    path: Path | None
    size: int
    problem: str = ""
    commands: tuple[str, ...] = ()
    copy: Path | None = None
    copy_size: int = 0

    @property
    def obstacle(self) -> str:
        """Why it cannot be used here and what to do, in one line; `""` if it can."""
        if self.path is None:
            return f"{self.name} is not on this machine; get it by one of: {'; '.join(self.commands)}"
        return self.problem


def listed() -> Iterator[Listed]:
    """Large models by their names, then the checkpoints that ship with geceval."""
    yield from map(look_up, NAMED)
    yield from (_bundled(folder) for folder in sorted(ASSETS.iterdir()) if any(folder.rglob("*.safetensors")))


def look_up(name: str) -> Listed:
    """A large model by its name."""
    model = NAMED[name]
    copy = cached_copy(name, model.sha256)
    problem, source = "", located(name)
    if source is None:
        folder = cached_snapshot(model.hub_id, model.revision)
        where, path = ("Hub cache", folder) if folder else ("not found", None)
    else:
        where, path = source
        try:
            weights_file(name)
            missing = [package for package in ("gguf", "transformers") if importlib.util.find_spec(package) is None]
            if copy is None and missing:
                problem = f"{name} needs {' and '.join(missing)}: {install_command('lm')}"
        except (CheckpointError, OSError) as error:
            problem = str(error)
    size = model.size if path is None else _size(path)
    commands = (model.from_index, model.from_hub)
    copied = _size(copy) if copy else 0
    return Listed(name, model.description, model.licence, where, path, size, problem, commands, copy, copied)


def _bundled(folder: Path) -> Listed:
    card = (folder / "README.md").read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", card, flags=re.MULTILINE)
    licence = re.search(r"^license: (.+)$", card, flags=re.MULTILINE)
    described, terms = (found[1] if found else "" for found in (title, licence))
    name = asset_name(folder.name)
    return Listed(name, described, terms.capitalize(), "bundled", folder, _size(folder), _lacks(name))


def _lacks(name: str) -> str:
    """Why an adapter or heads over a large model cannot be used here; `""` for whatever else."""
    if large_base(name) is None:
        return ""
    base = look_up(base_name(name))
    if base.where in ("environment", "package"):
        return base.problem
    return f"{name} belongs to the weights of {base.name} in the package index, which are not here: {base.commands[0]}"


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
