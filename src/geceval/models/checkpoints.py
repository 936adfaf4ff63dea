"""Checkpoints by the name that `model=` takes: where their files are, what they were made from, and their identity."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geceval.core.errors import InputTypeError
from geceval.core.files import ASSETS, expanded, file_sha256
from geceval.models.origins.hub import WEIGHTS, CheckpointError, snapshot
from geceval.models.origins.named import DERIVED_MODELS, NAMED_MODELS, Origin, origin_of

logger = logging.getLogger("geceval")

BUNDLED = "bundled"

# geceval's own settings in `config.json`, all of them optional; `geceval_pooling` is checked where it is read.
_SETTINGS = {
    "geceval_max_length": int,  # tokens, special ones included, beyond which a text is cut
    "geceval_threshold": (int, float),  # of IMPARA
    "geceval_se_model": str,  # the model of IMPARA's similarity estimator
    "geceval_base_sha256": str,  # of the weights that an adapter was trained on, see `weights_sha256`
    "geceval_start_token": str,  # before a text that a causal language model reads
    "geceval_scale": (int, float),  # by which IMPARA-LM's objective multiplies likelihoods
    "geceval_head_layer": int,  # number of layers after which a quality head reads token states
    "geceval_base": str,  # the language model below a checkpoint that is a quality head alone
    "geceval_head_bias": (int, float),  # added to the answers of a quality head
}
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint whose files are on this machine."""

    model: str
    folder: Path
    identity: str
    base: Checkpoint | None = None
    config: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)
    digest: str = ""

    def setting(self, name: str, default: Any = None) -> Any:
        """The value of `geceval_<name>` in the checkpoint's `config.json`, or `default`."""
        value = self.config.get(f"geceval_{name}")
        return default if value is None else value


def resolve(model: str | os.PathLike[str], bundled: str = "encoder", part: str = "") -> Checkpoint:
    """Find a checkpoint and name it, without loading its weights."""
    if not isinstance(model, (str, os.PathLike)):
        raise InputTypeError(f"model must be 'bundled', a folder or a Hub id, got {type(model).__name__}")
    return _describe(_find(os.fspath(model), bundled, part), part, ())


def _find(name: str, bundled: str, part: str) -> Origin:
    """The place of a checkpoint, by the name that `resolve` takes."""
    word, _, revision = name.partition("@")
    if ".." in revision or revision.startswith("/"):  # it becomes part of a path in the local cache
        raise CheckpointError(f"{word}: {revision!r} is no revision; pass a branch, a tag or a commit")
    if word in NAMED_MODELS:
        return origin_of(word, revision or None)
    if is_bundled(name):
        asset = DERIVED_MODELS.get(name) or name.partition(":")[2] or bundled
        folder = ASSETS / asset
        if not asset.isidentifier() or not folder.is_dir():
            raise CheckpointError(
                f"no checkpoint {asset!r} is bundled with this geceval; pass a folder, a Hub id or one of: {_names()}"
            )
        return Origin("bundled", folder, name)
    if is_folder(name):
        return Origin("folder", expanded(name), name)
    if not _HUB_ID.fullmatch(word) or name.startswith("."):
        raise CheckpointError(
            f"{name or 'the empty name'}: no such folder, or an empty one; pass 'bundled', {_names()}, a folder that "
            "holds a checkpoint, or a Hub id (ORG/NAME)"
        )
    folder = snapshot(word, revision or None, part)
    return Origin("hub", folder, word, folder.name)


def _names() -> str:
    return ", ".join(map(repr, [*NAMED_MODELS, *DERIVED_MODELS]))


def is_bundled(model: str) -> bool:
    """Whether this names a checkpoint that ships with geceval."""
    return model in DERIVED_MODELS or model.partition(":")[0] == BUNDLED


def is_listed(model: str) -> bool:
    """Whether this is a name of `geceval models`."""
    return is_bundled(model) or model in NAMED_MODELS


def is_folder(model: str) -> bool:
    """Whether `resolve` takes this for a folder of this machine: names come first, an empty folder is none."""
    if not model or is_bundled(model) or model.partition("@")[0] in NAMED_MODELS:
        return False
    try:
        return any(expanded(model).iterdir())
    except (OSError, ValueError):  # no folder, or a name that cannot be one
        return False


def _named_in(folder: Path, model: str) -> str:
    """A name in a checkpoint's file as `resolve` takes it: `./` and `../` are relative to the checkpoint's folder."""
    return str((folder.resolve() / model).resolve()) if model.startswith(("./", "../")) else model


