"""Where a network comes from: bundled with geceval, a local folder, or the Hub; its files and its identity.

A checkpoint is a folder as transformers writes it (`config.json`, safetensors, a tokenizer), or a peft adapter over
another checkpoint: `adapter_config.json`, `adapter_model.safetensors` and the `config.json` of the whole network.
An adapter names its base in `base_model_name_or_path`, where `"bundled"` is the encoder that ships with geceval,
`"bundled:NAME"` any folder of `geceval/assets`, and a path that begins with `./` or `../` is relative to the adapter's
own folder (`geceval_se_model` likewise).

geceval's own settings live in `config.json`, all of them optional:

- `geceval_pooling`: `"first"` or `"mean"`, see `geceval.models.heads`;
- `geceval_threshold` and `geceval_se_model`: the threshold of IMPARA and the model of its similarity estimator;
- `geceval_max_length`: tokens, special ones included, beyond which a text is cut;
- `geceval_base_sha256`: SHA-256 of the `model.safetensors` that an adapter was trained on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geceval.core.assets import ASSETS
from geceval.core.cache.memory import lru_cache
from geceval.core.errors import InputError, InputTypeError

BUNDLED = "bundled"

_WEIGHTS = ("model.safetensors", "adapter_model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
_SETTINGS = {
    "geceval_max_length": int,
    "geceval_threshold": (int, float),
    "geceval_se_model": str,
    "geceval_base_sha256": str,
}
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


class CheckpointError(InputError):
    """A checkpoint that is missing, incomplete, damaged or of the wrong kind; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint whose files are on this machine.

    Attributes:
        model: What the caller asked for: `"bundled"`, a folder, a Hub id.
        folder: Where its files are.
        identity: `model@hash` for signatures; the hash is the Hub's commit, else the SHA-256 of the files that can
            change a number (configuration, weights, tokenizer), seven digits of either.
        base: The checkpoint that an adapter changes; `None` for a whole network.
        config: The content of `config.json`.
        digest: The hash in full, and, for an adapter, that of its base too: the key of values cached on disk.
    """

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
    """Find a checkpoint and name it, without loading its weights.

    Args:
        model: `"bundled"`, `"bundled:NAME"`, a local folder, or a Hub id, the latter optionally followed by
            `@revision`.
        bundled: The folder of `geceval/assets` that the word `"bundled"` alone stands for.
        part: Sub-folder in which the checkpoint lies, for those that are made of several networks.

    Raises:
        CheckpointError: If there is no such checkpoint or sub-folder, it cannot be fetched, or files are missing or
            damaged.
        TypeError: If `model` is neither a string nor a path.
    """
    if not isinstance(model, (str, os.PathLike)):
        raise InputTypeError(f"model must be 'bundled', a folder or a Hub id, got {type(model).__name__}")
    return _describe(*_find(os.fspath(model), bundled, part), part)


def _find(name: str, bundled: str, part: str) -> tuple[str, Path, str | None]:
    """The name of a checkpoint without its revision, its folder, and its commit if it is from the Hub."""
    if is_bundled(name):
        asset = name.partition(":")[2] or bundled
        folder = ASSETS / asset
        if not asset.isidentifier() or not folder.is_dir():
            raise CheckpointError(
                f"no checkpoint {asset!r} is bundled with this geceval; pass model=FOLDER or a Hub id"
            )
        return name, folder, None
    folder = Path(name).expanduser()
    with contextlib.suppress(OSError):  # e.g. a name that is too long for a file
        if folder.is_dir():
            return name, folder, None
    repository, _, revision = name.partition("@")
    if not _HUB_ID.fullmatch(repository) or name.startswith("."):
        raise CheckpointError(f"{name}: no such folder; pass 'bundled', a folder that exists, or a Hub id (ORG/NAME)")
    if ".." in revision or revision.startswith("/"):  # it becomes part of a path in the local cache
        raise CheckpointError(f"{repository}: {revision!r} is no revision; pass a branch, a tag or a commit")
    folder = _snapshot(repository, revision or None, part)
    return repository, folder, folder.name


def is_bundled(model: str) -> bool:
    """Whether this names a checkpoint that ships with geceval: `"bundled"` or `"bundled:NAME"`."""
    return model.partition(":")[0] == BUNDLED


def _named_in(folder: Path, model: str) -> str:
    """A name in a checkpoint's file as `resolve` takes it: `./` and `../` are relative to the checkpoint's folder."""
    return str((folder.resolve() / model).resolve()) if model.startswith(("./", "../")) else model


def _describe(model: str, whole: Path, commit: str | None, part: str) -> Checkpoint:
    folder = whole / part
    if not folder.is_dir():
        raise CheckpointError(f"{whole}: no sub-folder {part!r}, spelt so; is this the folder of such a checkpoint?")
    config = read_json(folder, "config.json")
    _check_settings(folder, config)
    if config.get("geceval_se_model"):
        config["geceval_se_model"] = _named_in(folder, config["geceval_se_model"])
    if not any((folder / weights).is_file() for weights in _WEIGHTS):
        raise CheckpointError(f"{folder}: no weights; expected model.safetensors or adapter_model.safetensors")
    base = None
    if (folder / "adapter_config.json").is_file():
        base = _base(folder, config)
    name = model if is_bundled(model) or commit else Path(model).name or model
    name += f"/{part}" if part else ""
    digest = commit or _hash(folder, base)
    whole_digest = f"{digest}+{base.digest}" if base else digest
    return Checkpoint(model, folder, f"{name}@{digest[:7]}", base, config, whole_digest)


def _check_settings(folder: Path, config: dict[str, Any]) -> None:
    for name, kind in _SETTINGS.items():
        value = config.get(name)
        if value is None or (kind is str and isinstance(value, str)):
            continue
        number = isinstance(value, kind) and kind is not str and not isinstance(value, bool)
        if not (number and math.isfinite(value) and (kind is not int or value > 0)):
            raise CheckpointError(f"{folder}: {name} in config.json cannot be {value!r}")


def _base(folder: Path, config: dict[str, Any]) -> Checkpoint:
    """The whole network that an adapter changes, on which it was trained."""
    name = read_json(folder, "adapter_config.json").get("base_model_name_or_path") or BUNDLED
    if not isinstance(name, str):
        raise CheckpointError(f"{folder}: base_model_name_or_path in adapter_config.json must be a text, got {name!r}")
    try:
        found = _find(_named_in(folder, name), "encoder", "")
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: the base of this adapter cannot be found: {error}") from error
    if (found[1] / "adapter_config.json").is_file():  # which may be this one
        raise CheckpointError(f"{folder}: its base {name} is an adapter itself; merge that one into its base first")
    base = _describe(*found, "")
    expected = config.get("geceval_base_sha256")
    weights = base.folder / "model.safetensors"
    digest = file_sha256(weights) if weights.is_file() else "none"
    if expected and expected != digest:
        raise CheckpointError(
            f"{folder}: this adapter was trained over weights with SHA-256 {expected[:12]}..., but those of its base "
            f"{base.model!r} have {digest[:12]}...; train it again over this base, or fetch the base it belongs to"
        )
    return base


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint's folder.

    Raises:
        CheckpointError: If the file is missing or holds no JSON object.
    """
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{folder}: {name} is missing; is this the folder of a checkpoint?")
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


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits; read again only if the file has changed."""
    return _sha256(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256(path: Path, modified: int) -> str:
    """SHA-256 of a file; `modified` only makes a changed file another entry of the cache."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def offline() -> bool:
    """Whether the user has forbidden calls to the Hub (`HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE`)."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").upper() in ("1", "TRUE", "YES", "ON") for name in names)


def http_error() -> type[Exception]:
    """The base of all errors of whichever HTTP library huggingface_hub uses."""
    from huggingface_hub.errors import HfHubHTTPError

    return [cls for cls in HfHubHTTPError.__mro__ if cls.__module__.startswith(("httpx", "requests"))][-1]


def _snapshot(repository: str, revision: str | None, part: str) -> Path:
    """The folder of a Hub repository in the local cache, fetched first if necessary; its name is the commit."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    def fetch(*patterns: str) -> Path:
        options = {"revision": revision, "local_files_only": offline(), "allow_patterns": list(patterns)}
        return Path(snapshot_download(repository, ignore_patterns=["onnx/*", "openvino/*", "checkpoint-*"], **options))

    try:
        folder = fetch("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
        if not any((folder / part / weights).is_file() for weights in _WEIGHTS):
            folder = fetch("*.json", "*.txt", "*.model", "*.jinja", "*.bin")
    except HFValidationError as error:
        raise CheckpointError(f"{repository}: neither a folder that exists nor a valid Hub id") from error
    except RevisionNotFoundError as error:
        raise CheckpointError(f"{repository}: the Hub has no revision {revision!r} of it") from error
    except RepositoryNotFoundError as error:
        raise CheckpointError(
            f"{repository}: neither a folder here nor a repository of the Hub that you may read (private ones need: "
            f"hf auth login)"
        ) from error
    except (OSError, http_error()) as error:  # OSError is what huggingface_hub raises without a network
        if getattr(getattr(error, "response", None), "status_code", None) == 401:
            raise CheckpointError(
                f"{repository}: the Hub does not accept your token, not even for public repositories; log in again "
                f"(hf auth login), or out (hf auth logout, unset HF_TOKEN)"
            ) from error
        why = "the Hub is switched off (HF_HUB_OFFLINE)" if offline() else "the Hub cannot be reached"
        at = f" --revision {revision}" if revision else ""
        raise CheckpointError(
            f"{repository}: not a folder here and not in the Hub's local cache, and {why}. Where there is a network, "
            f"run: hf download {repository}{at}  (then copy the cache, or pass a folder)"
        ) from error
    except ValueError as error:  # e.g. names of files that lead out of the folder
        raise CheckpointError(f"{repository}: cannot be fetched ({first_line(error)})") from error
    return folder


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Within the block transformers and peft show no bars, no reports and no notes about their own future."""
    from transformers.utils import logging as log

    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """The first line of an error's text, for a message of our own."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()  # torch sets some words in bold type
    return lines[0] if lines else type(error).__name__
