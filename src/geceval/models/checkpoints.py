"""Where a network comes from: bundled with geceval, a named model, a local folder, or the Hub; files and identity.

A checkpoint is a folder as transformers writes it (`config.json`, safetensors, a tokenizer), or a peft adapter over
another checkpoint, which may be an adapter again: `adapter_config.json`, `adapter_model.safetensors` and the
`config.json` of the whole network. Either file of weights may be quantised, see `geceval.models.sources.quantised`.
An adapter names its base in `base_model_name_or_path`, where `"bundled"` is the encoder that ships with geceval,
`"bundled:NAME"` any folder of `geceval/assets`, and a path that begins with `./` or `../` is relative to the adapter's
own folder (`geceval_se_model` likewise). A head over a language model that stays as it is has no more weights than
`quality_head.safetensors`, and names its base in `geceval_base`, see `geceval.models.regressors`.

geceval's own settings live in `config.json`, all of them optional:

- `geceval_pooling`: `"first"`, `"mean"` or `"last"`, see `geceval.models.heads`;
- `geceval_border`: the token that stands before, between and after the texts of a network that was a causal model;
- `geceval_threshold` and `geceval_se_model`: the threshold of IMPARA and the model of its similarity estimator;
- `geceval_max_length`: tokens, special ones included, beyond which a text is cut;
- `geceval_base_sha256`: SHA-256 of the weights that an adapter was trained on, see `weights_sha256`;
- `geceval_start_token`: the token before a text that a causal language model reads;
- `geceval_scale`: by which IMPARA's objective multiplies its likelihoods;
- `geceval_head_layer`: number of layers after which the quality head of a causal language model reads token states;
- `geceval_base`, `geceval_head_bias`: the language model below a checkpoint that is no more than such a head, and what
  is added to its answers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geceval.core.errors import InputTypeError
from geceval.core.files import ASSETS, expanded, file_sha256
from geceval.models.sources.named import NAMED, OVER_NAMED, Found, find, located
from geceval.models.sources.snapshots import WEIGHTS, CheckpointError, snapshot

BUNDLED = "bundled"

_SETTINGS = {
    "geceval_max_length": int,
    "geceval_threshold": (int, float),
    "geceval_se_model": str,
    "geceval_border": str,
    "geceval_base_sha256": str,
    "geceval_start_token": str,
    "geceval_scale": (int, float),
    "geceval_head_layer": int,
    "geceval_base": str,
    "geceval_head_bias": (int, float),
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


def _find(name: str, bundled: str, part: str) -> Found:
    """Where a checkpoint is, by the name of it that `resolve` takes."""
    word, _, revision = name.partition("@")
    if ".." in revision or revision.startswith("/"):  # it becomes part of a path in the local cache
        raise CheckpointError(f"{word}: {revision!r} is no revision; pass a branch, a tag or a commit")
    if word in NAMED:
        return find(word, revision or None)
    if is_bundled(name):
        asset = OVER_NAMED.get(name) or name.partition(":")[2] or bundled
        folder = ASSETS / asset
        if not asset.isidentifier() or not folder.is_dir():
            raise CheckpointError(
                f"no checkpoint {asset!r} is bundled with this geceval; pass a folder, a Hub id or one of: {_names()}"
            )
        return Found("bundled", folder, name)
    folder = expanded(name)
    with contextlib.suppress(OSError):  # e.g. a name that is too long for a file
        if name and folder.is_dir():
            return Found("folder", folder, name)
    if not _HUB_ID.fullmatch(word) or name.startswith("."):
        raise CheckpointError(
            f"{name or 'the empty name'}: no such folder; pass 'bundled', {_names()}, a folder that exists, or a Hub "
            f"id (ORG/NAME)"
        )
    folder = snapshot(word, revision or None, part)
    return Found("hub", folder, word, folder.name)


def _names() -> str:
    return ", ".join(map(repr, [*NAMED, *OVER_NAMED]))


def is_bundled(model: str) -> bool:
    """Whether this names a checkpoint that ships with geceval."""
    return model in OVER_NAMED or model.partition(":")[0] == BUNDLED


def _named_in(folder: Path, model: str) -> str:
    """A name in a checkpoint's file as `resolve` takes it: `./` and `../` are relative to the checkpoint's folder."""
    return str((folder.resolve() / model).resolve()) if model.startswith(("./", "../")) else model


def _describe(found: Found, part: str, above: tuple[Path, ...]) -> Checkpoint:
    """The checkpoint that was found, whose base is none of the folders `above`: adapters that lead to it."""
    folder = found.folder / part
    if not folder.is_dir():
        raise CheckpointError(
            f"{found.folder}: no sub-folder {part!r}, spelt so; is this the folder of such a checkpoint?"
        )
    config = {**found.settings, **read_json(folder, "config.json")}
    _check_settings(folder, config)
    if config.get("geceval_se_model"):
        config["geceval_se_model"] = _named_in(folder, config["geceval_se_model"])
    if not any((folder / weights).is_file() for weights in WEIGHTS):
        raise CheckpointError(f"{folder}: no weights; expected model.safetensors or adapter_model.safetensors")
    below = _base_name(folder, config)
    base = None if below is None else _base(folder, below, config, (*above, folder.resolve()))
    name = Path(found.name).name or found.name if found.where == "folder" else found.name
    name += f"/{part}" if part else ""
    digest = found.digest or _hash(folder, base)
    whole_digest = f"{digest}+{base.digest}" if base else digest
    return Checkpoint(found.name, folder, f"{name}@{digest[:7]}", base, config, whole_digest)


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
    """What a head or an adapter names as its base; `None` for a whole network."""
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
    if name in NAMED and config.get("geceval_base_sha256") == NAMED[name].sha256 and located(name) is None:
        raise CheckpointError(
            f"{folder}: this {kind} belongs to the weights of {name} in the package {NAMED[name].package}, which is "
            f"not installed, and {NAMED[name].variable} is not set: {NAMED[name].from_index}"
        )
    try:
        found = _find(_named_in(folder, name), "encoder", "")
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: the base of this {kind} cannot be found: {error}") from error
    if found.folder.resolve() in above:
        raise CheckpointError(f"{folder}: its base {name} is an adapter over this one; name the network they change")
    base = _describe(found, "", above)
    expected = config.get("geceval_base_sha256")
    digest = weights_sha256(base)
    if expected and expected != digest:
        fetch = NAMED[name].from_index if name in NAMED else "fetch the base it belongs to"
        raise CheckpointError(
            f"{folder}: this {kind} was trained over weights with SHA-256 {expected[:12]}..., but those of its base "
            f"{base.model!r} have {digest[:12]}...; train it again over this base, or get the other: {fetch}"
        )
    return base


def weights_sha256(checkpoint: Checkpoint) -> str:
    """SHA-256 of the weights by which an adapter knows its base, `"none"` if they are not one file."""
    # Those of a named model are its GGUF, so that the hash does not depend on how they are cached. An adapter has its
    # own, since it knows its base in turn.
    if checkpoint.model in NAMED:
        return NAMED[checkpoint.model].sha256
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
    """One hash of everything in the folder, and in that of its base, that can change a number."""
    kinds = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.jinja")
    files = sorted(path for kind in kinds for path in folder.glob(kind) if path.is_file())
    digest = hashlib.sha256(base.identity.encode() if base else b"")
    for path in files:
        if path.name not in ("trainer_state.json", "training_args.bin", "results.json"):
            digest.update(f"{path.name}\n{file_sha256(path)}\n".encode())
    return digest.hexdigest()