def _describe(origin: Origin, part: str, above: tuple[Path, ...]) -> Checkpoint:
    """The checkpoint at a place; `above`: the adapters over it, none of which may be its base again."""
    folder = origin.folder / part
    if not folder.is_dir():
        raise CheckpointError(
            f"{origin.folder}: no sub-folder {part!r}, spelt so; is this the folder of such a checkpoint?"
        )
    config = {**origin.settings, **read_json(folder, "config.json")}
    _check_settings(folder, config)
    if config.get("geceval_se_model"):
        config["geceval_se_model"] = _named_in(folder, config["geceval_se_model"])
    if not any((folder / weights).is_file() for weights in WEIGHTS):
        raise CheckpointError(f"{folder}: no weights; expected model.safetensors or adapter_model.safetensors")
    below = _base_name(folder, config)
    base = None if below is None else _base(folder, below, config, (*above, folder.resolve()))
    name = Path(origin.name).name or origin.name if origin.kind == "folder" else origin.name
    name += f"/{part}" if part else ""
    digest = origin.digest or _hash(folder, base)
    identity = f"{name}@{digest[:7]}"
    if base is not None and _differs(base, config):
        identity += f"+{base.identity}"
    whole_digest = f"{digest}+{base.digest}" if base else digest
    return Checkpoint(origin.name, folder, identity, base, config, whole_digest)


def _check_settings(folder: Path, config: dict[str, Any]) -> None:
    for name, kind in _SETTINGS.items():
        value = config.get(name)
        if value is None or (kind is str and isinstance(value, str)):
            continue
        number = isinstance(value, kind) and kind is not str and not isinstance(value, bool)
        negative = name == "geceval_scale" and number and value < 0
        if negative or not (number and math.isfinite(value) and (kind is not int or value > 0)):
            raise CheckpointError(f"{folder}: {name} in config.json cannot be {value!r}")


def _base_name(folder: Path, config: dict[str, Any]) -> str | None:
    """The name of the base of a head or an adapter; `None` for a whole network."""
    if config.get("geceval_base"):
        return config["geceval_base"]
    if not (folder / "adapter_config.json").is_file():
        return None
    name = read_json(folder, "adapter_config.json").get("base_model_name_or_path") or BUNDLED
    if not isinstance(name, str):
        raise CheckpointError(f"{folder}: base_model_name_or_path in adapter_config.json must be a text, got {name!r}")
    return name


def _base(folder: Path, name: str, config: dict[str, Any], above: tuple[Path, ...]) -> Checkpoint:
    """The network on which an adapter or a head was trained: a whole one, or an adapter again."""
    kind = "head" if config.get("geceval_base") else "adapter"
    try:
        origin = _find(_named_in(folder, name), "encoder", "")
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: the base of this {kind} cannot be found: {error}") from error
    if origin.folder.resolve() in above:
        raise CheckpointError(f"{folder}: its base {name} is an adapter over this one; name the network they change")
    base = _describe(origin, "", above)
    if _differs(base, config):
        trained, present = config["geceval_base_sha256"][:12], weights_sha256(base)[:12]
        message = f"{folder}: this {kind} was trained over weights with SHA-256 {trained}..., but those of its base "
        message += f"{base.model!r} have {present}..."
        if name not in NAMED_MODELS:
            raise CheckpointError(f"{message}; train it again over this base, or fetch the base it belongs to")
        logger.warning("%s: the same model in other numbers, so that scores differ a little", message)
    return base


def _differs(base: Checkpoint, config: dict[str, Any]) -> bool:
    """Whether a base has other weights than the one that an adapter or a head was trained on."""
    expected = config.get("geceval_base_sha256")
    return bool(expected) and expected != weights_sha256(base)


def weights_sha256(checkpoint: Checkpoint) -> str:
    """SHA-256 of a base's weights, which adapters record; `"none"` if the weights are not one file."""
    # For a GGUF, the hash is the file's, whatever form the weights are cached in. For an adapter, only its own weights
    # are hashed, since it records the hash of its base.
    if checkpoint.model in NAMED_MODELS and checkpoint.digest == NAMED_MODELS[checkpoint.model].sha256:
        return checkpoint.digest
    weights = checkpoint.folder / ("model.safetensors" if checkpoint.base is None else "adapter_model.safetensors")
    return file_sha256(weights) if weights.is_file() else "none"


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint's folder."""
    path = folder / name
    if not path.is_file():
        parts = sorted(part.parent.name for part in folder.glob(f"*/{name}"))
        more = f" It holds several networks, {', '.join(parts)}, as those of the metric some." if parts else ""
        raise CheckpointError(f"{folder}: {name} is missing; is this the folder of such a checkpoint?{more}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: expected a JSON object")
    return content


def _hash(folder: Path, base: Checkpoint | None) -> str:
    """One hash of all files of a checkpoint and its base that can change a number."""
    kinds = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.jinja")
    files = sorted(path for kind in kinds for path in folder.glob(kind) if path.is_file())
    digest = hashlib.sha256(base.identity.encode() if base else b"")
    for path in files:
        if path.name not in ("trainer_state.json", "training_args.bin", "results.json"):
            digest.update(f"{path.name}\n{file_sha256(path)}\n".encode())
    return digest.hexdigest()
